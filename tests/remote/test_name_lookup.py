"""Look-ups of host names: all addresses, and a deadline that the system's resolver does not have."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from registry.remote import name_lookup
from registry.remote.outbound_http import Failure, OutboundRequest, send
from tests import effort


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Make look-ups block until the test ends, and list the names asked for."""
    asked: list[str] = []
    released = threading.Event()

    def block(host: str, *_: Any, **__: Any) -> Any:
        asked.append(host)
        released.wait(effort.PATIENCE)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", block)
    yield asked
    released.set()
    for _ in range(name_lookup.AT_ONCE):  # wait for every thread to end
        assert name_lookup._free.acquire(timeout=effort.PATIENCE)
    for _ in range(name_lookup.AT_ONCE):
        name_lookup._free.release()


def test_every_address_is_returned_once(names: dict[str, list[str]]) -> None:
    names["a.test"] = ["1.1.1.1"]
    assert name_lookup.addresses("a.test", 443) == ("1.1.1.1",)
    assert name_lookup.addresses("nowhere.invalid", 443) == ()


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2606:4700::1111"])
def test_an_ip_address_needs_no_look_up(host: str, stuck: list[str]) -> None:
    assert name_lookup.addresses(host, 443) == (host.strip("[]"),)
    assert stuck == []


def test_a_look_up_ends_at_the_deadline(stuck: list[str]) -> None:
    started = time.monotonic()
    with pytest.raises(Failure, match="has no public address"):
        send(OutboundRequest("GET", "https://slow.test/", seconds=0.1))
    assert time.monotonic() - started < effort.PATIENCE / 2
    assert stuck == ["slow.test"]


def test_the_number_of_look_ups_that_block_is_limited(stuck: list[str]) -> None:
    for _ in range(name_lookup.AT_ONCE + 5):
        assert name_lookup.addresses("slow.test", 443, seconds=0.01) == ()
    assert len(stuck) == name_lookup.AT_ONCE


def test_a_look_up_without_a_thread_takes_no_place_forever(
    names: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    names["a.test"] = ["1.1.1.1"]
    with monkeypatch.context() as exhausted:
        exhausted.setattr(threading.Thread, "start", refuse)
        for _ in range(name_lookup.AT_ONCE + 1):
            assert name_lookup.addresses("a.test", 443, seconds=0.01) == ()
    assert name_lookup.addresses("a.test", 443) == ("1.1.1.1",)
