"""HTTP requests to addresses from users, guarded against server-side request forgery (SSRF).

Each host name is resolved once. Its IP addresses are checked, and the connection goes to a checked address, so a DNS
answer that changes afterwards (DNS rebinding) has no effect. The same holds for every redirect. Hosts in `allowed` may
be in a private network and may be used without TLS.
"""

import logging
import re
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpcore
import httpx

from registry.core.errors import InvalidRequest
from registry.core.resolve import ip_ranges
from registry.remote import name_lookup
from registry.remote.deadline_stream import DeadlineStream, seconds_left

_CONNECT_SECONDS = 5.0
_URL_CHARS = 500
NO_HOSTS: frozenset[str] = frozenset()

_sending: ContextVar[bool] = ContextVar("sending", default=False)
for _name in ("httpx", "httpcore.connection", "httpcore.http11"):
    # These loggers write whole URLs, and a signed URL is a credential.
    logging.getLogger(_name).addFilter(lambda _: not _sending.get())


class Failure(Exception):
    """No usable response. The message is a sentence and never contains the URL, which may be a credential.

    `sent` is True if a part of the request left, so that the server may have acted on it.
    """

    sent = False


class TimedOut(Failure):
    """No complete response within the time limit."""


class Refused(Failure):
    """The request was not sent, because its target is not allowed."""


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """`complete` is False if the body was cut at the size limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    complete: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class OutboundRequest:
    """A request with its limits: total seconds, size of the response in bytes, redirects.

    `count` is called with the size of each part of the body as it arrives, and may raise an exception to stop.
    `enough` is called with each part, and returns True to stop reading: the response is complete then.
    """

    method: str
    url: str
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 10.0
    most: int = 64 * 1024
    redirects: int = 0
    count: Callable[[int], None] | None = None
    enough: Callable[[bytes], bool] | None = None


def send(request: OutboundRequest, *, allowed: frozenset[str] = NO_HOSTS) -> OutboundResponse:
    """Return the response, whatever its status. A redirect that is not followed is returned as the response."""
    started = time.monotonic()
    transport = GuardedTransport(allowed=allowed, deadline=started + request.seconds)
    client = httpx.Client(
        transport=transport, trust_env=False, timeout=httpx.Timeout(request.seconds, connect=_CONNECT_SECONDS),
        follow_redirects=request.redirects > 0, max_redirects=request.redirects,
        headers={"User-Agent": "skillsite", "Accept-Encoding": "identity", "Connection": "close"},
    )  # fmt: skip
    with _failures(request.seconds, transport), client:
        content, headers = request.content or None, dict(request.headers)
        with client.stream(request.method, request.url, content=content, headers=headers) as response:
            body, complete = _read(response.iter_raw(), request)
            seconds = time.monotonic() - started
            return OutboundResponse(response.status_code, dict(response.headers), body, complete, seconds)


def _read(parts: Iterable[bytes], request: OutboundRequest) -> tuple[bytes, bool]:
    body = bytearray()
    for part in parts:
        if request.count:
            request.count(len(part))
        body += part
        if len(body) > request.most:
            return bytes(body[: request.most]), False
        if request.enough and request.enough(part):
            break
    return bytes(body), True


@contextmanager
def _failures(seconds: float, transport: "GuardedTransport") -> Iterator[None]:
    """Convert the exceptions of httpx and httpcore to Failure."""
    token = _sending.set(True)
    try:
        with _converted(seconds):
            yield
    except Failure as failure:
        failure.sent = transport.sent
        raise
    finally:
        _sending.reset(token)


@contextmanager
def _converted(seconds: float) -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise TimedOut(f"No complete response within {seconds:g} seconds.") from error
    except httpcore.ConnectError as error:
        raise Failure(f"We couldn’t reach this address ({_reason(error)}).") from error
    except (httpcore.ProtocolError, httpcore.NetworkError) as error:
        raise Failure(f"The connection was interrupted: {_summary(error)}.") from error
    except httpx.TooManyRedirects as error:
        raise Failure("Too many redirects.") from error
    except (httpx.RequestError, httpx.InvalidURL, httpcore.UnsupportedProtocol, UnicodeError) as error:
        raise Failure(f"The request failed: {_summary(error)}.") from error


def _reason(error: httpcore.ConnectError) -> str:
    """Return the text of the system's error without its code, such as "connection refused"."""
    text = re.sub(r"^\[[^\]]*\] ", "", str(error)).rstrip(".")
    return text[:1].lower() + text[1:]


def _summary(error: Exception) -> str:
    """Return the message up to the first colon. The rest may quote the remote side, which may repeat a secret."""
    return str(error).partition(":")[0].rstrip(".")


class GuardedTransport(httpx.BaseTransport):
    """Transport that connects only to public addresses and allowed hosts, until a deadline."""

    def __init__(self, *, allowed: frozenset[str], deadline: float) -> None:
        self._allowed = allowed
        self._backend = _Backend(allowed=allowed, deadline=deadline)
        self._pool = httpcore.ConnectionPool(ssl_context=_tls(), network_backend=self._backend)

    @property
    def sent(self) -> bool:
        """Return True if a part of a request left."""
        return self._backend.sent

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        refusal = scheme_refusal(request.url, allowed=self._allowed)
        if refusal:
            raise Refused(refusal)
        url = request.url
        core_request = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw, content=request.stream, extensions=request.extensions,
        )  # fmt: skip
        response = self._pool.handle_request(core_request)
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response.stream), extensions=response.extensions
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._stream.close()


class _Backend(httpcore.NetworkBackend):
    """Resolves a host, checks its addresses and connects to a checked address only."""

    def __init__(self, *, allowed: frozenset[str], deadline: float) -> None:
        self._allowed, self._deadline, self._plain = allowed, deadline, httpcore.SyncBackend()
        self.sent = False

    def _note_sending(self) -> None:
        self.sent = True

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        last: Exception | None = None
        seconds = seconds_left(self._deadline, timeout)
        for address in permitted_addresses(host, port, allowed=self._allowed, seconds=seconds):
            try:
                left = seconds_left(self._deadline, timeout)
                stream = self._plain.connect_tcp(address, port, left, None, socket_options)
                return DeadlineStream(stream, self._deadline, self._note_sending)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last or httpcore.ConnectError("the name has no address")


def permitted_addresses(
    host: str, port: int, *, allowed: frozenset[str], seconds: float = name_lookup.SECONDS
) -> list[str]:
    """Return the IP addresses of a host that may be contacted. Raise Failure if there are none.

    An unknown name and a name in a private network have the same error. Otherwise a caller could find out which names
    exist inside the network.
    """
    if not 0 < port < 65_536:
        raise Failure(f"{port} is not a valid port.")
    addresses = name_lookup.addresses(host, port, seconds=min(seconds, name_lookup.SECONDS))
    if is_allowed(host, port, allowed):
        if not addresses:
            raise Failure(f"We couldn’t find the host {host}.")
        return list(addresses)
    public = [address for address in addresses if ip_ranges.is_public(address)]
    if not public and name_lookup.is_literal(host):
        raise Refused(f"{host} is in a private network. This site does not send requests there.")
    if not public:
        raise Failure(
            f"{host} has no public address: the name is unknown, or it is in a private network. Check the spelling. "
            "The operator of the site can allow a host in a private network."
        )
    return public


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def is_allowed(host: str, port: int, allowed: frozenset[str]) -> bool:
    """Return whether an operator allowed the host, for all ports or for this port."""
    name = host.lower().rstrip(".")
    name = f"[{name}]" if ":" in name else name
    return name in allowed or f"{name}:{port}" in allowed


def scheme_refusal(url: httpx.URL, *, allowed: frozenset[str]) -> str:
    """Return why the scheme is not permitted, or an empty string. HTTP without TLS needs an allowed host."""
    if url.scheme == "https" or (url.scheme == "http" and is_allowed(url.host, url.port or 80, allowed)):
        return ""
    return f"Use https for {url.host or 'this address'}."


def check(text: str, *, allowed: frozenset[str] = NO_HOSTS) -> str:
    """Return the normalised URL, or raise InvalidRequest if requests to it are not permitted.

    The check is repeated with each request.
    """
    url = _parse(text)
    if not url.host:
        raise InvalidRequest("Enter the whole address, including https://. Nothing was saved.")
    if url.userinfo:
        raise InvalidRequest("The address contains a username or password. Remove them. Nothing was saved.")
    if refusal := scheme_refusal(url, allowed=allowed):
        raise InvalidRequest(f"{refusal} Nothing was saved.")
    port = url.port or (443 if url.scheme == "https" else 80)
    if not is_allowed(url.host, port, allowed):
        try:
            permitted_addresses(url.host, port, allowed=allowed)
        except Failure as error:
            raise InvalidRequest(f"{error} Nothing was saved.") from error
    return _check_length(str(url.copy_with(fragment=None)))  # encoding made non-ASCII letters longer


def _check_length(text: str) -> str:
    if len(text) > _URL_CHARS:
        raise InvalidRequest(f"The address has {len(text)} characters. {_URL_CHARS} are allowed. Nothing was saved.")
    return text


def _parse(text: str) -> httpx.URL:
    _check_length(text)
    try:
        url = httpx.URL(text.strip())
        return url.copy_with(host=url.host)  # httpx validates the host only when it is read
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InvalidRequest(f"The address is invalid: {error}. Nothing was saved.") from error


def host_of(url: str) -> str:
    """Return the host and port, which may be shown and logged."""
    return httpx.URL(url).netloc.decode(errors="replace")
