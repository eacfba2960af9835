"""Requests a minute for each token and each network: counted in this process, or in Redis where several share it."""

import logging
import time
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponseBase

from registry.core.errors import RateLimited
from registry.services import client_address

log = logging.getLogger(__name__)
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
    """Counts one request; raises when the minute is used up."""
    limit = settings.RATE_LIMIT_WRITE if writing else settings.RATE_LIMIT_READ
    return _take(f"{'w' if writing else 'r'}:{token_id}", limit, "this token")


def take_public(address: str) -> Rate:
    """The same for whoever comes without a token, by where they come from."""
    return _take(f"p:{client_address.network(address)}", settings.RATE_LIMIT_PUBLIC, "your address")


def _take(who: str, limit: int, named: str) -> Rate:
    if not limit:
        return Rate(0, 0, 0)
    now = time.time()
    reset = int(_WINDOW - now % _WINDOW) + 1
    used = _count(f"rate:{who}:{int(now // _WINDOW)}")
    if used > limit:
        raise RateLimited(
            f"{limit:,} requests a minute are allowed for {named}. Come back in {reset} seconds.",
            retry_after=reset,
            limit=limit,
        )
    return Rate(limit, limit - used, reset)


def _count(key: str) -> int:
    try:
        try:
            return cache.incr(key)
        except ValueError:
            cache.add(key, 0, timeout=2 * _WINDOW)
            return cache.incr(key)
    except Exception as error:
        # Every cache fails in its own way; an agent in the middle of its work matters more than an exact count.
        log.warning("The shared rate limit cannot be reached and is not applied: %s", error)
        return 0
