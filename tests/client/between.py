"""A proxy server between the client and the site. It counts requests and can misbehave."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from tests import effort

_PASSED_ON = ("Authorization", "Accept", "If-None-Match", "Content-Type", "User-Agent")


@dataclass(frozen=True)
class Reply:
    """A response. `cut` closes the connection after that many bytes, `hang` never responds, `slow` drips bytes."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang: bool = False
    slow: bool = False


Fault = Callable[["Between", str, Callable[[], Reply]], Reply | None]


# Loading certificates takes 10 ms for each client, and the site speaks plain HTTP.
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass
class Between:
    upstream: str
    url: str = ""
    fault: Fault = lambda between, path, forward: None
    requests: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    bytes_sent: int = 0
    released: threading.Event = field(default_factory=threading.Event)
    http: httpx.Client = field(
        default_factory=lambda: httpx.Client(trust_env=False, verify=_NO_CERTIFICATES, timeout=effort.PATIENCE)
    )

    def transferred(self, part: str = "bundle.zip") -> list[str]:
        return [path for path in self.requests if part in path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_GET(self) -> None:
        between = self.server.between
        length = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(length)
        between.requests.append(self.path)
        between.authorizations.append(self.headers.get("Authorization", ""))

        def forward() -> Reply:
            headers = {name: self.headers[name] for name in _PASSED_ON if name in self.headers}
            answer = between.http.request(self.command, between.upstream + self.path, headers=headers, content=content)
            kept = {k: v for k, v in answer.headers.items() if k in ("etag", "content-type", "retry-after")}
            return Reply(answer.status_code, answer.content, kept)

        self._send(between.fault(between, self.path, forward) or forward())

    do_POST = do_GET  # noqa: N815 - the name that http.server looks for

    def _send(self, reply: Reply) -> None:
        if reply.hang:
            self.server.between.released.wait(effort.PATIENCE)
            self.close_connection = True
            return
        # Counted before it is sent: who has the answer may look at the count at once.
        self.server.between.bytes_sent += len(reply.body)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if reply.slow:
            self._drip(reply.body)
            return
        self.wfile.write(reply.body if reply.cut is None else reply.body[: reply.cut])
        if reply.cut is not None:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def _drip(self, body: bytes) -> None:
        """Send one byte at a time until the reader disconnects or the test ends."""
        for byte in body:
            self.wfile.write(bytes([byte]))
            if self.server.between.released.wait(0.005):
                break
        self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Log nothing. The tests check `requests` instead."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    between: Between

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore broken connections, because some tests kill the client."""


def times(count: int, reply: Reply) -> Fault:
    """Return a fault that sends the reply `count` times, and then forwards requests."""
    left = [reply] * count
    return lambda *_: left.pop() if left else None


@contextmanager
def between(upstream: str) -> Iterator[Between]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.between = Between(upstream.rstrip("/"), f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.001})
        thread.start()
        try:
            yield server.between
        finally:
            server.between.released.set()
            server.shutdown()
            thread.join()
            server.between.http.close()
