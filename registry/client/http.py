"""HTTP requests with retries and with limits on size and time. Redirects are not followed."""

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

from registry.client import strict_json
from registry.client.errors import Misconfigured, RateLimited, Unanswered, Unreachable, Untrustworthy, refused
from registry.client.retry import TOO_MANY, UNAVAILABLE, Retrying
from registry.lib import hosts

_MAX_RESPONSE_SECONDS = 300.0
_MAX_PROBLEM_BYTES = 1024 * 1024
_GOOD = frozenset({200, 201, 202, 304})
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_NOT_CARRIED_OUT = frozenset({503, TOO_MANY})  # statuses of a request that nobody has begun to carry out
_PLAIN = "identity"  # the only Content-Encoding we accept; compressed bodies could expand to gigabytes


@dataclass(frozen=True, slots=True)
class Response:
    """A successful response: 200, 201, 202, or 304 for a request with an ETag."""

    status: int
    body: bytes
    etag: str = ""


@dataclass(slots=True)
class Stats:
    """Counts of requests and bytes, including retries."""

    requests: int = 0
    retries: int = 0
    received: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, *, requests: int = 0, retries: int = 0, received: int = 0) -> None:
        with self._lock:
            self.requests += requests
            self.retries += retries
            self.received += received


class HttpClient:
    """Sends requests with a token. Rejects addresses that would leak it."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout: float,
        retrying: Retrying,
        transport: httpx.BaseTransport | None = None,
        ca_file: Path | None = None,
        allow_http: bool = False,
    ) -> None:
        self.base_url = checked_url(base_url, allow_http=allow_http)
        self.stats = Stats()
        self.retrying = retrying
        self._http = httpx.Client(
            headers={
                "Authorization": f"Bearer {_checked_token(token)}",
                "User-Agent": "skillsite-client",
                "Accept-Encoding": _PLAIN,
            },
            timeout=timeout,
            transport=transport,
            verify=_certificates(self.base_url, ca_file),
            # A proxy from the environment would see the token.
            trust_env=False,
            follow_redirects=False,
        )

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, *, accept: str, limit: int, etag: str = "") -> Response:
        headers = {"Accept": accept, **({"If-None-Match": etag} if etag else {})}
        return self._send("GET", path, headers, None, limit)

    def post(self, path: str, body: Mapping[str, Any], *, limit: int, once: bool = False) -> Response:
        """Send a POST. With `once`, it is not sent again if the site may have carried it out."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return self._send("POST", path, headers, json.dumps(body).encode(), limit, once=once)

    def _send(
        self, method: str, path: str, headers: dict[str, str], content: bytes | None, limit: int, *, once: bool = False
    ) -> Response:
        attempt = 1
        while True:
            try:
                return self._once(method, path, headers, content, limit)
            except _Retry as retry:
                if once and retry.maybe_done:
                    raise Unanswered(f"{retry.error} The site may have carried it out.") from retry.__cause__
                if not self.retrying.pause(attempt, retry.retry_after):
                    raise retry.error from retry.__cause__
            attempt += 1
            self.stats.add(retries=1)

    def _once(self, method: str, path: str, headers: dict[str, str], content: bytes | None, limit: int) -> Response:
        self.stats.add(requests=1)
        try:
            with self._http.stream(method, self.base_url + path, headers=headers, content=content) as response:
                good = response.status_code in _GOOD
                body = self._body(response, limit if good else _MAX_PROBLEM_BYTES)
        except httpx.TransportError as error:
            failure = Unreachable(f"Could not reach {self.base_url}: {_reason(error)}.")
            raise _Retry(failure, maybe_done=not isinstance(error, _NOT_SENT)) from error
        except httpx.HTTPError as error:
            raise Untrustworthy(f"The response of {self.base_url} is invalid: {type(error).__name__}.") from error
        if good:
            if (encoded := response.headers.get("Content-Encoding", _PLAIN).lower()) != _PLAIN:
                raise Untrustworthy(f"The response of {self.base_url} has the unexpected encoding {encoded[:40]!r}.")
            return Response(response.status_code, body, _checked_etag(response.headers.get("ETag", "")))
        raise self._problem(response, body)

    def _body(self, response: httpx.Response, limit: int) -> bytes:
        """Read the body in pieces, and stop if it is too long or too slow."""
        end = time.monotonic() + _MAX_RESPONSE_SECONDS
        pieces: list[bytes] = []
        size = 0
        for piece in response.iter_raw():
            self.stats.add(received=len(piece))
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise Untrustworthy(f"The response of {self.base_url} has more than the allowed {limit:,} bytes.")
            if time.monotonic() > end:
                raise Untrustworthy(f"The response of {self.base_url} took over {_MAX_RESPONSE_SECONDS:.0f} seconds.")
        return b"".join(pieces)

    def _problem(self, response: httpx.Response, body: bytes) -> Exception:
        status = response.status_code
        if 300 <= status < 400:
            return Misconfigured(f"{self.base_url} redirects to another address. Use that address instead.")
        retry_after = self.retrying.retry_after(response.headers.get("Retry-After"))
        if status in UNAVAILABLE:
            failure = Unreachable(f"{self.base_url} is unavailable (status {status}).")
            return _Retry(failure, retry_after, maybe_done=status not in _NOT_CARRIED_OUT)
        if status >= 500:
            return Untrustworthy(f"{self.base_url} failed with status {status}. The log of the site has the details.")
        error = refused(status, _document(body))
        if isinstance(error, RateLimited):
            error.retry_after = retry_after
        return _Retry(error, retry_after) if status == TOO_MANY else error


class _Retry(Exception):
    """Asks for another attempt. `error` is raised if there is none left.

    `maybe_done` is true if the site may have carried the request out.
    """

    def __init__(self, error: Exception, retry_after: float | None = None, *, maybe_done: bool = False) -> None:
        super().__init__()
        self.error = error
        self.retry_after = retry_after
        self.maybe_done = maybe_done


def checked_url(base_url: str, *, allow_http: bool = False) -> str:
    """Return the address without a trailing slash. Raise Misconfigured if it is invalid or would leak the token."""
    try:
        parts = urlsplit(base_url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise Misconfigured("The address of the site must start with http:// or https://, followed by a host name.")
    if parts.username is not None or parts.password is not None:
        raise Misconfigured("The address of the site contains a username or password. Set the token instead.")
    if parts.query or parts.fragment:
        raise Misconfigured("The address of the site contains ? or #. Remove that part.")
    address = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    if parts.scheme == "http" and not allow_http and not _is_this_machine(address):
        raise Misconfigured(
            f"{parts.scheme}://{parts.netloc} would send the token unencrypted, so that others on the network can read "
            "it. Use https://, or pass --allow-http (SKILLSITE_ALLOW_HTTP=1) if the network is yours."
        )
    return address


def _is_this_machine(address: str) -> bool:
    """Check the host that httpx connects to, which reads an address in its own way."""
    try:
        host = httpx.URL(address).host
    except httpx.InvalidURL as error:
        raise Misconfigured(f"The address of the site is invalid: {error}.") from error
    return hosts.is_this_machine(host)


def _checked_etag(etag: str) -> str:
    """Return the ETag, or nothing if it cannot be sent back in a header."""
    return etag if etag.isascii() and etag.isprintable() else ""


def _checked_token(token: str) -> str:
    if not token or not all("!" <= char <= "~" for char in token):
        raise Misconfigured("The token is empty or contains invalid characters. Copy it again.")
    return token


def _certificates(base_url: str, ca_file: Path | None) -> ssl.SSLContext | bool:
    if not base_url.startswith("https:"):
        return False  # never used, because redirects are not followed, and loading them is slow
    if ca_file is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except OSError as error:
        raise Misconfigured(f"Could not read the certificates in {ca_file}: {error.strerror or error}.") from error


def _reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "the request timed out"
    if isinstance(error, httpx.RemoteProtocolError):
        return "the connection was closed before the response was complete"
    return str(error) or type(error).__name__


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = strict_json.parse(body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
