"""One listing or one fetch over HTTP: all its requests together end by one deadline."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from registry.core.format import sniffing
from registry.core.limits import DEFAULT, MIB, Limits
from registry.remote import outbound_http
from registry.remote.outbound_http import Answer, Asked, Failure, Refused
from registry.remote.sources.types import SECONDS, NotASource, Unreachable

REDIRECTS = 5
REDIRECTING = frozenset({301, 302, 303, 307, 308})
JSON_BYTES = 8 * MIB
_LATER = frozenset({408, 425, 429})  # statuses that say: ask again another time


@dataclass(frozen=True, slots=True)
class Download:
    """A body, and the address it came from in the end."""

    url: httpx.URL
    content_type: str
    body: bytes

    @property
    def is_page(self) -> bool:
        return sniffing.is_page(self.content_type, self.body)


@dataclass(frozen=True, slots=True)
class HttpSession:
    allowed: frozenset[str]
    limits: Limits = DEFAULT
    seconds: float = SECONDS
    started: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        return self.started + self.seconds - time.monotonic()

    def get(self, url: httpx.URL, *, most: int, accept: str = "*/*") -> Download:
        """The body of a successful answer. Redirects are followed here: what is relative is so to the last of them."""
        for _ in range(REDIRECTS + 1):
            answer = self.ask(url, most=most, headers={"Accept": accept})
            if not (answer.status in REDIRECTING and "location" in answer.headers):
                return _got(url, answer, most)
            url = joined(url, answer.headers["location"])
        raise NotASource(f"It redirects more than {REDIRECTS} times.")

    def get_json(self, url: httpx.URL) -> tuple[dict[str, Any], httpx.URL]:
        """An object, and where it was found."""
        download = self.get(url, most=JSON_BYTES, accept="application/json")
        if download.is_page:
            raise NotASource("It answered with a web page (HTML), not with JSON.")
        try:
            said = json.loads(download.body)
        except (ValueError, RecursionError) as error:
            raise NotASource("The answer is not JSON.") from error
        if not isinstance(said, dict):
            raise NotASource("The answer is JSON, but not an object.")
        return said, download.url

    def ask(self, url: httpx.URL, *, most: int, headers: Mapping[str, str]) -> Answer:
        """The answer to one request, whatever its status; Unreachable where there is none in the time that is left."""
        left = self.left
        try:
            if left <= 0:
                raise Failure
            asked = Asked("GET", str(url), headers=headers, seconds=round(left, 2) or left, most=most)
            return outbound_http.send(asked, allowed=self.allowed)
        except Refused:
            raise
        except Failure as error:
            late = f"There was no complete answer within {self.seconds:g} seconds."
            raise Unreachable(late if self.left <= 0.02 else str(error)) from error


def check_status(answer: Answer) -> None:
    if answer.status in _LATER or answer.status >= 500:
        raise Unreachable(f"It answered with status {answer.status}, which says to come back later.")
    if not 200 <= answer.status < 300:
        raise NotASource(f"It answered with status {answer.status}.")


def _got(url: httpx.URL, answer: Answer, most: int) -> Download:
    check_status(answer)
    if not answer.complete:
        raise NotASource(f"The answer has more than the {most:,} bytes that are allowed.")
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise NotASource("The answer is compressed, which was not asked for.")
    return Download(url, answer.headers.get("content-type", ""), answer.body)


def joined(base: httpx.URL, target: str) -> httpx.URL:
    """The address that `target` is, seen from `base`."""
    try:
        found = base.join(target).copy_with(fragment=None)
        return found.copy_with(host=found.host)  # a name that is no name is only found out when it is read
    except (httpx.InvalidURL, ValueError) as error:
        raise NotASource("It names an address that cannot be read.") from error
