"""Drafts become capabilities: with what they extend, and checked against the gates and names of all others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from registry.core.findings import Finding, Severity
from registry.core.text.nearest import nearest_of
from registry.core.workflows import capability_bindings, capability_extends, capability_scope
from registry.core.workflows.builtins.catalogue import HUMAN
from registry.core.workflows.capability import HTTP, LLM, MCP, Capability, Gate
from registry.core.workflows.capability_extends import EXTENDS, MOST_DEPTH
from registry.core.workflows.capability_gates import GateChecks
from registry.core.workflows.capability_json import sealed
from registry.core.workflows.capability_scope import OPERATOR, OWNER, Site
from registry.core.workflows.capability_yaml import Draft, check_outputs
from registry.core.workflows.problems import Problems, listed

TAKEN, PROPERTIES, UNSAFE, SECRET = (
    "capability-taken",
    "capability-properties",
    "capability-safety-missing",
    "capability-secret",
)
NOT_FOR_OWNERS = "capability-not-allowed"


@dataclass(frozen=True, slots=True)
class Linked:
    """The result for one draft. `capability` is None if a finding is an error."""

    draft: Draft
    capability: Capability | None
    findings: tuple[Finding, ...]


def link(
    drafts: Sequence[Draft], known: Mapping[str, Capability], site: Site, *, author: str = OPERATOR
) -> tuple[Linked, ...]:
    """Return the capabilities of drafts in their order. `known` are those that nothing may replace."""
    return _Linker(drafts, known, site, author).run()


class _Linker:
    def __init__(self, drafts: Sequence[Draft], known: Mapping[str, Capability], site: Site, author: str) -> None:
        self.drafts, self.known, self.site, self.author = drafts, known, site, author
        self.problems = [Problems(draft.document) for draft in drafts]
        self.numbers: dict[str, int] = {}
        self.done: dict[int, Capability | None] = {}
        self.depths: dict[int, int] = {}
        self.binding_authors: dict[int, str] = {}  # a binding that is inherited belongs to the author of the base
        # The suggestions share a budget, so that files full of mistakes are checked quickly.
        ids = {each.capability.id for each in drafts}
        self.nearest = nearest_of(sorted({*known, *ids}), cutoff=0.5)
        self.nearest_secret = nearest_of(sorted(site.secrets), cutoff=0.5)

    def run(self) -> tuple[Linked, ...]:
        self.claim_names()
        for number in range(len(self.drafts)):
            self.complete(number)
        complete = [self.done[number] for number in range(len(self.drafts))]
        for number, capability in enumerate(complete):
            if capability is not None:
                self.check(capability, self.problems[number], self.binding_authors[number])
        pairs = list(zip(complete, self.problems, strict=True))
        good = {each.id: each for each, problems in pairs if each is not None and not problems.fatal}
        gates = GateChecks({**good, **self.known})
        for capability, problems in pairs:
            if capability is not None:
                gates.check(capability, problems)
        return tuple(
            Linked(draft, None if problems.fatal or each is None else sealed(each), listed(problems.findings))
            for draft, each, problems in zip(self.drafts, complete, self.problems, strict=True)
        )

    def claim_names(self) -> None:
        """Report names that something else has already. Among drafts, the first one keeps its name."""
        taken = {alias for each in self.known.values() for alias in each.aliases} | set(self.known)
        # Also of gates that are gone: the capabilities that rely on them must not get others.
        taken |= {gate.capability for each in self.known.values() for gate in _gates(each)}
        for number, draft in enumerate(self.drafts):
            id_, problems = draft.capability.id, self.problems[number]
            if id_ in taken:
                message = f"`{id_}` is the name of a capability that nothing can replace."
                problems.add(TAKEN, ("id",), message, "Choose another id. `extends` can make a stricter one.")
            elif id_ in self.numbers:
                other = self.drafts[self.numbers[id_]].document.file
                message = f"`{id_}` is defined in {other} too."
                problems.add(TAKEN, ("id",), message, "Choose another id, or remove a file.")
            else:
                self.numbers[id_] = number
        taken |= set(self.numbers)
        for draft, problems in zip(self.drafts, self.problems, strict=True):
            for at, alias in enumerate(draft.capability.aliases):
                if alias in taken:
                    message = f"The alias `{alias}` is the name of another capability."
                    problems.add(TAKEN, ("aliases", at), message, "Choose another alias, or remove it.")
                taken.add(alias)

    def complete(self, number: int) -> None:
        """Complete a draft, after those that it extends."""
        chain = [number]
        while (base := self.base_of(chain[-1])) is not None and base not in self.done:
            if base in chain:
                self.refuse_circle(chain[chain.index(base) :])
                break
            chain.append(base)
        for at in reversed(chain):
            if at not in self.done:
                self.done[at] = self.completed(at)

    def base_of(self, number: int) -> int | None:
        extends = self.drafts[number].extends
        return None if extends in self.known else self.numbers.get(extends)

    def refuse_circle(self, circle: list[int]) -> None:
        ids = " → ".join(self.drafts[each].capability.id for each in (*circle, circle[0]))
        for each in circle:
            message = f"The capabilities extend each other in a circle: {ids}."
            self.problems[each].add(EXTENDS, ("extends",), message, "Remove one `extends`.")
            self.done[each] = None

    def completed(self, number: int) -> Capability | None:
        """Return a draft with what it inherits, None if that does not exist or has errors."""
        draft, problems = self.drafts[number], self.problems[number]
        self.binding_authors[number] = self.author
        if not draft.extends:
            return self.with_target(draft.capability)
        base_number = self.base_of(number)
        base = self.known.get(draft.extends) if base_number is None else self.done[base_number]
        depth = self.depths[number] = 1 + (self.depths.get(base_number, 0) if base_number is not None else 0)
        if base is None or base.id in HUMAN or depth > MOST_DEPTH:
            problems.add(EXTENDS, ("extends",), *self.refusal(draft.extends, base, depth))
            return None
        if base_number is not None and self.problems[base_number].fatal:
            problems.add(EXTENDS, ("extends",), *self.refusal(draft.extends, None, depth))
            return None
        if not draft.says("binding"):
            self.binding_authors[number] = OPERATOR if base_number is None else self.binding_authors[base_number]
            if self.author == OWNER and self.binding_authors[number] == OPERATOR:
                _refuse_inputs(draft, base, problems)
        return self.with_target(capability_extends.merged(draft, base, problems))

    def refusal(self, name: str, base: Capability | None, depth: int) -> tuple[str, str]:
        """Return the reason why a draft cannot extend another capability, and a fix."""
        if base is not None and depth > MOST_DEPTH:
            return f"More than {MOST_DEPTH} capabilities extend each other.", "Extend one nearer to the start."
        if base is not None:
            return f"`{name}` asks a person, so a step has to use it directly.", "Extend another capability."
        if name in self.numbers:
            return f"`{name}`, which this one extends, has errors.", "Correct these first."
        near = self.nearest(name)
        fix = f"Did you mean `{near}`?" if near else "Use the id of a registered capability."
        return f"There is no capability `{name}` to extend.", fix

    def with_target(self, capability: Capability) -> Capability:
        if not capability.binding:
            return capability
        return replace(capability, target=capability_bindings.target(capability.binding, self.site.model))

    def check(self, capability: Capability, problems: Problems, author: str) -> None:
        """Check a capability. `author` is the one of its binding."""
        if not capability.binding:
            return
        capability_bindings.check_references(capability, problems)
        check_outputs(capability, problems)
        capability_scope.check(capability, problems, self.site, author)
        for path, what in capability_bindings.credentials_in(capability.binding):
            message = f"The binding contains {what}, which everybody who sees the definition could use."
            fix = "Name it as `secret:NAME`, and let an operator set it."
            severity = Severity.WARNING if author == OPERATOR else Severity.ERROR
            problems.add(capability_bindings.SECRET, path, message, fix, severity)
        if author == OPERATOR:
            self.check_secrets(capability, problems)
        else:
            _check_owner(capability, problems)
        _check_properties(capability, problems)
        if capability.replacement and capability.replacement == capability.id:
            problems.add(TAKEN, ("replacement",), "`replacement` is the capability itself.", "Name another one.")

    def check_secrets(self, capability: Capability, problems: Problems) -> None:
        for path, name in capability_bindings.secrets(capability.binding):
            if name not in self.site.secrets:
                near = self.nearest_secret(name)
                fix = f"Did you mean `secret:{near}`?" if near else f"Add {name} to WORKFLOW_SECRETS, and set it."
                message = f"The secret {name} is not listed in WORKFLOW_SECRETS, so calls will fail."
                problems.add(capability_bindings.SECRET, path, message, fix, Severity.WARNING)


def _gates(capability: Capability) -> tuple[Gate, ...]:
    return (*capability.safety.pre_gates, *capability.safety.post_gates)


def _check_properties(capability: Capability, problems: Problems) -> None:
    properties, safety = capability.properties, capability.safety
    if properties.deterministic and not properties.may_repeat:
        message = "`deterministic` does not go with side effects that must not happen twice."
        fix = "Write `idempotent: true` or `side_effects: false`, or remove `deterministic`."
        problems.add(PROPERTIES, ("properties", "deterministic"), message, fix)
    if properties.side_effects and not capability.has_safety:
        message = "The capability has side effects, but says nothing about safety."
        fix = "Add `safety:`, or `properties: {side_effects: false}` if a call changes nothing."
        problems.add(UNSAFE, ("properties",), message, fix, Severity.WARNING)
    if safety.requires_confirmation and not properties.side_effects:
        message = "A person has to confirm each call, although it changes nothing."
        fix = "Remove `requires_confirmation`, or write `side_effects: true`."
        problems.add(PROPERTIES, ("safety", "requires_confirmation"), message, fix, Severity.WARNING)


def _check_owner(capability: Capability, problems: Problems) -> None:
    """Refuse bindings that only an operator can be trusted with. One that is inherited has all its safety."""
    if capability.kind in (MCP, LLM):
        message = f"Only an operator of the site can register a binding of the kind {capability.kind}."
        problems.add(NOT_FOR_OWNERS, ("binding", "kind"), message, "Use builtin, http or skill, or ask an operator.")
        return
    for path, name in capability_bindings.secrets(capability.binding):
        message = f"Only an operator of the site can let a capability send the secret {name}."
        problems.add(NOT_FOR_OWNERS, path, message, "Remove it, or ask an operator to register the capability.")


def _refuse_inputs(draft: Draft, base: Capability, problems: Problems) -> None:
    """Refuse inputs that an owner adds to a call of an operator: it could send them with its secrets."""
    for name in draft.capability.inputs:
        if name not in base.inputs and base.kind in (HTTP, MCP, LLM):
            message = f"`{name}` is not an input of `{base.id}`, and only an operator can add one to its call."
            problems.add(NOT_FOR_OWNERS, ("inputs", name), message, "Remove it, or ask an operator.")
