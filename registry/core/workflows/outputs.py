"""Outputs of steps: what a step writes into the state, and where."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from registry.core.text.shorten import one_line, shorten
from registry.core.workflows.capability import Hints, Produced
from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.plan import APPEND, REPLACE, Step
from registry.core.workflows.references import MOST_CHARACTERS
from registry.core.workflows.values import Json, type_of

LIST, SINGLE, KEYED = "list", "single", "keyed"
_SHOWN_FIELDS, _SHOWN_CHARACTERS = 20, 80


@dataclass(frozen=True, slots=True)
class Write:
    """A value for a target such as `working.risks`. `strategy` is one of plan.STRATEGIES.

    With `again`, a step may overwrite its own target, as the iterations of a while loop do. `source` is the produced
    field that the value comes from.
    """

    target: str
    value: Json
    strategy: str
    again: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class CognitiveType:
    """The slot for values of a type. Its cardinality is the merge rule.

    A list slot appends: a list is concatenated, and any other value is one element. A single slot keeps the last value.
    A keyed slot has one key for each field, and each key keeps its last value.
    """

    slot: str
    cardinality: str

    def target(self, field: str) -> str:
        return f"{self.slot}.{field}" if self.cardinality == KEYED else self.slot


# A Context would belong into frame.context, but the frame is frozen: it is what the person who started the run said.
COGNITIVE_TYPES: Mapping[str, CognitiveType] = {
    "Artifact": CognitiveType("working.artifacts", KEYED),
    "Context": CognitiveType("extensions.context", SINGLE),
    "Criterion": CognitiveType("working.criteria", LIST),
    "Decision": CognitiveType("working.intermediate_decisions", LIST),
    "Entity": CognitiveType("working.entities", LIST),
    "Evidence": CognitiveType("working.evidence", LIST),
    "Hypothesis": CognitiveType("working.hypotheses", LIST),
    "Message": CognitiveType("working.messages", LIST),
    "Option": CognitiveType("working.options", LIST),
    "Plan": CognitiveType("working.artifacts", KEYED),
    "Risk": CognitiveType("working.risks", LIST),
    "Score": CognitiveType("working.artifacts", KEYED),
    "Summary": CognitiveType("output.summary", SINGLE),
    "Tradeoff": CognitiveType("working.artifacts", KEYED),
    "Uncertainty": CognitiveType("working.uncertainties", LIST),
}


def writes_of(step: Step, produced: Json, hints: Hints, *, again: bool = False) -> tuple[Write, ...]:
    """Return what a step writes. Without `output` in the file, the hints of its capability decide.

    Raise StepFailed if the step did not produce what its `output` names.
    """
    if not isinstance(produced, dict):
        raise StepFailed(
            Code.OUTPUT, f"Step “{step.id}” produced a value of type {type_of(produced)}. It must produce an object."
        )
    if step.output is None:
        return tuple(_wired(step, produced, hints, again=again))
    return tuple(
        Write(target, _picked(step, produced, field), step.merge_strategy, again, field)
        for field, target in step.output.items()
    )


def targets_of(step: Step, hints: Hints) -> tuple[str, ...]:
    """Return the targets of a step before it has run, each once."""
    return tuple(dict.fromkeys(target for _, target, _ in declared(step, hints)))


def declared(step: Step, hints: Hints) -> Iterator[tuple[str, str, str]]:
    """Yield the produced field, the target and the strategy of each write that a step may make."""
    if step.output is not None:
        yield from ((field, target, step.merge_strategy) for field, target in step.output.items())
        return
    for field, hint in hints.produces.items():
        if target := _target(field, hint):
            yield field, target, APPEND if _is_list(hint) else REPLACE


def _is_list(hint: Produced) -> bool:
    known = COGNITIVE_TYPES.get(hint.type)
    return known is not None and known.cardinality == LIST


def _target(field: str, hint: Produced) -> str:
    """Return the target of a field, empty if it has none."""
    known = COGNITIVE_TYPES.get(hint.type)
    return hint.target or (known.target(field) if known else "")


def _wired(step: Step, produced: dict[str, Json], hints: Hints, *, again: bool) -> Iterator[Write]:
    """Yield a write for each hinted field that the step produced. `merge_strategy` does not matter here."""
    for field, hint in hints.produces.items():
        if field not in produced:
            continue
        target = _target(field, hint)
        if not target:
            raise StepFailed(
                Code.CAPABILITY,
                f"The field “{field}” of the capability of step “{step.id}” has the unknown type “{hint.type}” and no "
                f"target. The types are {', '.join(COGNITIVE_TYPES)}.",
            )
        if _is_list(hint):
            # Each item of a foreach produced a value of its own.
            values = produced[field] if step.foreach and isinstance(produced[field], list) else [produced[field]]
            elements = [element for value in values for element in _elements(value)]
            yield Write(target, elements, APPEND, again, field)
        else:
            yield Write(target, produced[field], REPLACE, again, field)


def _elements(value: Json) -> list[Json]:
    """Return what a value adds to a list slot. Null adds nothing."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _picked(step: Step, produced: dict[str, Json], field: str) -> Json:
    """Return the value at a dotted path.

    Keys may contain dots themselves, as the ids of scattered capabilities do. The longest key that is there is taken.
    """
    value: Json = produced
    parts = field.split(".")
    while parts:
        used = _longest(value, parts) if len(field) <= MOST_CHARACTERS else 0
        if not used:
            there = ", ".join(_fields(value)) or "nothing"
            name = shorten(one_line(field), _SHOWN_CHARACTERS)
            raise StepFailed(Code.OUTPUT, f"Step “{step.id}” did not produce “{name}”. It produced: {there}.")
        value = value[int(parts[0])] if isinstance(value, list) else value[".".join(parts[:used])]
        parts = parts[used:]
    return value


def _longest(value: Json, parts: list[str]) -> int:
    """Return how many of the parts form a key or an index of a value, 0 if none does."""
    if isinstance(value, list):
        index = parts[0]
        return 1 if index.isascii() and index.isdigit() and int(index) < len(value) else 0
    if not isinstance(value, dict):
        return 0
    return next((used for used in range(len(parts), 0, -1) if ".".join(parts[:used]) in value), 0)


def _fields(value: Json) -> list[str]:
    if isinstance(value, dict):
        names = [shorten(one_line(name), _SHOWN_CHARACTERS) for name in islice(value, _SHOWN_FIELDS)]
        return [*names, "…"] if len(value) > _SHOWN_FIELDS else names
    if isinstance(value, list):
        return [f"a list of {len(value):,}"]
    return [f"a value of type {type_of(value)}"]
