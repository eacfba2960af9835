"""Changes of a workflow for its reviewer: the steps, the new calls, and the people who are no longer asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from registry.core import roles
from registry.core.bundle import Bundle
from registry.core.limits import DEFAULT, Limits
from registry.core.proposals.risk import Risk
from registry.core.text.shorten import one_line, shorten
from registry.core.workflows import human, workflow_yaml
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_set import CapabilitySet
from registry.core.workflows.plan import FILE, SKILL_PREFIX, Plan, Step
from registry.core.workflows.policy import trust_rank

ADDED, CHANGED, REMOVED, SAME = "added", "changed", "removed", "unchanged"
_NAME_CHARS = 128


@dataclass(frozen=True, slots=True)
class Call:
    """A capability or a nested skill that the workflow starts to call, with the steps that do.

    `capability` is None for a skill, and for what is not registered. `is_checked` is false if that is unknown.
    """

    name: str
    steps: tuple[str, ...]
    capability: Capability | None = None
    is_checked: bool = True

    @property
    def is_skill(self) -> bool:
        return self.name.startswith(SKILL_PREFIX)

    @property
    def is_harmless(self) -> bool:
        """True for a capability without side effects that reaches nothing outside and needs nobody."""
        return self.capability is not None and not (self.facts or self.capability.target)

    @property
    def facts(self) -> tuple[str, ...]:
        """Facts about the capability that a reviewer has to know, as the ends of sentences."""
        if self.capability is None:
            return ()
        safety, properties = self.capability.safety, self.capability.properties
        facts = ["has side effects"] if properties.side_effects else []
        needs = []
        if trust_rank(safety.trust_level) > trust_rank(roles.STANDARD):
            needs.append(f"the trust level {safety.trust_level}")
        if safety.requires_confirmation:
            needs.append("a confirmation")
        return (*facts, *([f"needs {' and '.join(needs)}"] if needs else []))

    @property
    def risk(self) -> Risk:
        if self.is_harmless:
            return Risk.LOW
        return Risk.HIGH if self.capability is not None and self.facts else Risk.MEDIUM

    @property
    def sentence(self) -> str:
        """Return the call as the end of a sentence: "ledger.entry.write (ledger.internal), which has side effects"."""
        name = shorten(one_line(self.name), _NAME_CHARS)
        if self.is_skill:
            return f"the workflow of the skill {name.removeprefix(SKILL_PREFIX)}"
        if self.capability is None:
            return f"{name}, which is not registered in this project" if self.is_checked else name
        target = f" ({self.capability.target})" if self.capability.target else ""
        return f"{name}{target}" + (f", which {' and '.join(self.facts)}" if self.facts else "")


@dataclass(frozen=True, slots=True)
class WorkflowChange:
    """`states` has ADDED, CHANGED, REMOVED or SAME for each step of both plans.

    A plan is None if there is no workflow, or if it cannot run. `unasked` are the steps that asked a person before.
    """

    before: Plan | None
    after: Plan | None
    is_new: bool
    is_gone: bool
    states: Mapping[str, str] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    ended: tuple[str, ...] = ()  # what is no longer called
    unasked: tuple[str, ...] = ()

    def of(self, state: str) -> tuple[str, ...]:
        return tuple(step for step, each in self.states.items() if each == state)


def compare(
    before: Bundle | None,
    after: Bundle | None,
    registered: Mapping[str, Capability] | None,
    *,
    limits: Limits = DEFAULT,
) -> WorkflowChange | None:
    """Return what changes in the workflow, None if nothing does. `registered` is None if it is unknown."""
    old, new = before.get(FILE) if before else None, after.get(FILE) if after else None
    if old == new:
        return None
    earlier, later = _plan(old, limits), _plan(new, limits)
    before_steps, after_steps = _steps(earlier), _steps(later)
    states = {
        name: ADDED if name not in before_steps else SAME if _same(before_steps[name], step) else CHANGED
        for name, step in after_steps.items()
    }
    unasked: list[str] = []
    if later is not None or new is None:
        states |= {name: REMOVED for name in before_steps if name not in after_steps}
        unasked = [name for name, step in before_steps.items() if _asks(step) and not _asks(after_steps.get(name))]
    known = None if registered is None else CapabilitySet(registered.values())
    return WorkflowChange(
        earlier,
        later,
        is_new=old is None,
        is_gone=new is None,
        states=states,
        calls=tuple(_calls(earlier, later, known)),
        ended=_ended(earlier, later) if later is not None or new is None else (),
        unasked=tuple(unasked),
    )


def reasons(change: WorkflowChange | None) -> Iterator[tuple[Risk, str]]:
    """Yield what a reviewer should look at first."""
    if change is None:
        return
    for call in change.calls:
        if not call.is_harmless:
            yield call.risk, f"The workflow starts to call {call.sentence}."
    for step in () if change.is_gone else change.unasked:
        yield Risk.HIGH, f"The workflow no longer asks a person in step {step}."


def _plan(content: bytes | None, limits: Limits) -> Plan | None:
    return workflow_yaml.parse(content, limits=limits).plan if content is not None else None


def _steps(plan: Plan | None) -> dict[str, Step]:
    return {step.id: step for step in plan.steps} if plan else {}


def _same(before: Step, after: Step) -> bool:
    """Return whether a step does the same. Its line in the file does not matter."""
    return replace(before, line=0) == replace(after, line=0)


def _asks(step: Step | None) -> bool:
    return step is not None and (step.approvers is not None or human.asks(step.uses))


def _calls(before: Plan | None, after: Plan | None, known: CapabilitySet | None) -> Iterator[Call]:
    callers: dict[str, list[str]] = {}
    for step in after.steps if after else ():
        for name in step.used:
            callers.setdefault(name, []).append(step.id)
    earlier = set(before.used) if before else set()
    for name, steps in callers.items():
        if name not in earlier:
            yield Call(name, tuple(steps), known.find(name) if known else None, is_checked=known is not None)


def _ended(before: Plan | None, after: Plan | None) -> tuple[str, ...]:
    later = set(after.used) if after else set()
    return tuple(name for name in (before.used if before else ()) if name not in later)
