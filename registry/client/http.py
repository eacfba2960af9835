"""One request to the site and its whole answer: retried, bounded in bytes and time, never redirected."""

import json
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from registry.client.errors import Misconfigured, RateLimited, Unreachable, Untrustworthy, refused
from registry.client.retry import AWAY, TOO_MANY, Retrying

_LONGEST_ANSWER_SECONDS = 300.0
_LONGEST_PROBLEM_BYTES = 1024 * 1024
_PLAIN = "identity"  # how a body may be encoded: a few hundred bytes that unfold to gigabytes are not even begun


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: 200, 201, or 304 where an ETag was sent along."""

    status: int
    body: bytes
    etag: str = ""


@dataclass(slots=True)
class Stats:
    """What went over the wire so far, retries included."""

    requests: int = 0
    retries: int = 0
    received: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, *, requests: int = 0, retries: int = 0, received: int = 0) -> None:
        with self._lock:
            self.requests += requests
            self.retries += retries
            self.received += received


class Wire:
    """`base_url` of a site and a token; says no early to what would send the token elsewhere or print it."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout: float,
        retrying: Retrying,
        transport: httpx.BaseTransport | None = None,
        ca_file: Path | None = None,
    ) -> None:
        self.base_url = checked_url(base_url)
        self.stats = Stats()
        self._retrying = retrying
        self._http = httpx.Client(
            headers={
                "Authorization": f"Bearer {_checked_token(token)}",
                "User-Agent": "skillsite-client",
                "Accept-Encoding": _PLAIN,
            },
            timeout=timeout,
            transport=transport,
            verify=_certificates(self.base_url, ca_file),
            # Proxies and certificates from the environment would see the token without anybody having asked.
            trust_env=False,
            follow_redirects=False,
        )

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, *, accept: str, most: int, etag: str = "") -> Answer:
        headers = {"Accept": accept, **({"If-None-Match": etag} if etag else {})}
        return self._send("GET", path, headers, None, most)

    def post(self, path: str, body: Mapping[str, Any], *, most: int) -> Answer:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return self._send("POST", path, headers, json.dumps(body).encode(), most)

    def _send(self, method: str, path: str, headers: dict[str, str], content: bytes | None, most: int) -> Answer:
        attempt = 1
        while True:
            try:
                return self._once(method, path, headers, content, most)
            except _Again as again:
                if not self._retrying.pause(attempt, again.retry_after):
                    raise again.error from again.__cause__
            attempt += 1
            self.stats.add(retries=1)

    def _once(self, method: str, path: str, headers: dict[str, str], content: bytes | None, most: int) -> Answer:
        self.stats.add(requests=1)
        try:
            with self._http.stream(method, self.base_url + path, headers=headers, content=content) as response:
                good = response.status_code in (200, 201, 304)
                body = self._body(response, most if good else _LONGEST_PROBLEM_BYTES)
        except httpx.TransportError as error:
            raise _Again(Unreachable(f"{self.base_url} cannot be reached: {_reason(error)}.")) from error
        except httpx.HTTPError as error:
            raise Untrustworthy(f"The answer of {self.base_url} cannot be read: {type(error).__name__}.") from error
        if good:
            if (encoded := response.headers.get("Content-Encoding", _PLAIN).lower()) != _PLAIN:
                raise Untrustworthy(f"The answer of {self.base_url} is encoded as {encoded[:40]!r}, and was not to be.")
            return Answer(response.status_code, body, response.headers.get("ETag", ""))
        raise self._problem(response, body)

    def _body(self, response: httpx.Response, most: int) -> bytes:
        """Counted as it arrives, piece by piece: neither an endless answer nor an endlessly slow one is waited for."""
        end = time.monotonic() + _LONGEST_ANSWER_SECONDS
        pieces: list[bytes] = []
        size = 0
        for piece in response.iter_raw():
            self.stats.add(received=len(piece))
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise Untrustworthy(f"The answer of {self.base_url} has over {most:,} bytes. {most:,} are allowed.")
            if time.monotonic() > end:
                raise Untrustworthy(f"The answer of {self.base_url} took over {_LONGEST_ANSWER_SECONDS:.0f} seconds.")
        return b"".join(pieces)

    def _problem(self, response: httpx.Response, body: bytes) -> Exception:
        status = response.status_code
        if 300 <= status < 400:
            return Misconfigured(
                f"{self.base_url} answers with a redirect to another address. Set the address of the site to that one."
            )
        retry_after = self._retrying.retry_after(response.headers.get("Retry-After"))
        if status in AWAY:
            return _Again(Unreachable(f"{self.base_url} is away: it answers with status {status}."), retry_after)
        if status >= 500:
            return Untrustworthy(f"{self.base_url} failed with status {status}. The reason is in the log of the site.")
        error = refused(status, _document(body))
        if isinstance(error, RateLimited):
            error.retry_after = retry_after
        return _Again(error, retry_after) if status == TOO_MANY else error


class _Again(Exception):
    """Worth another attempt; `error` is what to say when there is none left."""

    def __init__(self, error: Exception, retry_after: float | None = None) -> None:
        super().__init__()
        self.error = error
        self.retry_after = retry_after


def checked_url(base_url: str) -> str:
    try:
        parts = urlsplit(base_url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise Misconfigured("The address of the site has to start with http:// or https:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise Misconfigured("The address of the site has a name or password in it. Give the token by itself.")
    if parts.query or parts.fragment:
        raise Misconfigured("The address of the site has a ? or # in it. Give it without.")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


def _checked_token(token: str) -> str:
    if not token or not all("!" <= char <= "~" for char in token):
        raise Misconfigured("The token is empty or has characters that no token has. Copy it again.")
    return token


def _certificates(base_url: str, ca_file: Path | None) -> ssl.SSLContext | bool:
    if not base_url.startswith("https:"):
        return False  # no redirect is followed, so none are ever looked at, and reading them all takes its time
    if ca_file is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except OSError as error:
        raise Misconfigured(f"The certificates in {ca_file} cannot be read: {error.strerror or error}.") from error


def _reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "it did not answer in time"
    if isinstance(error, httpx.RemoteProtocolError):
        return "the connection broke off in the middle of the answer"
    return str(error) or type(error).__name__


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
