"""Why a step failed: a stable code for programs, and a sentence for people."""

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Codes of failures. Those that start with `safety` are decisions of the policy, and are never retried."""

    INPUT = "input"  # an input cannot be resolved or has the wrong type
    OUTPUT = "output"  # an output is missing or has the wrong type, or cannot be stored
    EXPRESSION = "expression"  # a condition or another expression cannot be evaluated
    ROUTER = "router"  # no case matches and there is no default
    CAPABILITY = "capability"  # the capability is not registered, or its definition cannot be used
    CALL = "call"  # the capability answered with an error
    TIMEOUT = "timeout"
    LIMIT = "limit"  # a limit of the site, such as the depth of nested skills
    DEADLINE = "deadline"  # the run took longer than it may
    UNAVAILABLE = "unavailable"  # the circuit breaker of the service is open
    DENIED = "denied"  # a person denied
    EXPIRED = "expired"  # nobody answered in time
    SAFETY_TRUST = "safety-trust"
    SAFETY_GATE = "safety-gate"  # a gate blocked the call or its output
    SAFETY_GATE_ERROR = "safety-gate-error"  # a gate failed or gave no verdict
    SAFETY_TARGET = "safety-target"  # the target of the call is not allowed


SAFETY = frozenset({Code.SAFETY_TRUST, Code.SAFETY_GATE, Code.SAFETY_GATE_ERROR, Code.SAFETY_TARGET})


@dataclass(frozen=True, slots=True)
class Failure:
    """`message` is for people, and never quotes what another server answered."""

    code: Code
    message: str

    @property
    def is_safety(self) -> bool:
        return self.code in SAFETY


class StepFailed(Exception):
    """A step cannot go on. The run engine turns it into the failure of the step."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(code, message)
