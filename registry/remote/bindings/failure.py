"""The failure of a call."""

from registry.core.workflows.failures import Code
from registry.lib.circuit_breaker import Outcome
from registry.remote.outbound_http import Failure, Refused, TimedOut


class BindingFailed(Exception):
    """A call without a usable answer.

    The message names the host and the fix. It never quotes what the other side answered, a query or a secret.
    `retryable` means that the same call may succeed later. `maybe_done` means that the other side may have acted on the
    call, and nobody knows. `retry_after` is its wish, in seconds. `outcome` is for the circuit breaker.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        maybe_done: bool = False,
        retry_after: float | None = None,
        code: Code = Code.CALL,
        outcome: Outcome = Outcome.UNKNOWN,
    ) -> None:
        super().__init__(message)
        self.message, self.retryable, self.maybe_done = message, retryable, maybe_done
        self.retry_after, self.code, self.outcome = retry_after, code, outcome


def unusable_definition(message: str) -> BindingFailed:
    """Return the failure for a binding that its author has to correct."""
    return BindingFailed(message, code=Code.CAPABILITY)


def unusable_input(message: str) -> BindingFailed:
    return BindingFailed(message, code=Code.INPUT)


def unusable_answer(message: str, *, retryable: bool = False) -> BindingFailed:
    """Return the failure for a service that did what it should, but whose answer cannot be used."""
    return BindingFailed(message, retryable=retryable, code=Code.OUTPUT, outcome=Outcome.SUCCESS)


def not_answered(host: str, failure: Failure) -> BindingFailed:
    """Return the failure for a request without a response."""
    message = f"The call of {host} failed. {failure}"
    if isinstance(failure, Refused):
        fix = "The operator of the site can allow the host with SKILLS_FETCH_ALLOW_HOSTS."
        return BindingFailed(f"{message} {fix}", code=Code.SAFETY_TARGET)
    code = Code.TIMEOUT if isinstance(failure, TimedOut) else Code.CALL
    return BindingFailed(message, retryable=True, maybe_done=failure.sent, code=code, outcome=Outcome.FAILURE)
