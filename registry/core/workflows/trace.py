"""The trace of a run: what each step read and wrote, and from which steps a value comes."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from registry.core.workflows.outputs import Write
from registry.core.workflows.plan import OVERWRITE, REPLACE
from registry.core.workflows.references import Path, parse
from registry.core.workflows.values import Json

OUTPUTS = "outputs"  # of a nested skill, which are what its step produces
_SUFFIXES = re.compile(r"(?:\[\d+\]|#\d+|@[^/@#\[]*)+\Z")  # of an item, an iteration or a scatter member


@dataclass(frozen=True, slots=True)
class TraceWrite:
    """A write without its value."""

    target: str
    strategy: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One call of a step, in the order in which the results were recorded.

    `reads` are references. `read_after` is the number of steps that were recorded before the call read its input; None
    means all the steps before it. Times are texts, because they are shown and never compared.
    """

    path: str
    capability: str
    state: str
    reads: tuple[str, ...] = ()
    writes: tuple[TraceWrite, ...] = ()
    read_after: int | None = None
    attempts: int = 1
    started_at: str = ""
    ended_at: str = ""
    latency_ms: int | None = None

    @property
    def scope(self) -> str:
        """Return the path of the nested skill that the step belongs to, empty for the skill of the run."""
        return self.path.rpartition("/")[0]

    def as_json(self) -> dict[str, Json]:
        return _with_lists(asdict(self))


@dataclass(frozen=True, slots=True)
class Contribution:
    """A step that contributed to a target: its writes that reached the target, and everything that it read."""

    path: str
    capability: str
    reads: tuple[str, ...]
    writes: tuple[TraceWrite, ...]

    def as_json(self) -> dict[str, Json]:
        return _with_lists(asdict(self))


def traced(writes: Iterable[Write]) -> tuple[TraceWrite, ...]:
    """Return the writes of a step as its trace keeps them."""
    return tuple(TraceWrite(write.target, write.strategy, write.source) for write in writes)


def lineage(trace: Sequence[TraceStep], target: str, scope: str = "") -> tuple[Contribution, ...]:
    """Return the steps that contributed to a target, directly or through what they read, in recorded order.

    A write to a target, to a part of it, or to something around it contributes. A step that replaces a whole target
    ends the search for earlier writers of it. `scope` is the path of the nested skill that the target belongs to. The
    steps of a nested skill contribute to what it produced. The cost grows with the reads and writes, not their pairs.
    """
    wanted, found, nested = _Wanted(), [], _nested_scopes(trace)
    pending: dict[int, set[Path]] = defaultdict(set)  # by the number of steps that were recorded before the read
    pending[len(trace)].add(_path(scope, target))
    for position in range(len(trace), 0, -1):
        wanted.add(pending.pop(position, ()))
        step = trace[position - 1]
        writes = tuple(write for write in step.writes if wanted.overlaps(_path(step.scope, write.target)))
        if not writes:
            continue
        found.append(Contribution(step.path, step.capability, step.reads, writes))
        for write in writes:
            if write.strategy in (OVERWRITE, REPLACE):
                wanted.discard_within(_path(step.scope, write.target))
            pending[position - 1].update(
                (inner, OUTPUTS, *filter(None, write.source.split("."))) for inner in nested.get(step.path, ())
            )
        before = position - 1 if step.read_after is None else min(step.read_after, position - 1)
        pending[before].update(_path(step.scope, reference) for reference in step.reads)
    return tuple(reversed(found))


def _nested_scopes(trace: Iterable[TraceStep]) -> Mapping[str, set[str]]:
    """Return the scopes that a step opened, by its path: its own, and those of its items, iterations and members."""
    scopes: dict[str, set[str]] = defaultdict(set)
    for scope in {step.scope for step in trace if step.scope}:
        scopes[scope].add(scope)
        scopes[_SUFFIXES.sub("", scope)].add(scope)
    return scopes


class _Wanted:
    """Paths whose writers are searched, in a tree of their parts."""

    def __init__(self) -> None:
        self._paths: set[Path] = set()
        self._below: dict[Path, set[Path]] = defaultdict(set)  # of each path, the wanted ones at or below it

    def add(self, paths: Iterable[Path]) -> None:
        for path in paths:
            self._paths.add(path)
            for length in range(1, len(path) + 1):
                self._below[path[:length]].add(path)

    def overlaps(self, path: Path) -> bool:
        """Return whether a wanted path is this one, above it or below it."""
        return bool(self._below.get(path)) or any(path[:length] in self._paths for length in range(1, len(path)))

    def discard_within(self, path: Path) -> None:
        """Forget the wanted paths at or below this one, because a write has set all of it."""
        for wanted in tuple(self._below.get(path, ())):
            self._paths.discard(wanted)
            for length in range(1, len(wanted) + 1):
                self._below[wanted[:length]].discard(wanted)


def _path(scope: str, reference: str) -> Path:
    """Return the path of a reference below its scope. Other text, such as a local name, is never written."""
    return (scope, *(parse(reference) or (reference,)))


def _with_lists(value: dict[str, Json]) -> dict[str, Json]:
    """Return an object with lists for tuples, as JSON has them."""
    return {key: list(item) if isinstance(item, tuple) else item for key, item in value.items()}
