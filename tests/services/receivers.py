"""A real HTTP server on loopback with the responses that a test chooses."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Behaviour = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Receiver:
    """Received requests. `behave` writes the response. `released` ends hanging ones, and is set when the test ends."""

    port: int = 0
    got: list[Received] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    behave: Behaviour = field(default_factory=lambda: answering(204))

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/hook") -> str:
        return f"http://{self.host}{path}"


def answering(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def hanging(receiver: Receiver) -> Behaviour:
    """Accept the request and send nothing until the test ends."""
    return lambda _: receiver.released.wait() and None


def dripping(receiver: Receiver) -> Behaviour:
    """Send a header byte by byte, each within a timeout that counts from the last byte."""

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not receiver.released.wait(0.005):
            try:
                handler.wfile.write(b"a")
            except OSError:
                return

    return behave


def endless(receiver: Receiver) -> Behaviour:
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not receiver.released.is_set():
            try:
                handler.wfile.write(b"x" * 65_536)
            except OSError:
                return

    return behave


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def handle_any(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        receiver.got.append(Received(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        receiver.arrived.set()
        receiver.behave(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 - named by the library

    def log_message(self, *_: object) -> None:
        """Log nothing. Tests check the received requests instead."""


class _Server(ThreadingHTTPServer):
    """A server that stays open until the process ends. Each test gets it with a new receiver."""

    receiver: Receiver


_idle: list[_Server] = []


@contextmanager
def receiving() -> Iterator[Receiver]:
    server = _idle.pop() if _idle else _start()
    receiver = server.receiver = Receiver(server.server_port)
    try:
        yield receiver
    finally:
        receiver.released.set()
        _idle.append(server)


def _start() -> _Server:
    server = _Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
