"""A pytest plugin that ends a process whose test hangs, with the stack of every thread."""

import faulthandler
import os
import threading
import time
from collections.abc import Generator

import pytest

from tests import effort

_SECONDS = 300.0
# Each start of the timer starts a thread, which takes up to a millisecond. `faulthandler_timeout` starts one per test.
_RESTART_SECONDS = 10.0


class Watchdog:
    """A timer outside of Python, so that it also ends a test that holds the interpreter lock."""

    def __init__(self) -> None:
        self._stderr = os.dup(2)  # before pytest captures it
        self._started = 0.0
        self._idle = True
        threading.Thread(target=self._restart_while_idle, daemon=True).start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._idle = False
        if time.monotonic() > self._started + _RESTART_SECONDS:
            self._restart()
        result = yield
        self._idle = True
        return result

    def _restart(self) -> None:
        self._started = time.monotonic()
        faulthandler.dump_traceback_later(_SECONDS, exit=True, file=self._stderr)

    def _restart_while_idle(self) -> None:
        """Keep the timer from ending a worker that waits for others, which may take longer than any test."""
        while not threading.Event().wait(_RESTART_SECONDS):
            if self._idle and self._started:
                self._restart()


def pytest_configure(config: pytest.Config) -> None:
    debugging = config.getoption("usepdb") or config.getoption("trace")
    if not effort.SOAKING and not debugging:
        config.pluginmanager.register(Watchdog())
