"""Calls of capabilities: checks around them, the circuit breaker, and failures that a run can work with."""

import logging
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.capability import BUILTIN, HTTP, LLM, Capability
from registry.core.workflows.failures import Code, Failure, StepFailed
from registry.core.workflows.field_checks import check_inputs, check_outputs
from registry.core.workflows.values import Json
from registry.lib.circuit_breaker import FAILURES, CircuitBreaker, Outcome
from registry.remote.bindings import http, llm, mcp
from registry.remote.bindings.failure import BindingFailed
from registry.remote.bindings.secret_values import hidden
from registry.remote.chat import ChatEndpoint
from registry.services.capabilities.call_context import CallContext
from registry.services.resolve.outbound_http import allowed_hosts

log = logging.getLogger(__name__)

breakers = CircuitBreaker(time.monotonic)


@dataclass(frozen=True, slots=True)
class CallResult:
    """The output of a call, or its failure.

    `in_doubt` is True if the call may have happened, nobody knows, and it must not happen twice. `retry_after` is the
    wish of the service, in seconds.
    """

    output: dict[str, Json] | None
    failure: Failure | None = None
    retryable: bool = False
    in_doubt: bool = False
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    capability: Capability
    inputs: dict[str, Json]
    key: str
    seconds: float
    clock: Callable[[], float]


def call(
    capability: Capability,
    inputs: dict[str, Json],
    *,
    key: str,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> CallResult:
    """Call a capability of any kind except `skill`, and return the result. Never raise an exception.

    `key` names the call, and is the same whenever it is repeated. Safety is the business of the caller.
    """
    try:
        given = check_inputs(capability.inputs, inputs, what=f"The input of {capability.id}")
        output = _guarded(_Call(capability, given, key, seconds, clock))
        return CallResult(check_outputs(capability.outputs, output, what=f"The output of {capability.id}"))
    except StepFailed as error:
        return CallResult(None, error.failure, retryable=_is_worth_a_retry(capability, error.failure.code))
    except BindingFailed as error:
        in_doubt = error.maybe_done and not capability.properties.may_repeat
        failure = Failure(error.code, error.message)
        return CallResult(None, failure, error.retryable, in_doubt, error.retry_after)
    except Exception:
        trace = str(hidden(traceback.format_exc(), _secrets()))
        log.error("The call of %s for %s failed unexpectedly.\n%s", capability.id, key, trace)
        failure = Failure(Code.CALL, f"The call of {capability.id} failed. The log of the site says more.")
        in_doubt = capability.kind != BUILTIN and not capability.properties.may_repeat
        return CallResult(None, failure, in_doubt=in_doubt)


def _is_worth_a_retry(capability: Capability, code: Code) -> bool:
    """Return whether a call that a check or a built-in refused may go better next time."""
    if code == Code.OUTPUT:
        return capability.properties.may_repeat and not capability.properties.deterministic
    return code in (Code.CALL, Code.TIMEOUT)


def _guarded(made: _Call) -> dict[str, Json]:
    """Return the output of a call, unless the circuit breaker of its service is open."""
    if made.capability.kind == BUILTIN:
        return _built_in(made)
    service, project = _service(made.capability), made.capability.project
    # The calls of one project's own capabilities must not keep others from a service that they share.
    key = f"{service} for project {project}" if project else service
    admission = breakers.admit(key)
    if admission is None:
        left = breakers.seconds_left(key)
        message = f"{service} failed {FAILURES} times in a row, so it is left alone for a moment."
        raise BindingFailed(message, retryable=True, retry_after=left, code=Code.UNAVAILABLE)
    outcome = Outcome.UNKNOWN
    try:
        output = _remote(made)
        outcome = Outcome.SUCCESS
    except BindingFailed as error:
        outcome = error.outcome
        raise
    finally:
        breakers.report(admission, outcome)
    found: dict[str, Json] = hidden(output, _secrets())
    return found


def _remote(made: _Call) -> dict[str, Any]:
    binding, seconds = made.capability.binding, made.seconds
    if made.capability.kind == LLM:
        return llm.call(binding, made.inputs, endpoint=_model(), seconds=min(seconds, settings.WORKFLOW_LLM_SECONDS))
    function = http.call if made.capability.kind == HTTP else mcp.call
    return function(
        binding,
        made.inputs,
        key=made.key,
        seconds=min(seconds, float(binding.get("timeout_seconds", seconds))),
        secrets=settings.WORKFLOW_SECRETS,
        allowed=allowed_hosts(),
    )


def _built_in(made: _Call) -> dict[str, Json]:
    name = str(made.capability.binding.get("function", made.capability.id))
    builtin = BUILTINS.get(name)
    if builtin is None:
        raise StepFailed(Code.CAPABILITY, f"{name} is not a built-in capability.")
    output: dict[str, Json] = builtin.run(made.inputs, CallContext(made.seconds, clock=made.clock))
    return output


def _service(capability: Capability) -> str:
    """Return the name of the service for the circuit breaker and its message."""
    match capability.kind:
        case "http":
            return http.service(capability.binding)
        case "mcp":
            return mcp.service(capability.binding)
        case "llm":
            return _model().host or "The language model"
    raise StepFailed(Code.CAPABILITY, f"A capability of kind {capability.kind} is not called directly.")


def _model() -> ChatEndpoint:
    return ChatEndpoint(settings.WORKFLOW_LLM_URL, settings.WORKFLOW_LLM_MODEL, settings.WORKFLOW_LLM_KEY)


def _secrets() -> Mapping[str, str]:
    return {**settings.WORKFLOW_SECRETS, "WORKFLOW_LLM_KEY": settings.WORKFLOW_LLM_KEY}
