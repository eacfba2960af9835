"""Clients that follow runs or wait for calls hold no thread of a real site."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.process_pool import process_pool
from tests.faults.sites import PATIENCE, Site, new_site, serving
from tests.faults.slow_clients import PROJECT, ask, connect, head, read_all, status

pytestmark = [pytest.mark.races, pytest.mark.one_database]

STREAMS = 12
PER_TOKEN = 8
CALL = f"{PROJECT}/capabilities"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, template: str) -> Iterator[tuple[Site, list[str]]]:
    """A site with a worker and two threads, and tokens for it."""
    with new_site(tmp_path_factory.mktemp("streams") / "site", template=template) as site:
        with process_pool(site, 1) as helper:
            helper.do("make_project", "demo")
            tokens = [str(helper.do("make_token", "demo", "read", "run")) for _ in range(6)]
        with serving(site, "--no-prepare", WEB_THREADS="2", WORKFLOW_STREAMS=str(STREAMS)):
            yield site, tokens


@pytest.fixture
def site(served: tuple[Site, list[str]]) -> Site:
    return served[0]


@pytest.fixture
def tokens(served: tuple[Site, list[str]]) -> list[str]:
    return served[1]


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def body(answer: bytes) -> dict[str, object]:
    found: dict[str, object] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return found


def waiting_run(site: Site, token: str) -> int:
    """Start a run that waits for a person."""
    answer = ask(site, "POST", f"{CALL}/human.approve/call", token, {"inputs": {"question": "Go on?"}})
    assert status(answer) == 428, answer
    return int(str(body(answer)["run"]))


def follow(held: ExitStack, site: Site, run: int, token: str) -> socket.socket:
    connection = held.enter_context(connect(site))
    connection.sendall(head("GET", f"{PROJECT}/runs/{run}/events", token))
    return connection


def until(connection: socket.socket, text: bytes) -> bytes:
    """Read until a text has arrived."""
    received = b""
    while text not in received:
        part = connection.recv(65_536)
        assert part, received
        received += part
    return received


def test_a_full_site_of_streams_answers_everybody_else(site: Site, tokens: list[str], held: ExitStack) -> None:
    run = waiting_run(site, tokens[0])
    streams = [follow(held, site, run, tokens[number // PER_TOKEN]) for number in range(STREAMS)]
    for stream in streams:
        assert b'"state": "waiting"' in until(stream, b"event: run")
    begun = time.monotonic()
    for _ in range(20):
        assert [status(ask(site, "GET", path, tokens[2])) for path in ("/readyz", f"{PROJECT}/runs/{run}")] == [
            200,
            200,
        ]
    assert time.monotonic() - begun < PATIENCE / 2
    refused = ask(site, "GET", f"{PROJECT}/runs/{run}/events", tokens[2])
    assert (status(refused), body(refused)["code"]) == (503, "busy")
    refused = ask(site, "GET", f"{PROJECT}/runs/{run}/events", tokens[0])
    assert (status(refused), body(refused)["code"]) == (429, "rate-limited")
    assert status(ask(site, "POST", f"{PROJECT}/runs/{run}/cancel", tokens[0])) == 202
    for stream in streams:
        assert b'"state": "cancelled"' in until(stream, b"0\r\n\r\n"), "the stream ends with the run"
    assert status(ask(site, "GET", f"{PROJECT}/runs/{run}/events", tokens[2])) == 200


def test_a_client_that_is_gone_leaves_its_place(site: Site, tokens: list[str], held: ExitStack) -> None:
    run = waiting_run(site, tokens[0])
    with ExitStack() as gone:
        for number in range(STREAMS):
            until(follow(gone, site, run, tokens[number // PER_TOKEN]), b"event: run")
    deadline = time.monotonic() + PATIENCE
    while status(answer := _first_line(site, run, tokens[2])) != 200:
        assert time.monotonic() < deadline, answer
    assert status(ask(site, "POST", f"{PROJECT}/runs/{run}/cancel", tokens[0])) == 202


def _first_line(site: Site, run: int, token: str) -> bytes:
    with ExitStack() as stack:
        return follow(stack, site, run, token).recv(65_536)


def test_calls_that_wait_hold_no_thread(site: Site, tokens: list[str], held: ExitStack) -> None:
    content = json.dumps({"inputs": {"seconds": 2}, "wait_seconds": 20}).encode()
    headers = {"Content_Length": len(content), "Content_Type": "application/json", "Connection": "close"}
    callers = [held.enter_context(connect(site)) for _ in range(6)]
    for caller in callers:
        caller.sendall(head("POST", f"{CALL}/control.sleep/call", tokens[3], **headers) + content)
    for _ in range(10):
        assert status(ask(site, "GET", f"{PROJECT}/runs", tokens[4])) == 200
    answers = [read_all(caller) for caller in callers]
    assert [status(answer) for answer in answers] == [200] * 6
    assert {str(body(answer)["outputs"]) for answer in answers} == {"{'slept': 2}"}


def test_a_call_that_takes_too_long_is_answered_with_its_run(site: Site, tokens: list[str]) -> None:
    answer = ask(site, "POST", f"{CALL}/control.sleep/call", tokens[5], {"inputs": {"seconds": 3}, "wait_seconds": 0.5})
    assert (status(answer), body(answer)["outputs"]) == (202, None)


def test_streams_do_not_keep_a_site_from_stopping(tmp_path: Path, template: str, held: ExitStack) -> None:
    with new_site(tmp_path / "site", template=template) as site:
        with process_pool(site, 1) as helper:
            helper.do("make_project", "demo")
            token = str(helper.do("make_token", "demo", "read", "run"))
        with serving(site, "--no-prepare") as server:
            run = waiting_run(site, token)
            stream = follow(held, site, run, token)
            until(stream, b"event: run")
            assert server.stop() == 0
            assert b"0\r\n\r\n" in read_all(stream), "the stream has an end"
            assert "refused to gracefully stop" not in server.output
