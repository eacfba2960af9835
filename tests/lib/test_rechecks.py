"""A state that one thread checks again, while the others go on with the last one."""

import threading
from collections.abc import Callable

import pytest

from registry.lib.rechecks import Rechecked
from tests.effort import PATIENCE


class Counted(Rechecked[str]):
    """Counts its checks, and does `meanwhile` in each."""

    def __init__(self, reload_seconds: float, clock: Callable[[], float]) -> None:
        super().__init__(reload_seconds, clock)
        self.lasts: list[str | None] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def _look_again(self, last: str | None) -> str:
        self.meanwhile()
        self.lasts.append(last)
        return f"state {len(self.lasts)}"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_state_is_checked_again_after_the_interval() -> None:
    clock = Clock()
    state = Counted(5, clock)
    assert (state.snapshot(), state.snapshot()) == ("state 1", "state 1")
    clock.now = 4.9
    assert state.snapshot() == "state 1"
    clock.now = 5
    assert (state.snapshot(), state.snapshot()) == ("state 2", "state 2")
    assert state.lasts == [None, "state 1"]


def test_without_an_interval_only_a_refresh_checks_again() -> None:
    clock = Clock()
    state = Counted(0, clock)
    state.snapshot()
    clock.now = 1e9
    assert state.snapshot() == "state 1"
    assert (state.refresh(), state.snapshot()) == ("state 2", "state 2")


def test_others_get_the_last_state_while_one_checks() -> None:
    clock, begun, go_on = Clock(), threading.Event(), threading.Event()
    state = Counted(5, clock)
    state.snapshot()

    def wait() -> None:
        begun.set()
        assert go_on.wait(PATIENCE)

    state.meanwhile, clock.now = wait, 5
    checking = threading.Thread(target=state.snapshot)
    checking.start()
    assert begun.wait(PATIENCE)
    clock.now = 100
    assert state.snapshot() == "state 1"
    go_on.set()
    checking.join(PATIENCE)
    state.meanwhile = lambda: None
    assert state.snapshot() == "state 3"


def test_a_check_that_fails_keeps_the_last_state_and_blocks_nobody() -> None:
    clock = Clock()
    state = Counted(5, clock)
    state.snapshot()

    def fail() -> None:
        raise OSError("gone")

    state.meanwhile, clock.now = fail, 5
    with pytest.raises(OSError, match="gone"):
        state.snapshot()
    assert state.snapshot() == "state 1"
    state.meanwhile, clock.now = (lambda: None), 10
    assert state.snapshot() == "state 2"
