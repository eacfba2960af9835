"""Exceptions of the client.

ClientError
├── Misconfigured        the address, the project or the token is invalid
├── Unreachable          no response, even after retries
│   └── Unanswered       the request was sent once, and nobody knows whether the site has carried it out
├── NotCached            offline, and the response is not in the cache
├── Untrustworthy        a response is damaged, incomplete, or does not match its digest
├── LocalProblem         a file or directory on this machine cannot be used
└── Refused              the site refused the request; `code` is its stable error code
    ├── NotAllowed       401, 403
    ├── NotFound         404
    ├── Conflict         409, 412, 428
    └── RateLimited      429; `retry_after` is the number of seconds to wait
"""

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Misconfigured(ClientError):
    pass


class Unreachable(ClientError):
    pass


class Unanswered(Unreachable):
    """Only raised for requests that are not sent again, because they would happen twice."""


class NotCached(ClientError):
    pass


class Untrustworthy(ClientError):
    pass


class LocalProblem(ClientError):
    pass


class Refused(ClientError):
    """The site refused the request. `data` is the whole problem document."""

    def __init__(self, message: str, *, status: int, code: str = "", data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.data = dict(data or {})

    @property
    def findings(self) -> list[dict[str, Any]]:
        findings = self.data.get("findings")
        return [each for each in findings if isinstance(each, dict)] if isinstance(findings, list) else []


class NotAllowed(Refused):
    pass


class NotFound(Refused):
    pass


class Conflict(Refused):
    pass


class RateLimited(Refused):
    retry_after: float | None = None


_BY_STATUS: dict[int, type[Refused]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    428: Conflict,
    429: RateLimited,
}


def refused(status: int, problem: Mapping[str, Any]) -> Refused:
    """Return the error for a response. `problem` is its `application/problem+json` body, or empty."""
    kind = _BY_STATUS.get(status, Refused)
    detail = problem.get("detail")
    message = detail if isinstance(detail, str) and detail else f"The site refused the request with status {status}."
    code = problem.get("code")
    return kind(message, status=status, code=code if isinstance(code, str) else "", data=problem)
