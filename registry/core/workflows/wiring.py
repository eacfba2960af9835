"""Wiring of a plan: which steps come before a step, and which values they write."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from registry.core.workflows import references
from registry.core.workflows.capability import Capability
from registry.core.workflows.plan import OVERWRITE, REPLACE, SKILL_PREFIX, Plan, Step
from registry.core.workflows.references import LITERAL, Path
from registry.core.workflows.values import ARRAY, INTEGER, NUMBER, OBJECT, Json, type_of

_MOST_PREFIXES = 8  # of a path that are looked up; a deeper path is checked up to there


@dataclass(slots=True)
class Wiring:
    """Sets of steps are the bits of a number, in the order of the file.

    `capabilities` has the known ones by their ids and aliases, and is None if they are unknown.
    """

    plan: Plan
    capabilities: Mapping[str, Capability] | None
    before: list[int] = field(default_factory=list)  # of each step, all steps that it waits for
    guessed: int = 0  # steps that may write anything, because their capabilities are unknown
    _exact: dict[Path, int] = field(default_factory=dict)
    _around: dict[Path, int] = field(default_factory=dict)
    _types: dict[Path, set[str]] = field(default_factory=dict)  # "" is an unknown one

    def __post_init__(self) -> None:
        self.before = _before(self.plan)
        for number, step in enumerate(self.plan.steps):
            if step.output is None and any(self.is_unknown(name) for name in step.used):
                self.guessed |= 1 << number
            for produced, target in self.outputs(step):
                path = references.parse(target)
                if path:
                    self._write(number, step, produced, path)

    def _write(self, number: int, step: Step, produced: str, path: Path) -> None:
        path = path[:_MOST_PREFIXES]
        self._exact[path] = self._exact.get(path, 0) | 1 << number
        for length in range(1, len(path) + 1):
            self._around[path[:length]] = self._around.get(path[:length], 0) | 1 << number
        replaced = step.merge_strategy in (OVERWRITE, REPLACE)
        self._types.setdefault(path, set()).add(self.produced_type(step, produced) if replaced else "")

    def known(self, name: str) -> Capability | None:
        return self.capabilities.get(name) if self.capabilities is not None else None

    def is_unknown(self, name: str) -> bool:
        return not name.startswith(SKILL_PREFIX) and self.known(name) is None

    def outputs(self, step: Step) -> Iterator[tuple[str, str]]:
        """Yield the produced fields of a step with their targets, without the slots that cognitive types imply."""
        if step.output is not None:
            yield from step.output.items()
            return
        for name in step.used:
            capability = self.known(name)
            for produced, hint in capability.hints.produces.items() if capability else ():
                if hint.target:
                    yield produced, hint.target

    def writers(self, path: Path) -> int:
        """Return the steps that write a value at, above or below a path."""
        path = path[:_MOST_PREFIXES]
        found = self._around.get(path, 0)
        for length in range(2, len(path)):
            found |= self._exact.get(path[:length], 0)
        return found

    def names(self, namespace: str) -> list[str]:
        """Return the names that steps write right below a namespace."""
        return sorted({path[1] for path in self._exact if path[0] == namespace and len(path) > 1})

    def produced_type(self, step: Step, produced: str) -> str:
        """Return the type of a produced field, empty if it is unknown or not always the same."""
        if step.scatter:
            return ""
        capabilities = [self.known(name) for name in step.used]
        found = {each.outputs[produced].type if each and produced in each.outputs else "" for each in capabilities} or {
            ""
        }
        type_ = found.pop() if len(found) == 1 else ""
        return ARRAY if step.foreach and type_ else type_

    def type_at(self, path: Path, step: Step) -> str:
        """Return the type of the value that a step reads at a path, empty if it is unknown."""
        if path[0] in local_names(step):
            return INTEGER if step.foreach and path == (step.foreach.index_as,) else ""
        if path[0] == "inputs":
            declared = self.plan.inputs.get(path[1]) if len(path) == 2 else None
            return declared.type if declared else ""
        if path[0] == "working":
            return "" if len(path) != 2 else OBJECT if path[1] == "artifacts" else ARRAY
        types = self._types.get(path, {""})
        alone = self._around.get(path, 0) == self._exact.get(path, 0) and self.writers(path) == self._exact.get(path)
        return next(iter(types)) if len(types) == 1 and alone else ""

    def type_of(self, value: Json, step: Step) -> str:
        """Return the type of an input of a step, empty if it is unknown."""
        if isinstance(value, dict) and value.keys() == {LITERAL}:
            return type_of(value[LITERAL])
        path = references.parse(value, local_names(step)) if isinstance(value, str) else None
        return self.type_at(path, step) if path else type_of(value)


def local_names(step: Step) -> Collection[str]:
    return (step.foreach.as_, step.foreach.index_as) if step.foreach else ()


def compatible(given: str, wanted: str) -> bool:
    """Return whether a value of one type may fit another. An unknown type may fit any, and every type fits ANY."""
    return not given or not wanted or given in (wanted, "null") or {given, wanted} == {INTEGER, NUMBER}


def _before(plan: Plan) -> list[int]:
    numbers = {step.id: at for at, step in enumerate(plan.steps)}
    found = [0] * len(plan.steps)
    for id_ in plan.order:
        at = numbers[id_]
        for name in plan.steps[at].depends_on:
            found[at] |= found[numbers[name]] | 1 << numbers[name]
    return found
