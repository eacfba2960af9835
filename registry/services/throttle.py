"""Rate limits: requests per minute for each token, and for each network without one."""

import time
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpResponseBase

from registry.core.errors import RateLimited
from registry.services import client_address, counters

_WINDOW = 60


@dataclass(frozen=True, slots=True)
class Rate:
    limit: int
    remaining: int
    reset: int

    def mark(self, response: HttpResponseBase) -> None:
        if self.limit:
            response["RateLimit-Limit"] = str(self.limit)
            response["RateLimit-Remaining"] = str(self.remaining)
            response["RateLimit-Reset"] = str(self.reset)


def take(token_id: int, *, writing: bool) -> Rate:
    """Count one request of a token. Raise RateLimited if it exceeds the limit of this minute."""
    limit = settings.RATE_LIMIT_WRITE if writing else settings.RATE_LIMIT_READ
    return _take(f"{'w' if writing else 'r'}:{token_id}", limit, "this token")


def take_public(address: str) -> Rate:
    """Count one request without a token, by the caller's network."""
    return _take(f"p:{client_address.network(address)}", settings.RATE_LIMIT_PUBLIC, "your address")


def _take(key: str, limit: int, subject: str) -> Rate:
    if not limit:
        return Rate(0, 0, 0)
    now = time.time()
    reset = int(_WINDOW - now % _WINDOW) + 1
    used = counters.count(f"rate:{key}:{int(now // _WINDOW)}", seconds=2 * _WINDOW)
    if used > limit:
        raise RateLimited(
            f"{limit:,} requests a minute are allowed for {subject}. Try again in {reset} seconds.",
            retry_after=reset,
            limit=limit,
        )
    return Rate(limit, limit - used, reset)
