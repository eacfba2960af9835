"""The limit on answers in memory that clients have not read."""

import pytest

from skillsite.server import unread
from skillsite.server.unread import Unread

LENGTH = 2 * 1024 * 1024
FIT = 64


def test_answers_fit_until_the_limit() -> None:
    waiting = Unread(seconds=60)
    assert [waiting.add(f"client-{number}", LENGTH) for number in range(FIT + 1)] == [True] * FIT + [False]


def test_the_next_request_of_a_connection_frees_its_answer() -> None:
    waiting = Unread(seconds=60)
    for number in range(FIT):
        waiting.add(f"client-{number}", LENGTH)
    waiting.next_request("client-3")
    assert waiting.add("another", LENGTH)
    assert not waiting.add("one-more", LENGTH)


def test_a_connection_counts_once() -> None:
    waiting = Unread(seconds=60)
    for _ in range(FIT * 3):
        waiting.next_request("client")
        assert waiting.add("client", LENGTH)


def test_old_answers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(unread.time, "monotonic", lambda: now)
    waiting = Unread(seconds=60)
    for number in range(FIT):
        waiting.add(f"client-{number}", LENGTH)
    now += 61
    assert waiting.add("another", LENGTH)
