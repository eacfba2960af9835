"""Checks of the capabilities that the steps of a plan use."""

from collections.abc import Collection, Iterator

from registry.core.findings import Severity
from registry.core.format.yaml_errors import clip
from registry.core.text.nearest import nearest_of
from registry.core.workflows.capability import Capability
from registry.core.workflows.plan import COLLECT, SKILL_PREFIX, Step
from registry.core.workflows.problems import Problems
from registry.core.workflows.wiring import Wiring, compatible

UNKNOWN, SKILL_UNKNOWN = "workflow-capability-unknown", "workflow-skill-unknown"
DEPRECATED, UNGUARDED = "workflow-capability-deprecated", "workflow-safety-missing"
INPUT_MISSING, INPUT_UNKNOWN, INPUT_TYPE = "workflow-input-missing", "workflow-input-unknown", "workflow-input-type"
OUTPUT_UNKNOWN, CONSUMES = "workflow-output-unknown", "workflow-consumes"

FilePath = tuple[str | int, ...]


class CapabilityChecks:
    """The suggestions share a budget, so that a file full of mistakes is checked quickly."""

    def __init__(self, wiring: Wiring, problems: Problems, skills: Collection[str] | None) -> None:
        self.wiring, self.problems, self.skills = wiring, problems, skills
        self.nearest_capability = nearest_of(sorted(wiring.capabilities or ()), cutoff=0.5)
        self.nearest_skill = nearest_of(sorted(skills or ()), cutoff=0.5)
        self.unguarded: set[str] = set()
        # The cognitive types that the steps before a step produce, and the steps whose types are unknown.
        self.produced: dict[str, int] = {}
        self.opaque = 0

    def run(self) -> None:
        for number, step in enumerate(self.wiring.plan.steps):
            self.note(number, step)
        for number, step in enumerate(self.wiring.plan.steps):
            self.step(number, step)

    def note(self, number: int, step: Step) -> None:
        for name in step.used:
            capability = self.wiring.known(name)
            if capability is None:
                self.opaque |= 1 << number
                continue
            for produced in capability.hints.produces.values():
                self.produced[produced.type] = self.produced.get(produced.type, 0) | 1 << number

    def step(self, number: int, step: Step) -> None:
        at: FilePath = ("steps", number)
        for place, name in _named(step, at):
            self.name(step, place, name)
        found = [each for name in step.used if (each := self.wiring.known(name))]
        for capability in found:
            self.inputs(step, at, capability)
            self.consumes(number, step, at, capability)
        if found and len(found) == len(step.used):
            self.unknown_inputs(step, at, found)
            self.outputs(step, at, found)

    def name(self, step: Step, place: FilePath, name: str) -> None:
        if name.startswith(SKILL_PREFIX):
            skill = name.removeprefix(SKILL_PREFIX)
            if self.skills is not None and skill not in self.skills:
                near = self.nearest_skill(skill)
                fix = f"Did you mean `{SKILL_PREFIX}{near}`?" if near else "Use a skill of this project."
                message = f"Step '{step.id}' uses the skill “{clip(skill)}”, which is not in this project."
                self.problems.add(SKILL_UNKNOWN, place, message, fix)
            return
        if self.wiring.capabilities is None:
            return
        capability = self.wiring.known(name)
        if capability is None:
            near = self.nearest_capability(name)
            fix = f"Did you mean `{near}`?" if near else "Use a capability that is registered on this site."
            message = f"Step '{step.id}' uses the unknown capability `{clip(name)}`."
            self.problems.add(UNKNOWN, place, message, fix)
            return
        self.old(step, place, name, capability)
        if capability.properties.side_effects and not capability.has_safety and capability.id not in self.unguarded:
            self.unguarded.add(capability.id)
            message = f"`{capability.id}` has side effects, but its definition says nothing about safety."
            fix = "Ask an operator to add a `safety` block to it."
            self.problems.add(UNGUARDED, place, message, fix, Severity.WARNING)

    def old(self, step: Step, place: FilePath, name: str, capability: Capability) -> None:
        if capability.deprecated:
            message = f"Step '{step.id}' uses `{clip(name)}`, which is deprecated."
            fix = f"Use `{capability.replacement}`." if capability.replacement else "Use another capability."
            self.problems.add(DEPRECATED, place, message, fix, Severity.HINT)
        elif name != capability.id:
            message = f"Step '{step.id}' uses `{clip(name)}`, which is another name of `{capability.id}`."
            self.problems.add(DEPRECATED, place, message, f"Use `{capability.id}`.", Severity.HINT)

    def inputs(self, step: Step, at: FilePath, capability: Capability) -> None:
        for name, wanted in capability.inputs.items():
            value = step.input.get(name)
            if value is None:
                if wanted.required and not wanted.has_default:
                    message = f"Step '{step.id}' does not give `{name}`, which `{capability.id}` needs."
                    self.problems.add(INPUT_MISSING, (*at, "input"), message, f"Add `{name}:` below `input`.")
                continue
            given = self.wiring.type_of(value, step)
            if not compatible(given, wanted.type):
                message = (
                    f"`input.{name}` of step '{step.id}' is of the type {given}, but `{capability.id}` needs "
                    f"the type {wanted.type}."
                )
                fix = "Give a value of that type."
                self.problems.add(INPUT_TYPE, (*at, "input", name), message, fix)

    def unknown_inputs(self, step: Step, at: FilePath, found: Collection[Capability]) -> None:
        known = {name: None for capability in found for name in capability.inputs}
        nearest = nearest_of(known, cutoff=0.5)
        for name in step.input:
            if name not in known:
                near = nearest(name)
                fix = f"Did you mean `{near}`?" if near else "Remove it."
                message = f"Step '{step.id}' gives `{clip(name)}`, which {_one(found)} does not have as an input."
                self.problems.add(INPUT_UNKNOWN, (*at, "input", name), message, fix, Severity.WARNING)

    def outputs(self, step: Step, at: FilePath, found: Collection[Capability]) -> None:
        if step.scatter and step.scatter.merge == COLLECT:
            return  # the fields are the ids of the capabilities
        known = {name: None for capability in found for name in capability.outputs}
        nearest = nearest_of(known, cutoff=0.5)
        for produced in step.output or ():
            parts = produced.split(".")
            if not any(".".join(parts[:length]) in known for length in range(1, len(parts) + 1)):
                near = nearest(produced)
                fix = f"Did you mean `{near}`?" if near else f"It returns {', '.join(known) or 'nothing'}."
                message = f"Step '{step.id}' reads the field `{clip(produced)}`, which {_one(found)} does not return."
                self.problems.add(OUTPUT_UNKNOWN, (*at, "output", produced), message, fix)

    def consumes(self, number: int, step: Step, at: FilePath, capability: Capability) -> None:
        before = self.wiring.before[number]
        for type_ in capability.hints.consumes:
            if not before & (self.produced.get(type_, 0) | self.opaque):
                message = f"`{capability.id}` in step '{step.id}' consumes {type_}, which no step before it produces."
                fix = f"Add a step before it that produces {type_}."
                self.problems.add(CONSUMES, (*at, "uses"), message, fix, Severity.HINT)


def _one(found: Collection[Capability]) -> str:
    first = next(iter(found))
    return f"`{first.id}`" if len(found) == 1 else "none of its capabilities"


def _named(step: Step, at: FilePath) -> Iterator[tuple[FilePath, str]]:
    """Yield the place of each name that a step uses."""
    if step.scatter:
        for number, name in enumerate(step.scatter.capabilities):
            yield (*at, "config", "scatter", "capabilities", number), name
        return
    if step.router:
        for case, name in step.router.cases.items():
            yield (*at, "config", "router", "cases", case), name
        if step.router.default:
            yield (*at, "config", "router", "default"), step.router.default
    if step.uses:
        yield (*at, "uses"), step.uses
