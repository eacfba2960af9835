"""A service with effects: it appends one line to a file for each POST, and can say which effects have happened.

It runs in a process of its own, so that no worker that is killed takes it along. The last part of the address is the
name of the capability. The body says how many seconds pass before and after the effect.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.faults.sites import ROOT


@dataclass(frozen=True)
class Effect:
    """One line of the file. `name` is that of the run and the part of it, which the body of the request has."""

    at: float
    capability: str
    name: str
    idempotency_key: str


@dataclass(frozen=True)
class EffectService:
    address: str
    file: Path

    def effects(self) -> list[Effect]:
        return [Effect(*json.loads(line)) for line in self.file.read_text().splitlines()]

    def hold(self) -> None:
        """Let requests wait before their effects, until they are released."""
        _get(f"{self.address}/hold")

    def arrived(self) -> int:
        """Return the number of requests that have arrived, whether or not they have had their effect."""
        return int(_get(f"{self.address}/arrived"))


def happened(address: str, capability: str, key: str) -> bool:
    """Return whether a call has had its effect, as soon as every request that came before this question has ended."""
    return [capability, key] in _get(f"{address}/effects")


def release(address: str) -> None:
    _get(f"{address}/release")


def _get(address: str) -> Any:
    with urlopen(address, timeout=60) as response:
        return json.load(response)


@contextmanager
def effect_service(directory: Path) -> Iterator[EffectService]:
    file = directory / "effects"
    file.touch()
    command = [sys.executable, "-m", "tests.faults.effect_server", str(file)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield EffectService(f"http://127.0.0.1:{int(process.stdout.readline())}", file)
        finally:
            process.kill()


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"
    timeout = 2.0  # for a client that was stopped in the middle of its request

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.released.wait()
        time.sleep(body["before"])
        line = [time.time(), self.path.strip("/"), f"{body['name']}/{body['part']}", self.headers["Idempotency-Key"]]
        os.write(self.server.file, json.dumps(line).encode() + b"\n")
        time.sleep(body["after"])
        self._answer({"name": body["name"]})

    def do_GET(self) -> None:
        server = self.server
        match self.path:
            case "/arrived":
                self._answer(server.posts)
            case "/hold":
                self._answer(server.released.clear())
            case "/release":
                self._answer(server.released.set())
            case _:
                server.wait_for_earlier(self.request)
                lines = server.path.read_text().splitlines()
                self._answer([[capability, key] for _, capability, _, key in map(json.loads, lines)])

    def parse_request(self) -> bool:
        known = super().parse_request()
        if known and self.command == "POST":
            self.server.count_post()
        return known

    def _answer(self, value: Any) -> None:
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing. The file has the effects."""


class _Server(ThreadingHTTPServer):
    """Numbers its connections in the order in which clients opened them."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, path: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.path = path
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND)
        self.posts = 0
        self.released = threading.Event()
        self.released.set()
        self._open: dict[socket.socket, int] = {}
        self._numbers = count()
        self._closed = threading.Condition()

    def count_post(self) -> None:
        with self._closed:
            self.posts += 1

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._closed:
            self._open[request] = next(self._numbers)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._closed:
            self._open.pop(request, None)
            self._closed.notify_all()
        super().shutdown_request(request)

    def wait_for_earlier(self, request: Any) -> None:
        with self._closed:
            number = self._open[request]
            self._closed.wait_for(lambda: min(self._open.values()) >= number)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that were killed."""


def main() -> None:
    server = _Server(Path(sys.argv[1]))
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
