"""Reads responses of the site through the HTTP cache."""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlencode

from registry.client import strict_json
from registry.client.errors import NotCached, Unreachable, Untrustworthy
from registry.client.http import HttpClient
from registry.client.http_cache import CachedResponse, HttpCache
from registry.core.limits import MIB

_T = TypeVar("_T")

ANY, _JSON = "*/*", "application/json"
JSON_BYTES = 64 * MIB


class CachedReader:
    """Sends conditional requests. A cached response is used offline, or if the site cannot be reached."""

    def __init__(self, http: HttpClient, responses: HttpCache, *, offline: bool) -> None:
        self._http = http
        self._responses = responses
        self.offline = offline

    def json(self, address: str, use: Callable[[Any, bool], _T]) -> _T:
        return self.read(address, lambda body, cached: use(parse_json(body), cached), accept=_JSON, limit=JSON_BYTES)

    def read(self, address: str, use: Callable[[bytes, bool], _T], *, accept: str, limit: int) -> _T:
        """Return `use(body, from_cache)`. A response is cached only if `use` accepts it."""
        request = f"{accept} {address}"
        cached = self._responses.get(request)
        if self.offline:
            if cached is None:
                raise NotCached("The client is offline, and this is not in the cache.")
            return use(cached.body, True)
        try:
            response = self._http.get(address, accept=accept, limit=limit, etag=cached.etag if cached else "")
        except Unreachable:
            if cached is None:
                raise
            return use(cached.body, True)
        if response.status != 304:
            value = use(response.body, False)
            if response.etag:
                self._responses.put(request, CachedResponse(response.etag, response.body))
            return value
        if cached is None:
            raise Untrustworthy("The site answered 304 to a request without an ETag.")
        return use(cached.body, False)


def query(**parameters: str) -> str:
    present = {key: value for key, value in parameters.items() if value}
    return f"?{urlencode(present)}" if present else ""


def parse_json(body: bytes) -> Any:
    try:
        return strict_json.parse(body)
    except ValueError as error:
        raise Untrustworthy("The response of the site is not JSON. Is this the address of a Skillsite?") from error
