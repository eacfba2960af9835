"""The policy: whether a call may happen. Nothing calls a capability without asking it.

The order is trust, confirmation, the gates before the call, the call, the gates after it. A gate that fails or gives no
verdict stops the call, whatever its `on_fail` says. An approval is the digest of everything that the person saw. It is
computed again from the arguments of the call, so anything else needs another approval.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Protocol

from registry.core import roles
from registry.core.workflows.capability import BLOCK, DEGRADE, REQUIRE_HUMAN, WARN, Capability, Gate
from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.values import Json, digest

_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of one gate. `allowed` is None if it failed or gave no verdict."""

    gate: str
    on_fail: str
    allowed: bool | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call as the policy sees it. `verdicts` is None until the gates before the call have answered."""

    lock: str
    path: str
    capability: Capability
    input: Json
    trust: str
    verdicts: tuple[Verdict, ...] | None = None
    approvals: frozenset[str] = frozenset()


class Rule(StrEnum):
    PROCEED = "proceed"
    GATES = "gates"  # ask the gates first
    ASK = "ask"  # a person has to approve
    DENY = "deny"
    DEGRADE = "degrade"  # go on without the call, or without its output


@dataclass(frozen=True, slots=True)
class Ruling:
    """`digest` is what an approval of an ASK names. `warnings` are reasons of gates that only warn."""

    rule: Rule
    failure: Failure | None = None
    reason: str = ""
    digest: str = ""
    warnings: tuple[str, ...] = ()


class PolicyEngine(Protocol):
    """Decides about calls. An operator can replace the engine with the setting WORKFLOW_POLICY."""

    name: str

    def before(self, request: CallRequest) -> Ruling:
        """Decide about a call that has not been made."""

    def after(self, request: CallRequest, output: Json, verdicts: tuple[Verdict, ...] | None) -> Ruling:
        """Decide whether the output of a call is released."""


class StandardPolicy:
    """The policy of the site."""

    name = "standard/1"

    def before(self, request: CallRequest) -> Ruling:
        safety = request.capability.safety
        if trust_rank(request.trust) < trust_rank(safety.trust_level):
            return Ruling(Rule.DENY, _not_trusted(request))
        if safety.requires_confirmation:
            confirmed = approval_digest(self.name, request, ())
            if confirmed not in request.approvals:
                return Ruling(Rule.ASK, reason="This capability needs a confirmation.", digest=confirmed)
        if not safety.pre_gates:
            return Ruling(Rule.PROCEED)
        if request.verdicts is None:
            return Ruling(Rule.GATES)
        return self._judge(request, safety.pre_gates, request.verdicts)

    def after(self, request: CallRequest, output: Json, verdicts: tuple[Verdict, ...] | None) -> Ruling:
        if not request.capability.safety.post_gates:
            return Ruling(Rule.PROCEED)
        if verdicts is None:
            return Ruling(Rule.GATES)
        return self._judge(request, request.capability.safety.post_gates, verdicts, output=output)

    def _judge(
        self, request: CallRequest, gates: Sequence[Gate], verdicts: Sequence[Verdict], **output: Json
    ) -> Ruling:
        for verdict in verdicts:
            if verdict.allowed is None:
                return Ruling(Rule.DENY, _gate_failed(request, verdict.gate))
            if not verdict.allowed and verdict.on_fail == BLOCK:
                return Ruling(Rule.DENY, _blocked(request, verdict))
        denied = [verdict for verdict in verdicts if not verdict.allowed]
        if withheld := [verdict for verdict in denied if verdict.on_fail == DEGRADE]:
            return Ruling(Rule.DEGRADE, reason=says(withheld[0]))
        if missing := _unasked(gates, verdicts):
            return Ruling(Rule.DENY, _gate_failed(request, missing.capability))
        warnings = tuple(says(verdict) for verdict in denied if verdict.on_fail == WARN)
        doubts = [verdict for verdict in denied if verdict.on_fail == REQUIRE_HUMAN]
        approved = approval_digest(self.name, request, verdicts, **output) if doubts else ""
        if doubts and approved not in request.approvals:
            return Ruling(Rule.ASK, reason=says(doubts[0]), digest=approved, warnings=warnings)
        return Ruling(Rule.PROCEED, warnings=warnings)


def _unasked(gates: Sequence[Gate], verdicts: Sequence[Verdict]) -> Gate | None:
    """Return the first gate without a verdict of its own, such as one that another worker does not know yet."""
    given = [(verdict.gate, verdict.on_fail) for verdict in verdicts]
    asked = [(gate.capability, gate.on_fail) for gate in gates]
    return next((gate for at, gate in enumerate(gates) if given[at : at + 1] != asked[at : at + 1]), None)


def approval_digest(policy: str, request: CallRequest, verdicts: Sequence[Verdict], **output: Json) -> str:
    """Return what an approval of this call names. It covers nothing that is only for display."""
    return digest(
        {
            "lock": request.lock,
            "path": request.path,
            "capability": request.capability.id,
            "definition": request.capability.digest,
            "target": request.capability.target,
            "input": request.input,
            "verdicts": [asdict(verdict) for verdict in verdicts],
            "policy": policy,
            **output,
        }
    )


def trust_rank(level: str) -> int:
    """Return the rank of a trust level. An unknown level counts as standard."""
    return roles.TRUST_LEVELS.index(level if level in roles.TRUST_LEVELS else roles.STANDARD)


def least_trusted(*levels: str) -> str:
    return min(levels, key=trust_rank)


def read_verdict(gate: Gate, output: Json) -> Verdict:
    """Return the verdict in the output of a gate, whichever of the known forms it has.

    The forms are `allowed: true`, `decision: pass` or `block`, and `contains_pii: true`. Two that disagree are no
    verdict, and neither is a value that none of them has.
    """
    given = output if isinstance(output, dict) else {}
    keys = [key for key in _FORMS if given.get(key) is not None]
    if keys == ["allowed", "contains_pii"]:  # a gate can allow personal data of some kinds
        keys.pop()
    said = {_FORMS[key](given[key]) for key in keys}
    allowed = said.pop() if len(said) == 1 else None
    return Verdict(gate.capability, gate.on_fail, allowed, "" if allowed else _reason(given))


_FORMS: dict[str, Callable[[Json], bool | None]] = {
    "allowed": lambda value: value if isinstance(value, bool) else None,
    "decision": lambda value: {"pass": True, "block": False}.get(value) if isinstance(value, str) else None,
    "contains_pii": lambda value: not value if isinstance(value, bool) else None,
}


def _reason(given: Mapping[str, Json]) -> str:
    for key in ("reason", "reasons", "rationale", "violations", "findings"):
        value = given.get(key)
        texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if shown := [text for text in texts if isinstance(text, str) and text.strip()]:
            text = " ".join(" ".join(shown).split())
            return text if len(text) <= _REASON_CHARS else f"{text[: _REASON_CHARS - 1]}…"
    return ""


def _not_trusted(request: CallRequest) -> Failure:
    needed, capability = request.capability.safety.trust_level, request.capability.id
    return Failure(
        Code.SAFETY_TRUST,
        f"{capability} needs the trust level “{needed}”. This run has “{request.trust}”. "
        "An owner can raise the trust level of the agent, or somebody with a higher level can start the run.",
    )


def _blocked(request: CallRequest, verdict: Verdict) -> Failure:
    return Failure(Code.SAFETY_GATE, f"The call of {request.capability.id} was blocked. {says(verdict)}")


def gates_failed(uses: str, why: str) -> Failure:
    """Return the failure of a step whose gates gave no verdicts at all."""
    return Failure(Code.SAFETY_GATE_ERROR, f"The gates of {uses} gave no verdict, because their call {why}.")


def _gate_failed(request: CallRequest, gate: str) -> Failure:
    return Failure(
        Code.SAFETY_GATE_ERROR,
        f"{request.capability.id} was not called, because its gate {gate} failed or gave no verdict.",
    )


def says(verdict: Verdict) -> str:
    """Return the objection of a gate, for people."""
    return f"The gate {verdict.gate} says: {verdict.reason}" if verdict.reason else f"The gate {verdict.gate} objects."
