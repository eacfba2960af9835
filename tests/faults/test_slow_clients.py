"""Clients that send or read slowly do not keep the site from answering others."""

import json
import random
import select
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from tests.conftest import skill_text
from tests.faults.process_pool import process_pool
from tests.faults.sites import Site, new_site, serving
from tests.faults.slow_clients import PROJECT, ask, connect, head, read_all, slow_readers, slow_senders, status
from tests.faults.uploads import request

pytestmark = [pytest.mark.races, pytest.mark.one_database]

MANY = 24


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, template: str) -> Iterator[tuple[Site, str]]:
    """A site with few threads and little patience, and a token for it."""
    with new_site(tmp_path_factory.mktemp("slow") / "site", template=template) as site:
        with process_pool(site, 1) as helper:
            helper.do("make_project", "demo")
            token = str(helper.do("make_token", "demo", "read", "write"))
        with serving(site, "--no-prepare", "--no-worker", WEB_THREADS="2", SLOW_CLIENT_SECONDS="2"):
            yield site, token


@pytest.fixture
def site(served: tuple[Site, str]) -> Site:
    return served[0]


@pytest.fixture
def token(served: tuple[Site, str]) -> str:
    return served[1]


@pytest.fixture
def slow() -> Iterator[ExitStack]:
    """Closes the connections of slow clients at the end of the test."""
    with ExitStack() as stack:
        yield stack


def assert_everything_works(site: Site, token: str, name: str) -> None:
    assert [status(ask(site, "GET", probe)) for probe in ("/healthz", "/readyz")] == [200, 200]
    assert status(ask(site, "POST", f"{PROJECT}/skills", token, {"skill_md": skill_text(name)})) == 201
    assert name.encode() in ask(site, "GET", f"{PROJECT}/catalog", token)


def test_slow_senders_hold_no_thread_and_are_cut_off(site: Site, token: str, slow: ExitStack) -> None:
    form = {
        "Content_Type": "application/x-www-form-urlencoded",
        "Cookie": f"csrftoken={'x' * 32}",
        "Accept": "text/html",
    }
    text = {"Content_Type": "application/json", "token": token}
    senders = slow_senders(slow, site, "/sign-in/", MANY, **form)
    senders += slow_senders(slow, site, f"{PROJECT}/skills", MANY, **text)
    senders += slow_senders(slow, site, "/mcp", MANY, **text)
    assert_everything_works(site, token, "first")
    for sender in senders:
        sender.sendall(b" ")
    answers = [read_all(sender) for sender in senders]
    assert {status(answer) for answer in answers} == {408}
    assert b"<h1>The request was too slow</h1>" in answers[0]  # to a browser
    assert b'"code": "request-timeout"' in answers[MANY]
    assert b"\r\n\r\nThe request arrived too slowly." in answers[-1]


def test_slow_readers_hold_no_thread_and_are_cut_off(site: Site, token: str, slow: ExitStack) -> None:
    chance = random.Random(1)
    parts = {f"assets/{number}.bin": chance.randbytes(1 << 20) for number in range(12)}
    large = Bundle({SKILL_MD: skill_text("large").encode(), **parts})
    with connect(site) as uploading:
        uploading.sendall(request(site, token, "demo", large))
        assert status(uploading.recv(1_000)) == 201
    readers = slow_readers(slow, site, f"{PROJECT}/export.zip", token, 12)
    assert_everything_works(site, token, "second")
    whole = ask(site, "GET", f"{PROJECT}/export.zip", token)
    assert whole.endswith(b"PK\x05\x06" + whole[-18:]), "the end of a zip file"
    assert len(whole) > 12 << 20
    assert max(len(read_all(reader)) for reader in readers) < len(whole), "the server ended the connections"


def test_a_connection_that_sends_no_request_is_closed(site: Site, token: str, slow: ExitStack) -> None:
    silent, halfway = slow.enter_context(connect(site)), slow.enter_context(connect(site))
    halfway.sendall(head("GET", "/healthz")[:20])
    assert [read_all(silent), read_all(halfway)] == [b"", b""]


def test_probes_answer_while_every_thread_is_busy(site: Site, token: str, slow: ExitStack) -> None:
    writer = sqlite3.connect(site.data / "skillsite.sqlite3", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")  # every request that saves something waits for this transaction
    busy = [slow.enter_context(connect(site)) for _ in range(4)]
    for number, one in enumerate(busy):
        content = json.dumps({"skill_md": skill_text(f"busy-{number}")}).encode()
        kind = {"Content_Type": "application/json", "Connection": "close"}
        one.sendall(head("POST", f"{PROJECT}/skills", token, Content_Length=len(content), **kind) + content)
    assert [status(ask(site, "GET", probe)) for probe in ("/healthz", "/readyz")] == [200, 200]
    assert select.select(busy, [], [], 0)[0] == [], "the threads were busy all the time"
    writer.execute("ROLLBACK")
    writer.close()
    assert {status(read_all(one)) for one in busy} == {201}


def test_a_chunked_body_arrives_and_one_that_is_too_long_is_refused(site: Site, token: str, slow: ExitStack) -> None:
    content = json.dumps({"skill_md": skill_text("in-chunks")}).encode()
    chunks = {"Transfer_Encoding": "chunked", "Content_Type": "application/json", "Connection": "close"}
    whole, endless = slow.enter_context(connect(site)), slow.enter_context(connect(site))
    for one in (whole, endless):
        one.sendall(head("POST", f"{PROJECT}/skills", token, **chunks))
        one.sendall(f"{len(content):x}\r\n".encode() + content + b"\r\n")
    whole.sendall(b"0\r\n\r\n")
    assert status(read_all(whole)) == 201
    with suppress(ConnectionError):
        while not select.select([endless], [], [], 0)[0]:
            endless.sendall(b"100000\r\n" + bytes(1 << 20) + b"\r\n")
    assert status(read_all(endless)) == 413


@pytest.mark.parametrize("rest", [b"", b"5\r\n{", b"no length\r\n"])
def test_a_chunked_body_without_its_last_chunk_is_refused(rest: bytes, site: Site, token: str, slow: ExitStack) -> None:
    content = json.dumps({"skill_md": skill_text("cut")}).encode()
    chunks = {"Transfer_Encoding": "chunked", "Content_Type": "application/json"}
    sender = slow.enter_context(connect(site))
    sender.sendall(head("POST", f"{PROJECT}/skills", token, **chunks))
    sender.sendall(f"{len(content):x}\r\n".encode() + content + b"\r\n" + rest)
    sender.shutdown(socket.SHUT_WR)
    answer = read_all(sender)
    assert status(answer) == 400
    assert b'"code": "incomplete"' in answer
    assert status(ask(site, "GET", f"{PROJECT}/skills/cut", token)) == 404


def test_strangers_cannot_take_the_places_of_large_bodies(site: Site, token: str, slow: ExitStack) -> None:
    large = {"Content_Type": "application/x-www-form-urlencoded", "Content_Length": 50 << 20}
    for credentials in ({}, {"Cookie": "sessionid=" + "x" * 32}, {"Authorization": "Bearer sks_" + "x" * 43}):
        sender = slow.enter_context(connect(site))
        sender.sendall(head("POST", "/sign-in/", **large, **credentials))
        assert status(sender.recv(1_000)) == 403
    stranger = slow.enter_context(connect(site))
    stranger.sendall(head("POST", f"{PROJECT}/bundles", "sks_" + "x" * 43, **large))
    assert status(stranger.recv(1_000)) == 401
    chunked = slow.enter_context(connect(site))
    chunked.sendall(head("POST", "/sign-in/", Transfer_Encoding="chunked", Connection="close"))
    with suppress(ConnectionError):
        for _ in range(4):
            chunked.sendall(b"80000\r\n" + bytes(1 << 19) + b"\r\n")
    assert status(read_all(chunked)) == 413


def test_a_body_over_the_limit_is_refused_before_it_is_sent(site: Site, token: str, slow: ExitStack) -> None:
    sender = slow.enter_context(connect(site))
    sender.sendall(head("POST", f"{PROJECT}/bundles", token, Content_Length=60 << 20, Content_Type="application/zip"))
    assert status(sender.recv(1_000)) == 413
