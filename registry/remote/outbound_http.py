"""Requests of the server to addresses that people gave it. None of them reaches into a private network.

A name is looked up once, each address it has is judged, and the connection goes to the very address that was judged, so
an answer that changes between the two has nothing to change. The same holds after every redirect. Hosts that are
`allowed` by name may be anywhere, and may be spoken to without TLS.
"""

import logging
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpcore
import httpx

from registry.core.errors import InvalidRequest
from registry.core.resolve import ip_ranges

_CONNECT_SECONDS = 5.0
_URL_CHARS = 500
NOBODY: frozenset[str] = frozenset()

_asking: ContextVar[bool] = ContextVar("asking", default=False)
for _name in ("httpx", "httpcore.connection", "httpcore.http11"):
    # They write whole addresses, and a signed one is a credential, whatever the program we are part of logs.
    logging.getLogger(_name).addFilter(lambda _: not _asking.get())


class Failure(Exception):
    """Nothing came back, and why, in a sentence. It never holds the address: that may be a credential."""


class Refused(Failure):
    """We did not even try: the request would have left the public internet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`complete` is false where the body went on after the bytes that were asked for."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    complete: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, and the most it may take: seconds in all, bytes of the answer, redirects."""

    method: str
    url: str
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 10.0
    most: int = 64 * 1024
    redirects: int = 0


def send(asked: Asked, *, allowed: frozenset[str] = NOBODY) -> Answer:
    """The answer, whatever its status; a redirect that may not be followed is an answer like any other."""
    started = time.monotonic()
    transport = Guarded(allowed=allowed, deadline=started + asked.seconds)
    client = httpx.Client(
        transport=transport, trust_env=False, timeout=httpx.Timeout(asked.seconds, connect=_CONNECT_SECONDS),
        follow_redirects=asked.redirects > 0, max_redirects=asked.redirects,
        headers={"User-Agent": "skillsite", "Accept-Encoding": "identity", "Connection": "close"},
    )  # fmt: skip
    with _said_plainly(asked.seconds), client:
        request = {"content": asked.content or None, "headers": dict(asked.headers)}
        with client.stream(asked.method, asked.url, **request) as response:  # type: ignore[arg-type]
            body, complete = _read(response.iter_raw(), asked.most)
            headers = dict(response.headers)
            return Answer(response.status_code, headers, body, complete, time.monotonic() - started)


def _read(parts: Iterable[bytes], most: int) -> tuple[bytes, bool]:
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > most:
            return bytes(body[:most]), False
    return bytes(body), True


@contextmanager
def _said_plainly(seconds: float) -> Iterator[None]:
    before = _asking.set(True)
    try:
        yield
    except httpcore.TimeoutException as error:
        raise Failure(f"There was no complete answer within {seconds:g} seconds.") from error
    except httpcore.ConnectError as error:
        raise Failure(f"The connection failed: {error}.") from error
    except (httpcore.ProtocolError, httpcore.NetworkError) as error:
        raise Failure(f"The connection broke off: {_said(error)}.") from error
    except httpx.TooManyRedirects as error:
        raise Failure("There were too many redirects.") from error
    except (httpx.RequestError, httpx.InvalidURL, httpcore.UnsupportedProtocol, UnicodeError) as error:
        raise Failure(f"The request could not be made: {_said(error)}.") from error
    finally:
        _asking.reset(before)


def _said(error: Exception) -> str:
    """The words of the library. What it quotes after a colon is the other side's, who may repeat what we asked for."""
    return str(error).partition(":")[0].rstrip(".")


class Guarded(httpx.BaseTransport):
    """Carries requests to public addresses and allowed hosts only; all it does ends by the deadline."""

    def __init__(self, *, allowed: frozenset[str], deadline: float) -> None:
        self._allowed = allowed
        self._pool = httpcore.ConnectionPool(
            ssl_context=_tls(), network_backend=_Backend(allowed=allowed, deadline=deadline)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        refusal = scheme_refusal(request.url, allowed=self._allowed)
        if refusal:
            raise Refused(refusal)
        url = request.url
        asked = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw, content=request.stream, extensions=request.extensions,
        )  # fmt: skip
        answer = self._pool.handle_request(asked)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Body(answer.stream), extensions=answer.extensions
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
    """Looks a name up, judges what it finds, and connects to that and nothing else."""

    def __init__(self, *, allowed: frozenset[str], deadline: float) -> None:
        self._allowed, self._deadline, self._plain = allowed, deadline, httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        found = judged(host, port, allowed=self._allowed)
        last: Exception | None = None
        for address in found:
            try:
                left = _left(self._deadline, timeout)
                return _Stream(self._plain.connect_tcp(address, port, left, None, socket_options), self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last or httpcore.ConnectError("the name has no address")


class _Stream(httpcore.NetworkStream):
    """A connection whose every wait is cut at the deadline, so that bytes that drip in do not keep us for ever."""

    def __init__(self, plain: httpcore.NetworkStream, deadline: float) -> None:
        self._plain, self._deadline = plain, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._plain.read(max_bytes, _left(self._deadline, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._plain.write(buffer, _left(self._deadline, timeout))

    def close(self) -> None:
        self._plain.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._plain.start_tls(ssl_context, server_hostname, _left(self._deadline, timeout))
        return _Stream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)


def _left(deadline: float, timeout: float | None) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time is over")
    return left if timeout is None else min(left, timeout)


def resolve(host: str, port: int) -> list[str]:
    """Every address of a host, in the order the system would try them."""
    if not 0 < port < 65_536:
        raise Failure(f"There is no port {port}.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Failure(f"The name {host} cannot be found.") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def judged(host: str, port: int, *, allowed: frozenset[str]) -> list[str]:
    """The addresses of a host that a connection may go to, for whoever dials by themselves; Refused where none may."""
    found = resolve(host, port)
    return found if is_allowed(host, port, allowed) else _public(host, found)


def _public(host: str, found: list[str]) -> list[str]:
    public = [address for address in found if ip_ranges.is_public(address)]
    if not public:
        raise Refused(f"{host} is in a private network, where requests of this site do not go.")
    return public


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def is_allowed(host: str, port: int, allowed: frozenset[str]) -> bool:
    """Named by an operator, for all ports or for this one."""
    name = host.lower().rstrip(".")
    name = f"[{name}]" if ":" in name else name
    return name in allowed or f"{name}:{port}" in allowed


def scheme_refusal(url: httpx.URL, *, allowed: frozenset[str]) -> str:
    """Why this address is not spoken to, or nothing. Without TLS only where an operator allowed the host."""
    if url.scheme == "https" or (url.scheme == "http" and is_allowed(url.host, url.port or 80, allowed)):
        return ""
    return f"{url.host or 'The address'} has to be spoken to over https."


def check(text: str, *, allowed: frozenset[str] = NOBODY) -> str:
    """An address that requests may be sent to later, as it will be used. Each request judges it anew."""
    url = _parsed(text)
    if not url.host:
        raise InvalidRequest("Write the whole address, with https:// at its start. Nothing was stored.")
    if url.userinfo:
        raise InvalidRequest("The address holds a user name or a password. Leave them out. Nothing was stored.")
    if refusal := scheme_refusal(url, allowed=allowed):
        raise InvalidRequest(f"{refusal} Nothing was stored.")
    port = url.port or (443 if url.scheme == "https" else 80)
    if not is_allowed(url.host, port, allowed):
        try:
            judged(url.host, port, allowed=allowed)
        except Refused as error:
            raise InvalidRequest(f"{error} Nothing was stored.") from error
        except Failure as error:
            raise InvalidRequest(f"{error} Look for a typing mistake. Nothing was stored.") from error
    return _short(str(url.copy_with(fragment=None)))  # letters that are not ASCII are longer by now


def _short(text: str) -> str:
    if len(text) > _URL_CHARS:
        raise InvalidRequest(f"The address has {len(text)} characters. {_URL_CHARS} are allowed. Nothing was stored.")
    return text


def _parsed(text: str) -> httpx.URL:
    _short(text)
    try:
        url = httpx.URL(text.strip())
        return url.copy_with(host=url.host)  # a name that is no name is only found out when it is read
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InvalidRequest(f"The address cannot be read: {error}. Nothing was stored.") from error


def host_of(url: str) -> str:
    """The part of an address that may be shown and logged."""
    return httpx.URL(url).netloc.decode(errors="replace")
