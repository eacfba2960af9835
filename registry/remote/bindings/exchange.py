"""One request of a binding, and the checks of its response."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from registry.core.workflows.binding_templates import is_header_name
from registry.core.workflows.failures import Code
from registry.lib.circuit_breaker import Outcome
from registry.remote import outbound_http
from registry.remote.bindings.answers import MOST_BYTES
from registry.remote.bindings.failure import (
    BindingFailed,
    not_answered,
    unusable_answer,
    unusable_definition,
    unusable_input,
)
from registry.remote.bindings.secret_values import Secrets, filled
from registry.remote.outbound_http import Failure, OutboundRequest, OutboundResponse

_MOST_SENT = 4 * 1024 * 1024
_MOST_RETRY_AFTER = 3_600.0
_LATER = frozenset({408, 425, 429})
# The gateway of the host lost sight of a call that the server behind it may have got.
_IN_DOUBT = frozenset({502, 504, 520, 524})


@dataclass(frozen=True, slots=True)
class Exchange:
    """The requests of one call share a deadline, on the monotonic clock."""

    allowed: frozenset[str]
    seconds: float
    deadline: float

    @classmethod
    def lasting(cls, seconds: float, allowed: frozenset[str]) -> "Exchange":
        return cls(allowed, seconds, time.monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        return self.deadline - time.monotonic()

    def send(
        self,
        method: str,
        url: httpx.URL,
        *,
        headers: Mapping[str, str],
        content: bytes = b"",
        enough: Callable[[bytes], bool] | None = None,
    ) -> OutboundResponse:
        """Return the response, whatever its status. Raise BindingFailed if there is none."""
        host = outbound_http.host_of(str(url))
        if len(content) > _MOST_SENT:
            message = f"The call of {host} would send {len(content):,} bytes. At most {_MOST_SENT:,} are allowed."
            raise unusable_input(message)
        if (left := self.seconds_left) <= 0:
            message = f"The call of {host} failed. Its {self.seconds:g} seconds are over."
            raise BindingFailed(message, retryable=True, code=Code.TIMEOUT)
        request = OutboundRequest(
            method, str(url), content, headers, seconds=round(left, 2) or left, most=MOST_BYTES, enough=enough
        )
        try:
            response = outbound_http.send(request, allowed=self.allowed)
        except Failure as failure:
            raise not_answered(host, failure) from None
        return response


def header_values(templates: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    """Return the headers of an operator with their secrets."""
    return {name: checked_header(name, filled(value, secrets)) for name, value in templates.items()}


def checked_header(name: str, value: str) -> str:
    """Return the value of a header. Other characters than printable ASCII could start another header."""
    if not is_header_name(name):
        raise unusable_definition(f"The binding may not set the header {name[:80]!r}.")
    if not (value.isascii() and value.isprintable()):
        raise unusable_input(f"The value for the header {name} may only have printable ASCII characters.")
    return value


def check_status(host: str, response: OutboundResponse) -> None:
    """Raise BindingFailed unless the response is a success."""
    status = response.status
    if 200 <= status < 300:
        return
    answered = f"{host} answered with status {status}."
    if 300 <= status < 400:
        message = f"{answered} Redirects are not followed. Use the address that it redirects to."
        raise BindingFailed(message, outcome=Outcome.SUCCESS)
    if status in (401, 403):
        raise BindingFailed(f"{answered} Check the credentials of the binding.", outcome=Outcome.SUCCESS)
    if status not in _LATER and status < 500:
        message = f"{answered} Check the address of the binding and the values that it sends."
        raise BindingFailed(message, outcome=Outcome.SUCCESS)
    outcome = Outcome.FAILURE if status >= 500 else Outcome.SUCCESS
    raise BindingFailed(
        f"{answered} Try again later.",
        retryable=True,
        maybe_done=status in _IN_DOUBT,
        retry_after=_retry_after(response.headers.get("retry-after", "")),
        outcome=outcome,
    )


def check_body(host: str, response: OutboundResponse) -> None:
    """Raise BindingFailed for a body that is cut or compressed."""
    if not response.complete:
        raise unusable_answer(f"The answer of {host} is larger than the limit of {MOST_BYTES:,} bytes. Ask for less.")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise unusable_answer(f"The answer of {host} is compressed, but the call did not ask for compression.")


def _retry_after(value: str) -> float | None:
    """Return the seconds of the header Retry-After, which is a number or a date."""
    try:
        seconds = float(value) if value.strip().isdecimal() else _seconds_until(parsedate_to_datetime(value))
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, seconds), _MOST_RETRY_AFTER) if math.isfinite(seconds) else None


def _seconds_until(moment: datetime) -> float:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - datetime.now(UTC)).total_seconds()
