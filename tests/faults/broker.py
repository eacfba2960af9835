"""A Redis that carries the messages of Celery, and that a test kills and starts again. It keeps nothing on disk."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.faults.sites import wait_for

_COMMAND = "redis-server"


class Broker:
    def __init__(self, port: int) -> None:
        self.url = f"redis://127.0.0.1:{port}/0"
        self._port = port
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        options = ("--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
        process = subprocess.Popen([_COMMAND, *options], stdout=subprocess.DEVNULL)
        wait_for(lambda: process.poll() is not None or self._answers())
        assert process.poll() is None, "redis-server ended at once"
        return process

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=5) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """Kill the broker with all its messages, and start it again."""
        self.kill()
        self._process = self._start()


def require_redis() -> None:
    """Skip a test without redis-server, and say so. With REQUIRE_REDIS=1, that is a failure."""
    if shutil.which(_COMMAND) is not None:
        return
    said = "Tests of Celery need a message broker. Install redis-server."
    if os.environ.get("REQUIRE_REDIS") == "1":
        pytest.fail(said)
    sys.__stderr__.write(f"\n{said}\n")
    pytest.skip(said)


@contextmanager
def running_broker(port: int) -> Iterator[Broker]:
    require_redis()
    broker = Broker(port)
    try:
        yield broker
    finally:
        broker.kill()
