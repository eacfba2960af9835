"""What can go wrong between a program and the site, as one small family.

ClientError
├── Misconfigured        the address, the project or the token cannot be used as given
├── Unreachable          no answer, after the retries
├── NotCached            offline, and the answer is not in the cache
├── Untrustworthy        an answer that is damaged, cut off, or not the bytes its digest promises
├── LocalProblem         a file or directory on this machine stands in the way
└── Refused              the site said no; `code` is its stable code
    ├── NotAllowed       401, 403
    ├── NotFound         404
    ├── Conflict         409, 412, 428
    └── RateLimited      429; `retry_after` says when to come back
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


class NotCached(ClientError):
    pass


class Untrustworthy(ClientError):
    pass


class LocalProblem(ClientError):
    pass


class Refused(ClientError):
    """`data` is the whole problem document, `findings` among it where there are any."""

    def __init__(self, message: str, *, status: int, code: str = "", data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.data = dict(data or {})

    @property
    def findings(self) -> list[dict[str, Any]]:
        given = self.data.get("findings")
        return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


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
    """The error for an answer that says no; `problem` is its `application/problem+json`, or empty."""
    kind = _BY_STATUS.get(status, Refused)
    detail = problem.get("detail")
    message = detail if isinstance(detail, str) and detail else f"The site refused with status {status}."
    code = problem.get("code")
    return kind(message, status=status, code=code if isinstance(code, str) else "", data=problem)
