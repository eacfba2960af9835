"""Capabilities that extend another one. They inherit everything, and may only make it stricter."""

from collections.abc import Iterator
from dataclasses import replace

from registry.core import roles
from registry.core.workflows import capability_safety
from registry.core.workflows.capability import Capability, Gate, Properties, Safety
from registry.core.workflows.capability_yaml import Draft
from registry.core.workflows.plan import Approvers
from registry.core.workflows.problems import Problems
from registry.core.workflows.values import Field, Fields

EXTENDS, WEAKER = "capability-extends", "capability-weaker"
MOST_DEPTH = 5

Path = tuple[str | int, ...]


def merged(draft: Draft, base: Capability, problems: Problems) -> Capability:
    """Return a draft with everything that it inherits. What would weaken the base is a problem."""
    own = draft.capability
    return replace(
        own,
        description=own.description or base.description,
        inputs=_fields(own.inputs, base.inputs, "inputs", problems),
        outputs=_fields(own.outputs, base.outputs, "outputs", problems),
        binding=own.binding or base.binding,
        safety=_safety(draft, base, problems),
        properties=_properties(draft, base, problems),
        hints=own.hints if draft.says("cognitive_hints") else base.hints,
        has_safety=own.has_safety or base.has_safety,
    )


def _weaker(problems: Problems, path: Path, message: str, fix: str) -> None:
    problems.add(WEAKER, path, f"{message} A capability that extends another one can only be stricter.", fix)


def _fields(own: Fields, base: Fields, key: str, problems: Problems) -> Fields:
    for name, field in own.items():
        inherited = base.get(name)
        if inherited is None:
            continue
        if inherited.type and field.type != inherited.type:
            message = f"`{name}` is of the type {field.type}, but {inherited.type} in the extended capability."
            problems.add(EXTENDS, (key, name, "type"), message, f"Write `type: {inherited.type}`, or remove the field.")
        if inherited.required and not field.required and not (field.has_default and key == "inputs"):
            message = f"`{name}` is required in the extended capability."
            _weaker(problems, (key, name), message, "Write `required: true`, or remove the field.")
        elif inherited.required and field.has_default:
            message = f"`{name}` is required in the extended capability, so it cannot have a default."
            _weaker(problems, (key, name, "default"), message, "Remove the default, and write `required: true`.")
    return {**base, **{name: _described(field, base.get(name)) for name, field in own.items()}}


def _described(field: Field, inherited: Field | None) -> Field:
    return replace(field, description=field.description or (inherited.description if inherited else ""))


def _properties(draft: Draft, base: Capability, problems: Problems) -> Properties:
    own, inherited = draft.capability.properties, base.properties
    claims = {
        "side_effects": own.side_effects or not inherited.side_effects,
        "idempotent": inherited.idempotent or not own.idempotent,
        "deterministic": inherited.deterministic or not own.deterministic,
    }
    for key, is_strict in claims.items():
        if draft.says("properties", key) and not is_strict:
            value = str(getattr(inherited, key)).lower()
            message = f"`{key}` is {value} in the extended capability."
            _weaker(problems, ("properties", key), message, f"Write `{key}: {value}`, or remove it.")
    said = {key: getattr(own, key) for key in claims if draft.says("properties", key)}
    return replace(inherited, **said)


def _safety(draft: Draft, base: Capability, problems: Problems) -> Safety:
    own, old = draft.capability.safety, base.safety
    levels = roles.TRUST_LEVELS
    if draft.says("safety", "trust_level") and levels.index(own.trust_level) < levels.index(old.trust_level):
        message = f"The extended capability needs the trust level {old.trust_level}."
        _weaker(problems, ("safety", "trust_level"), message, f"Write `trust_level: {old.trust_level}`, or remove it.")
    if draft.says("safety", "requires_confirmation") and old.requires_confirmation and not own.requires_confirmation:
        message = "The extended capability needs a confirmation."
        _weaker(problems, ("safety", "requires_confirmation"), message, "Write `true`, or remove it.")
    if own.reversible and old.reversible is False:
        message = "The extended capability cannot be undone."
        _weaker(problems, ("safety", "reversible"), message, "Write `reversible: false`, or remove it.")
    return Safety(
        trust_level=max(old.trust_level, own.trust_level, key=levels.index) if draft.says("safety", "trust_level")
        else old.trust_level,
        requires_confirmation=old.requires_confirmation or own.requires_confirmation,
        pre_gates=_gates(own.pre_gates, old.pre_gates, "mandatory_pre_gates", problems),
        post_gates=_gates(own.post_gates, old.post_gates, "mandatory_post_gates", problems),
        approvers=_approvers(own.approvers, old.approvers, problems),
        data_classification=_classification(own, old, problems),
        reversible=old.reversible if own.reversible is None or old.reversible is False else own.reversible,
        allowed_targets=_targets(own, old, problems),
        scope_constraints=tuple(dict.fromkeys((*old.scope_constraints, *own.scope_constraints))),
    )  # fmt: skip


def _gates(own: tuple[Gate, ...], old: tuple[Gate, ...], key: str, problems: Problems) -> tuple[Gate, ...]:
    """Return the gates of both. A gate that both have counts once, with the stricter reaction."""
    strictness = capability_safety.STRICTNESS.index
    kept: dict[tuple[str, str], Gate] = {}
    for gate in old:
        kept[_same(gate)] = max(kept.get(_same(gate), gate), gate, key=lambda each: strictness(each.on_fail))
    for at, gate in enumerate(own):
        inherited = kept.get(_same(gate))
        if inherited and strictness(gate.on_fail) < strictness(inherited.on_fail):
            message = f"The gate `{gate.capability}` has `on_fail: {inherited.on_fail}` in the extended capability."
            fix = f"Write `on_fail: {inherited.on_fail}`, or remove the gate: it is inherited."
            _weaker(problems, ("safety", key, at), message, fix)
            continue
        kept[_same(gate)] = gate
    return tuple(kept.values())


def _same(gate: Gate) -> tuple[str, str]:
    return gate.capability, repr(gate.input)


def _approvers(own: Approvers | None, old: Approvers | None, problems: Problems) -> Approvers | None:
    if own is None or old is None:
        return own or old
    path = ("safety", "approvers")
    if own.count < old.count:
        message = f"{old.count} people have to approve the extended capability."
        _weaker(problems, (*path, "count"), message, f"Write `count: {old.count}` or more.")
    if old.people or old.roles:
        more = [*_beyond(own.people, old.people), *_beyond(own.roles, old.roles)]
        if more or not (own.people or own.roles):
            message = f"Only {', '.join((*old.people, *old.roles))} may approve the extended capability."
            _weaker(problems, path, message, "Name some of these, or remove `people` and `roles`.")
    return Approvers(own.people, own.roles, max(own.count, old.count))


def _beyond(own: tuple[str, ...], old: tuple[str, ...]) -> Iterator[str]:
    return (name for name in own if name not in old)


def _classification(own: Safety, old: Safety, problems: Problems) -> str:
    classes = ("", *capability_safety.CLASSIFICATIONS)
    if own.data_classification and classes.index(own.data_classification) < classes.index(old.data_classification):
        message = f"The data of the extended capability is {old.data_classification}."
        fix = f"Write `data_classification: {old.data_classification}`, or remove it."
        _weaker(problems, ("safety", "data_classification"), message, fix)
    return max(own.data_classification, old.data_classification, key=classes.index)


def _targets(own: Safety, old: Safety, problems: Problems) -> tuple[str, ...]:
    if not own.allowed_targets or not old.allowed_targets:
        return own.allowed_targets or old.allowed_targets
    if any(_beyond(own.allowed_targets, old.allowed_targets)):
        message = f"The extended capability may only reach {', '.join(old.allowed_targets)}."
        _weaker(problems, ("safety", "allowed_targets"), message, "Use some of these, or remove it.")
    return tuple(name for name in own.allowed_targets if name in old.allowed_targets)
