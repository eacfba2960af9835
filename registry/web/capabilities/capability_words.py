"""Plain words for definitions of capabilities: effects, safety and limits."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from registry.core.workflows import capability_safety as safety_words
from registry.core.workflows.capability import BUILTIN, HTTP, LLM, MCP, SKILL, Capability, Gate
from registry.core.workflows.plan import Approvers
from registry.core.workflows.values import Json, canonical
from registry.services.capabilities.capability_registry import BUILT_IN, OPERATOR, PROJECT

# A label, a tone and an icon for `badge`.
SOURCES = {
    PROJECT: ("This project", "line", "home"),
    OPERATOR: ("Operator", "line", "settings"),
    BUILT_IN: ("Built-in", "line", "book"),
}
_KINDS = {
    BUILTIN: "Runs in the worker",
    HTTP: "Calls an HTTP address",
    MCP: "Calls a tool of an MCP server",
    LLM: "Asks a language model",
    SKILL: "Runs the workflow of a skill",
}
_GROUPS = {
    "text": "Text", "hash": "Text", "data": "Data", "number": "Numbers", "compare": "Comparisons", "date": "Dates",
    "json": "JSON and CSV", "csv": "JSON and CSV", "control": "Control", "human": "People", "security": "Gates",
    "policy": "Gates",
}  # fmt: skip
_BEFORE = {
    "block": "the call is blocked and the step fails",
    "warn": "the run goes on with a warning",
    "degrade": "the call is left out and the run goes on",
    "require_human": "a person has to approve the call",
}
_AFTER = {
    "block": "the step fails",
    "warn": "the run goes on with a warning",
    "degrade": "the output is withheld and the run goes on",
    "require_human": "a person has to release the output",
}
_CLASSES = {
    "public": "public data",
    "internal": "internal data",
    "pii": "personal data",
    "confidential": "confidential data, which stays in the network of the operator",
    "restricted": "restricted data, which never leaves the worker",
}
_TARGETS = {
    safety_words.INTERNAL_ONLY: "the network of the operator",
    safety_words.SAME_TENANT: "this site",
    safety_words.APPROVED_CONNECTORS: "what the operator approved",
}
_CONSTRAINTS = {
    safety_words.READ_ONLY: "It only reads.",
    safety_words.NO_EXTERNAL_NETWORK: "It uses no network.",
    safety_words.SANDBOXED: "It runs in the worker alone.",
    safety_words.NO_CREDENTIALS: "It sends no secret.",
}


class Sentence(NamedTuple):
    """A sentence about safety with an icon. Text between backticks is code."""

    icon: str
    text: str


def group(capability_id: str) -> str:
    """Return the heading for a built-in capability."""
    return _GROUPS.get(capability_id.partition(".")[0], "Others")


def kind(capability: Capability) -> str:
    return _KINDS[capability.kind]


def effect(capability: Capability) -> str:
    """Return a few words about the effect of a call, for lists."""
    return "Changes something" if capability.properties.side_effects else "Changes nothing"


def facts(capability: Capability) -> list[str]:
    """Return the facts of a row: the effect, and the safety that is not the default.

    A function that only computes has none, so that the rows with effects stand out.
    """
    safety = capability.safety
    gates = len(safety.pre_gates) + len(safety.post_gates)
    found = [kind(capability) + (f": {capability.target}" if capability.target else ""), effect(capability)]
    if safety.requires_confirmation:
        found.append("needs a confirmation")
    if gates:
        found.append("1 gate" if gates == 1 else f"{gates} gates")
    if safety.trust_level != "standard":
        found.append(f"{safety.trust_level} trust")
    return found if len(found) > 2 or capability.kind != BUILTIN or capability.properties.side_effects else []


def sentences(capability: Capability) -> list[Sentence]:
    """Return what protects a call, in the order in which it is checked."""
    safety = capability.safety
    return [
        *_effects(capability),
        Sentence("lock", f"A run needs the trust level {safety.trust_level} or higher."),
        *_confirmation(capability),
        *(Sentence("eye", _gate(gate, "Before", _BEFORE)) for gate in safety.pre_gates),
        *(Sentence("eye", _gate(gate, "After", _AFTER)) for gate in safety.post_gates),
        *_limits(capability),
    ]


def _effects(capability: Capability) -> Iterator[Sentence]:
    properties, safety = capability.properties, capability.safety
    if not properties.side_effects:
        yield Sentence("check", "A call changes nothing outside of the run.")
    elif properties.idempotent:
        yield Sentence("warning", "A call changes something. Repeating it does no harm.")
    else:
        text = "A call changes something. If it is cut off, a person says whether it happened before it is repeated."
        yield Sentence("warning", text)
    if properties.deterministic:
        yield Sentence("repeat", "The same input always gives the same output.")
    if safety.reversible is not None and properties.side_effects:
        yield Sentence("undo", f"Its effect {'can' if safety.reversible else 'cannot'} be undone.")


def _confirmation(capability: Capability) -> Iterator[Sentence]:
    safety = capability.safety
    asks = any(gate.on_fail == "require_human" for gate in (*safety.pre_gates, *safety.post_gates))
    if safety.requires_confirmation:
        yield Sentence("person", f"{_people(safety.approvers)} approve each call with exactly its input.")
    elif asks or safety.approvers:
        yield Sentence("person", f"{_people(safety.approvers)} answer if a gate or a cut-off call needs a decision.")


def _people(approvers: Approvers | None) -> str:
    found = approvers or Approvers()
    named = [*(f"`{name}`" for name in found.people), *(f"{role}s" for role in found.roles)] or ["reviewers"]
    if found.count > 1 and len(named) == 1 and not found.people:
        return f"{found.count} {named[0]}"
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"
    return f"{found.count} of {listed}" if found.count > 1 else f"{listed[0].upper()}{listed[1:]}"


def _gate(gate: Gate, when: str, effects: Mapping[str, str]) -> str:
    subject = "output" if when == "After" else "input"
    if gate.input is None:
        checked = f"the {subject}"
    else:
        parts = [f"`{name}` = `{_value(value)}`" for name, value in gate.input.items()]
        checked = ", ".join(parts[:3]) or "nothing of the call"
    return f"{when} the call, `{gate.capability}` checks {checked}. If it objects, {effects[gate.on_fail]}."


def _value(value: Json) -> str:
    text = (value if isinstance(value, str) else canonical(value)).replace("`", "'")
    return text if len(text) <= 60 else f"{text[:59]}…"


def _limits(capability: Capability) -> Iterator[Sentence]:
    safety = capability.safety
    if safety.data_classification:
        yield Sentence("tag", f"It handles {_CLASSES[safety.data_classification]}.")
    if safety.allowed_targets:
        targets = " or ".join(_TARGETS[name] for name in safety.allowed_targets)
        yield Sentence("globe", f"It reaches only {targets}.")
    for name in safety.scope_constraints:
        yield Sentence("lock", _CONSTRAINTS[name])


def example(capability: Capability) -> str:
    """Return a step that uses a capability, with all its required inputs, as YAML."""
    step_id = capability.id.rpartition(".")[2][:40]
    lines = [f"- id: {step_id}", f"  uses: {capability.id}"]
    needed = [field for field in capability.inputs.values() if field.required and not field.has_default]
    if needed:
        lines += ["  input:", *(f"    {field.name}: inputs.{field.name}" for field in needed)]
    if capability.outputs and not capability.hints.produces:
        first = next(iter(capability.outputs))
        lines += ["  output:", f"    {first}: vars.{first}"]
    return "\n".join(lines) + "\n"
