"""One step of building an index: some time of work on the skills that it does not contain yet.

Stored analyses are added first, because they are cheap to read. If many skills have none, their names and descriptions
follow, which take a quarter of the time of the whole text, so that every skill can be found early. Their text is last.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from registry.core.catalog.precedence import Candidate
from registry.core.routing.analysis import Analysed
from registry.core.routing.index import Index
from registry.core.routing.vectors import Encoder
from registry.services.catalog.catalog import View
from registry.services.routing import analysed_skills

Analyse = Callable[[int, Sequence[Candidate], Encoder | None], Mapping[str, Analysed]]

FEW = 32  # skills that are analysed between two looks at the clock, and that a step adds in any case
_READ = 256  # stored analyses that are read between two looks at the clock
JOINED = 2_048  # skills that are added to an index at once; with all of them, a build would need much more memory


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """An index, with the digests of the skills in it: those with their whole text, and those without it."""

    index: Index = field(default_factory=lambda: Index.of([]))
    whole: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class Build:
    """One step from an index towards a view, for some time. `result` is valid even if `run` raised an error."""

    def __init__(self, built: Built, view: View, *, deadline: float) -> None:
        self._index = built.index
        self._whole: dict[str, str] = {}
        self._headers: dict[str, str] = {}
        self._missing: dict[str, Candidate] = {}  # that are not in the index with their whole text
        for each in view.served:
            if built.whole.get(each.name) == each.digest:
                self._whole[each.name] = each.digest
                continue
            self._missing[each.name] = each
            if built.headers.get(each.name) == each.digest:
                self._headers[each.name] = each.digest
        # A skill that is not ready in its new version is removed, because the words of the old one are no longer true.
        self._removed = {name for name in (*built.whole, *built.headers) if not self._is_in_index(name)}
        self._ready: dict[str, Analysed] = {}
        self.added = 0  # skills, with or without their text
        self._deadline = deadline
        self._worked = False

    def run(
        self,
        project_id: int,
        encoder: Encoder | None,
        analyse: Analyse = analysed_skills.of,
        *,
        headers_first: bool = True,
    ) -> None:
        """Add skills until the time is over, but at least a few.

        A step that added many without their text ends there, so that requests can use them. Without `headers_first`
        nobody waits for these, and the whole index is ready sooner.
        """
        for batch in _batches(self._absent(), _READ):
            self._add(analysed_skills.stored(batch, encoder), whole=True)
            if self._late:
                break
        if headers_first and (absent := self._absent()) and len(self._missing) > FEW:
            for batch in self._while_in_time(absent):
                self._add({each.name: analysed_skills.of_header(each, encoder) for each in batch}, whole=False)
            return
        for batch in self._while_in_time(_from_own_place(list(self._missing.values()))):
            self._add(analyse(project_id, batch, encoder), whole=True)

    def result(self) -> Built:
        if self._ready or self._removed:
            self._join()
        return Built(self._index, self._whole, self._headers)

    @property
    def _late(self) -> bool:
        return time.monotonic() >= self._deadline

    def _is_in_index(self, name: str) -> bool:
        return name in self._whole or name in self._headers

    def _absent(self) -> list[Candidate]:
        return [each for name, each in self._missing.items() if name not in self._headers]

    def _while_in_time(self, candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
        """Yield batches until the time is over, and at least one in the whole step."""
        for batch in _batches(candidates, FEW):
            if self._worked and self._late:
                return
            self._worked = True
            yield batch

    def _add(self, skills: Mapping[str, Analysed], *, whole: bool) -> None:
        digests = {name: self._missing[name].digest for name in skills}
        self._ready.update(skills)
        self.added += len(skills)
        if whole:
            self._whole |= digests
            for name in digests:
                self._headers.pop(name, None)
                del self._missing[name]
        else:
            self._headers |= digests
        if len(self._ready) >= JOINED:
            self._join()

    def _join(self) -> None:
        self._index = self._index.updated(self._ready.values(), self._removed)
        self._ready, self._removed = {}, set()


def _batches(candidates: Sequence[Candidate], size: int) -> Iterator[Sequence[Candidate]]:
    return (candidates[start : start + size] for start in range(0, len(candidates), size))


def _from_own_place(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates in an order of this process: of several that start at once, each stores another part."""
    start = os.getpid() * 7_919 % len(candidates) if len(candidates) > FEW else 0
    return candidates[start:] + candidates[:start]
