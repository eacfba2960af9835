"""Gates of a capability: they exist, change nothing, can be called, and get an input that they know."""

from collections.abc import Callable, Mapping

from registry.core.findings import Severity
from registry.core.text.nearest import nearest_of
from registry.core.workflows import references
from registry.core.workflows.builtins.catalogue import HUMAN
from registry.core.workflows.capability import SKILL, Capability, Gate
from registry.core.workflows.capability_safety import GATE
from registry.core.workflows.policy import trust_rank
from registry.core.workflows.problems import Problems

_VERDICTS = ("allowed", "decision", "contains_pii")

Path = tuple[str | int, ...]


class GateChecks:
    def __init__(self, known: Mapping[str, Capability]) -> None:
        self.known = {alias: each for each in known.values() for alias in each.aliases} | dict(known)
        harmless = [name for name, each in self.known.items() if not each.properties.side_effects]
        self.nearest = nearest_of(sorted(harmless), cutoff=0.6)

    def check(self, capability: Capability, problems: Problems) -> None:
        gates = {
            "mandatory_pre_gates": (capability.safety.pre_gates, capability.inputs, "input"),
            "mandatory_post_gates": (capability.safety.post_gates, capability.outputs, "output"),
        }
        nearest_input = nearest_of(sorted(capability.inputs), cutoff=0.5)
        for key, (listed, passed, root) in gates.items():
            for at, gate in enumerate(listed):
                path = _place(problems, key, at, gate)
                found = self.known.get(gate.capability)
                if found is None:
                    near = self.nearest(gate.capability)
                    fix = f"Did you mean `{near}`?" if near else "Use a capability that is registered without errors."
                    problems.add(GATE, path, f"There is no gate `{gate.capability}`.", fix)
                elif fault := _fault(found, capability):
                    problems.add(GATE, path, f"`{found.id}` cannot be a gate: {fault[0]}.", fault[1])
                else:
                    _check_input(gate, found, passed, root, path, problems)
                    _check_reads(gate, capability, nearest_input, path, problems)


def _place(problems: Problems, key: str, at: int, gate: Gate) -> Path:
    """Return the place of a gate in the file, or of the whole block if the gate is inherited."""
    for place in range(at + 1):
        path = ("safety", key, place)
        text = problems.document.text(path) or problems.document.text((*path, "capability"))
        if text == gate.capability:
            return path
    return ("safety", key)


def _fault(gate: Capability, guarded: Capability) -> tuple[str, str] | None:
    """Return the reason why a capability cannot guard another one, and a fix."""
    safety = gate.safety
    if gate.id == guarded.id:
        return "it would guard itself", "Use another capability."
    if found := unfit(gate):
        return found
    if trust_rank(safety.trust_level) > trust_rank(guarded.safety.trust_level):
        fix = f"Write `trust_level: {safety.trust_level}` for this capability too."
        return f"it needs the trust level {safety.trust_level}, which is higher than that of this one", fix
    return None


def unfit(gate: Capability) -> tuple[str, str] | None:
    """Return the reason why a capability cannot guard any other one, and a fix."""
    safety = gate.safety
    if gate.properties.side_effects:
        return "it has side effects", "Use one with `side_effects: false`."
    if gate.kind == SKILL or gate.id in HUMAN:
        return "a gate is a single call", "Use a capability of another kind. `requires_confirmation` asks a person."
    if safety.requires_confirmation or safety.pre_gates or safety.post_gates:
        return "it has gates or needs a confirmation itself, and gates are not asked for theirs", "Use a simpler one."
    return None


def _check_input(
    gate: Gate, found: Capability, passed: Mapping[str, object], root: str, path: Path, problems: Problems
) -> None:
    given = passed if gate.input is None else gate.input
    for name, field in found.inputs.items():
        if field.required and not field.has_default and name not in given:
            message = f"The gate `{found.id}` needs `{name}`, which it does not get, so it stops every call."
            fix = f"Add `input: {{{name}: {root}.NAME}}` to the gate."
            problems.add(GATE, path, message, fix, Severity.WARNING)
    nearest = nearest_of(sorted(found.inputs), cutoff=0.5)
    for name in gate.input or ():
        if name not in found.inputs:
            near = nearest(name)
            fix = f"Did you mean `{near}`?" if near else "Remove it."
            problems.add(GATE, (*path, "input", name), f"`{name}` is not an input of the gate `{found.id}`.", fix)
    if not any(name in found.outputs for name in _VERDICTS):
        message = f"`{found.id}` does not return `allowed`, so it may stop every call."
        problems.add(GATE, path, message, "Declare `allowed: {type: boolean}` as its output.", Severity.WARNING)


def _check_reads(
    gate: Gate, capability: Capability, nearest: Callable[[str], str], path: Path, problems: Problems
) -> None:
    for name, value in (gate.input or {}).items():
        for found in references.references(value, ("input", "output")):
            if found[0] == "input" and len(found) > 1 and found[1] not in capability.inputs:
                near = nearest(found[1])
                fix = f"Did you mean `input.{near}`?" if near else f"Add `{found[1]}:` to `inputs`."
                message = f"The gate `{gate.capability}` reads `input.{found[1]}`, which does not exist."
                problems.add(GATE, (*path, "input", name), message, fix)
