"""An index together with the skills of one view: what a question is compared with."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from registry.core.catalog.precedence import Candidate
from registry.core.routing.analysis import Analysed
from registry.core.routing.index import Index
from registry.core.routing.link import Rows
from registry.core.routing.vectors import Encoder
from registry.services.catalog.catalog import View
from registry.services.routing.index_build import Built

_ABSENT_SHARE = 0.1


class ProjectIndex:
    """An index with the skills of one view. Only skills in `candidates` may be named.

    `missing` is the number of served skills that the index does not contain yet with their whole text, in this
    version. `absent` are those of them that it does not contain at all.
    """

    def __init__(
        self,
        view: View,
        index: Index,
        encoder: Encoder | None,
        candidates: Mapping[str, Candidate],
        missing: int = 0,
        absent: int = 0,
    ) -> None:
        self.view, self.index, self.encoder = view, index, encoder
        self.candidates, self.missing, self.absent = candidates, missing, absent
        self._rows_by_kind: dict[str, Rows] = {}

    @classmethod
    def of_view(cls, view: View, built: Built, encoder: Encoder | None) -> "ProjectIndex":
        served = view.served
        whole = {c.name: c for c in served if built.whole.get(c.name) == c.digest}
        headers = {c.name: c for c in served if c.name not in whole and built.headers.get(c.name) == c.digest}
        missing = len(served) - len(whole)
        return cls(view, built.index, encoder, {**whole, **headers}, missing, missing - len(headers))

    @property
    def gap(self) -> tuple[int, int]:
        """Two numbers of which one gets smaller with each step of a build."""
        return self.missing, self.absent

    @property
    def half_built(self) -> bool:
        """True if so many skills are absent that an answer would mislead."""
        return self.absent > _ABSENT_SHARE * (self.absent + len(self.candidates))

    @property
    def progress(self) -> str:
        """A sentence about an index that is not complete, or an empty text."""
        if not self.missing:
            return ""
        total, headers = self.absent + len(self.candidates), self.missing - self.absent
        alone = f", and {headers:,} more without their text" if headers else ""
        return f"The index is being built: {total - self.missing:,} of {total:,} skills are in it{alone}."

    def changed(
        self, candidates: Sequence[Candidate], skills: Sequence[Analysed], gone: Sequence[str]
    ) -> "ProjectIndex":
        """Return the index as if some skills were added, replaced or removed."""
        kept = {name: candidate for name, candidate in self.candidates.items() if name not in gone}
        added = {candidate.name: candidate for candidate in candidates}
        index = self.index.updated(skills, gone)
        return ProjectIndex(self.view, index, self.encoder, {**kept, **added}, self.missing, self.absent)

    def rows_for(self, allowed: frozenset[str] | None, kind: str = "") -> Rows:
        """Return the rows that a caller may see, in rising order."""
        if allowed is None:
            if kind not in self._rows_by_kind:
                self._rows_by_kind[kind] = self._rows(self.candidates, kind)
            return self._rows_by_kind[kind]
        return self._rows(self.candidates.keys() & allowed, kind)

    def _rows(self, names: Iterable[str], kind: str) -> Rows:
        row_of, candidates = self.index.row_of, self.candidates
        rows = [row_of[name] for name in names if not kind or candidates[name].kind == kind]
        return np.sort(np.array(rows, dtype=np.intp))
