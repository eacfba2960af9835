"""HTTP requests to a source that share one deadline."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from registry.core.format import sniffing
from registry.core.limits import DEFAULT, MIB, Limits
from registry.lib.json_values import has_more_values
from registry.remote import outbound_http
from registry.remote.outbound_http import Failure, OutboundRequest, OutboundResponse, Refused
from registry.remote.sources.types import SECONDS, NotASource, Unreachable

REDIRECTS = 5
REDIRECTING = frozenset({301, 302, 303, 307, 308})
JSON_BYTES = 8 * MIB
JSON_VALUES = 500_000
_LATER = frozenset({408, 425, 429})  # statuses that mean "try again later"


@dataclass(frozen=True, slots=True)
class Download:
    """Body of a response; `url` is the address after redirects."""

    url: httpx.URL
    content_type: str
    body: bytes

    @property
    def is_page(self) -> bool:
        return sniffing.is_page(self.content_type, self.body)


@dataclass(frozen=True, slots=True)
class HttpSession:
    """Requests of one listing or fetch. All of them must finish within `seconds` of `started`."""

    allowed: frozenset[str]
    limits: Limits = DEFAULT
    seconds: float = SECONDS
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float:
        return self.started + self.seconds - time.monotonic()

    def get(self, url: httpx.URL, *, most: int, accept: str = "*/*") -> Download:
        """Return the body of a successful response. Redirects are followed here, to know the final URL."""
        for _ in range(REDIRECTS + 1):
            response = self.send(url, most=most, headers={"Accept": accept})
            if not (response.status in REDIRECTING and "location" in response.headers):
                return _download(url, response, most)
            url = joined(url, response.headers["location"])
        raise NotASource(f"The server redirects more than {REDIRECTS} times.")

    def get_json(self, url: httpx.URL) -> tuple[dict[str, Any], httpx.URL]:
        """Return a JSON object and its final URL."""
        download = self.get(url, most=JSON_BYTES, accept="application/json")
        if download.is_page:
            raise NotASource("The server sent a web page (HTML), not JSON.")
        try:
            content = download.body.decode("utf-8-sig")
            if has_more_values(content, JSON_VALUES):
                raise NotASource(f"The response has more than {JSON_VALUES:,} values, which is the limit.")
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise NotASource("The response is not JSON.") from error
        if not isinstance(value, dict):
            raise NotASource("The response is JSON, but not an object.")
        return value, download.url

    def send(self, url: httpx.URL, *, most: int, headers: Mapping[str, str]) -> OutboundResponse:
        """Return the response to one request, whatever its status. Raise Unreachable if there is none in time."""
        left = self.seconds_left
        try:
            if left <= 0:
                raise Failure
            request = OutboundRequest("GET", str(url), headers=headers, seconds=round(left, 2) or left, most=most)
            return outbound_http.send(request, allowed=self.allowed)
        except Refused:
            raise
        except Failure as error:
            late = f"No complete response within {self.seconds:g} seconds."
            raise Unreachable(late if self.seconds_left <= 0.02 else str(error)) from error


def check_status(response: OutboundResponse) -> None:
    if response.status in _LATER or response.status >= 500:
        raise Unreachable(f"The server answered with status {response.status}. Try again later.")
    if not 200 <= response.status < 300:
        raise NotASource(f"The server answered with status {response.status}.")


def _download(url: httpx.URL, response: OutboundResponse, most: int) -> Download:
    check_status(response)
    if not response.complete:
        raise NotASource(f"The response is larger than the limit of {most:,} bytes.")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise NotASource("The response is compressed, but we did not ask for compression.")
    return Download(url, response.headers.get("content-type", ""), response.body)


def joined(base: httpx.URL, target: str) -> httpx.URL:
    """Return `target` as an absolute URL, resolved against `base`."""
    try:
        found = base.join(target).copy_with(fragment=None)
        return found.copy_with(host=found.host)  # httpx validates the host only when it is read
    except (httpx.InvalidURL, ValueError) as error:
        raise NotASource("The source contains an invalid address.") from error
