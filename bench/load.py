"""Load tool: keep-alive connections over plain sockets, one process per client.

It does as little as possible with each response, so that the result depends on the server.
"""

import multiprocessing
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Request:
    """Requests for `paths`, in rotation. Every response must have the expected status."""

    paths: Sequence[str]
    headers: Mapping[str, str]
    status: int = 200

    def messages(self, port: int) -> list[bytes]:
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        return [f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}\r\n".encode() for path in self.paths]


@dataclass(frozen=True)
class Result:
    requests: int
    seconds: float
    latencies: list[float]

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds

    def latency(self, share: float) -> float:
        """Return a percentile in milliseconds; `share` is between 0 and 1."""
        return sorted(self.latencies)[int((len(self.latencies) - 1) * share)] * 1_000


def run(port: int, request: Request, *, clients: int, requests: int) -> Result:
    """Send the requests. All clients connect first and then start together."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(clients + 1)
    queue = context.SimpleQueue()
    share = requests // clients
    processes = [
        context.Process(target=_client, args=(port, request, share, number, barrier, queue))
        for number in range(clients)
    ]
    for process in processes:
        process.start()
    barrier.wait(30)
    started = time.perf_counter()
    answers = [queue.get() for _ in processes]
    seconds = time.perf_counter() - started
    for process in processes:
        process.join()
    if errors := [answer for answer in answers if isinstance(answer, str)]:
        raise RuntimeError(errors[0])
    return Result(share * clients, seconds, [latency for answer in answers for latency in answer])


def _client(port: int, request: Request, share: int, number: int, barrier: Any, queue: Any) -> None:
    try:
        queue.put(_ask(port, request, share, number, barrier))
    except Exception as error:
        queue.put(f"{type(error).__name__}: {error}")


def _ask(port: int, request: Request, share: int, number: int, barrier: Any) -> list[float]:
    messages = request.messages(port)
    expected = f"HTTP/1.1 {request.status} ".encode()
    latencies = []
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        barrier.wait(30)
        for turn in range(share):
            started = time.perf_counter()
            connection.sendall(messages[(number * share + turn) % len(messages)])
            _receive(connection, expected)
            latencies.append(time.perf_counter() - started)
    return latencies


def _receive(connection: socket.socket, expected: bytes) -> bytes:
    """Return the head of the response. The body is received and discarded."""
    answer = connection.recv(262_144)
    while (end := answer.find(b"\r\n\r\n")) < 0:
        answer += connection.recv(262_144)
    if not answer.startswith(expected):
        raise RuntimeError(answer[:500].decode(errors="replace"))
    head = answer[:end].lower()
    if not expected.startswith(b"HTTP/1.1 304"):
        length = int(head.partition(b"\r\ncontent-length: ")[2].split(b"\r\n", 1)[0])
        missing = length - (len(answer) - end - 4)
        while missing > 0:
            missing -= len(connection.recv(min(missing, 1_048_576)))
    return head


def etag(port: int, request: Request) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request.messages(port)[0])
        head = _receive(connection, b"HTTP/1.1 200 ")
    return head.partition(b"\r\netag: ")[2].split(b"\r\n", 1)[0].decode()
