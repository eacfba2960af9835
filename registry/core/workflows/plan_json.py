"""Plans as JSON, for the lock of a run. A run keeps its plan, whatever the parser of a later release accepts."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from registry.core.workflows.capability import Hints, Produced
from registry.core.workflows.plan import Approvers, Foreach, Plan, Retry, Router, Scatter, Step, While
from registry.core.workflows.values import Field, Json

_PARTS: Mapping[str, type[Any]] = {
    "retry": Retry,
    "foreach": Foreach,
    "while_": While,
    "router": Router,
    "scatter": Scatter,
    "approvers": Approvers,
}


def plan_as_json(plan: Plan) -> Json:
    return {
        **asdict(plan),
        "inputs": [asdict(field) for field in plan.inputs.values()],
        "outputs": [asdict(field) for field in plan.outputs.values()],
        "steps": [_set_values(step) for step in plan.steps],
    }


def read_plan(document: Mapping[str, Any]) -> Plan:
    known = {field.name: document[field.name] for field in fields(Plan) if field.name in document}
    return Plan(
        **{
            **known,
            "inputs": _fields(document["inputs"]),
            "outputs": _fields(document["outputs"]),
            "steps": tuple(_step(step) for step in document["steps"]),
            "order": tuple(document["order"]),
        }
    )


def hints_as_json(hints: Hints) -> Json:
    return {name: {"type": made.type, "target": made.target} for name, made in hints.produces.items()}


def read_hints(document: Mapping[str, Any]) -> Hints:
    return Hints(produces={name: Produced(made["type"], made["target"]) for name, made in document.items()})


def _set_values(step: Step) -> Json:
    """Return the values of a step that differ from the defaults."""
    defaults = asdict(Step("", ""))
    return {name: value for name, value in asdict(step).items() if name in ("id", "uses") or value != defaults[name]}


def _step(document: Mapping[str, Any]) -> Step:
    known = {field.name for field in fields(Step)}
    values = {name: _part(name, value) for name, value in document.items() if name in known}
    return Step(**values)


def _part(name: str, value: Any) -> Any:
    if name == "depends_on":
        return tuple(value)
    if value is None or name not in _PARTS:
        return value
    return _PARTS[name](**{key: tuple(item) if isinstance(item, list) else item for key, item in value.items()})


def _fields(documents: list[dict[str, Any]]) -> dict[str, Field]:
    return {document["name"]: Field(**document) for document in documents}
