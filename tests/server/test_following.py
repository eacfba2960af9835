"""Answers that go on: their ends, and the places that they give back."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from django.http import HttpResponse

from registry.services.following import EventStream, Later, Stream, WaitingResponse
from skillsite.server import answers, following
from skillsite.server.answers import Answer
from skillsite.server.following import Following

T = TypeVar("T")


@dataclass
class Client:
    """A client as the web server passes it on. It may be gone, or read nothing."""

    gone: bool = False
    stuck: bool = False
    received: list[bytes] = field(default_factory=list)

    async def client_disconnect(self) -> None:
        if not self.gone:
            await asyncio.Event().wait()

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> "Client":
        return self

    async def send_bytes(self, data: bytes) -> None:
        if self.stuck:
            await asyncio.Event().wait()
        self.received.append(data)


class Parts(Stream):
    """A stream of some parts. An exception among them is raised."""

    def __init__(self, *parts: Any) -> None:
        self.seconds, self.parts, self.closed = 0.001, list(parts), 0

    def look(self) -> bytes | None:
        part = self.parts.pop(0)
        if isinstance(part, Exception):
            raise part
        found: bytes | None = part
        return found

    def close(self) -> None:
        self.closed += 1


class Result(Later):
    """A later answer, after some looks without one."""

    def __init__(self, *found: Any, looks: int = 99) -> None:
        self.seconds, self.found, self.left, self.closed = 0.001, list(found), looks, 0

    @property
    def is_late(self) -> bool:
        self.left -= 1
        return self.left < 0

    def look(self) -> HttpResponse | None:
        found: Any = self.found.pop(0)
        if isinstance(found, Exception):
            raise found
        later: HttpResponse | None = found
        return later

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def same_signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run(use: Callable[[Following], Awaitable[T]]) -> T:
    async def main() -> T:
        own = Following(asyncio.get_running_loop())
        try:
            return await use(own)
        finally:
            own.stop()

    return asyncio.run(main())


def stream(client: Any, parts: Stream) -> None:
    start = Answer(200, [], b"start;", 6)
    run(lambda own: own.send_stream(client, start, parts))


def test_a_stream_sends_its_parts_until_it_ends() -> None:
    client = Client()
    stream(client, Parts(b"a", b"", b"b", None, b"never"))
    assert client.received == [b"start;", b"a", b"b"]


@pytest.mark.parametrize(("gone", "parts"), [(True, [b"never"]), (False, [ValueError("broken")])])
def test_a_stream_ends_with_its_client_and_with_an_error(gone: bool, parts: list[Any]) -> None:
    client = Client(gone=gone)
    stream(client, Parts(*parts))
    assert client.received == [b"start;"]


def test_a_stream_ends_when_it_has_sent_as_much_as_may_wait_in_memory() -> None:
    client, part = Client(), b"x" * 100_000
    stream(client, Parts(*[part] * 100))
    assert 256 * 1024 <= sum(map(len, client.received)) < 256 * 1024 + len(part)


def test_a_client_that_does_not_read_is_given_up(settings: Any) -> None:
    settings.SLOW_CLIENT_SECONDS = 0.01
    with pytest.raises(TimeoutError):
        stream(Client(stuck=True), Parts(b"never"))


def test_a_stream_ends_when_the_process_is_told_to_stop() -> None:
    client, parts = Client(), Parts()
    parts.seconds = 3_600

    async def stop_meanwhile(own: Following) -> None:
        sending = asyncio.ensure_future(own.send_stream(client, Answer(200, [], b"start;", 6), parts))  # type: ignore[arg-type]
        while not client.received:
            await asyncio.sleep(0)
        own._stopping.set()
        await sending

    run(stop_meanwhile)
    assert client.received == [b"start;"]


def wait(client: Any, later: Later) -> HttpResponse | None:
    return run(lambda own: own.wait(client, later))


def test_a_later_answer_is_waited_for() -> None:
    found = HttpResponse(b"done")
    assert wait(Client(), Result(None, None, found)) is found


@pytest.mark.parametrize(
    ("client", "later"),
    [
        (Client(), Result(None, None, looks=2)),
        (Client(gone=True), Result(HttpResponse(b"never"))),
        (Client(), Result(ValueError("broken"))),
    ],
    ids=["late", "gone", "error"],
)
def test_nobody_waits_in_vain(client: Client, later: Result) -> None:
    assert wait(client, later) is None


@pytest.mark.usefixtures("db", "same_connection")  # the end of a request looks at the connections
@pytest.mark.parametrize("kind", [EventStream, WaitingResponse])
def test_what_follows_is_closed_once_by_whoever_has_it(kind: Any) -> None:
    def produce(follow: Any, method: str = "GET") -> Answer:
        def application(environ: Any, start_response: Any) -> Any:
            response = kind([b"x"] if kind is EventStream else b"x", follow)
            start_response("200 OK", [])
            return response

        return answers.produce(application, {"REQUEST_METHOD": method})

    parts = Parts()
    answer = produce(parts)
    assert (answer.follow, parts.closed) == (parts, 0)
    answer.close()
    assert parts.closed == 1
    unused = Parts()
    response = kind([b"x"] if kind is EventStream else b"x", unused)
    response.close()
    response.close()
    assert unused.closed == 1


def test_a_later_answer_replaces_status_body_and_its_own_headers() -> None:
    first = Answer(202, [("Content-Type", "a/b"), ("Content-Length", "1"), ("X-Frame-Options", "DENY")], b"x", 1)
    later = answers.merged(first, HttpResponse(json.dumps({}), status=428, content_type="application/problem+json"))
    assert (later.status, later.body, later.length) == (428, b"{}", 2)
    assert sorted(later.headers) == [
        ("Content-Length", "2"), ("Content-Type", "application/problem+json"), ("X-Frame-Options", "DENY"),
    ]  # fmt: skip


def test_the_signals_of_the_process_still_reach_others() -> None:
    """The loop of the web server has its own handlers, which must be called as well."""

    async def terminated(own: Following) -> list[str]:
        loop, seen = asyncio.get_running_loop(), []
        loop.add_signal_handler(signal.SIGTERM, lambda: seen.append("loop"))
        following._when_told_to_stop(lambda: seen.append("ours"))
        os.kill(os.getpid(), signal.SIGTERM)
        while len(seen) < 2:
            await asyncio.sleep(0)
        return seen

    assert sorted(run(terminated)) == ["loop", "ours"]
