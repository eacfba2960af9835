"""A pool of processes that run actions on one site, one after the other or all at the same moment."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults.sites import PATIENCE, ROOT, Site

_ENDED = {"failed": "the process ended"}


class ChildProcess:
    def __init__(self, connection: socket.socket) -> None:
        self.line = connection.makefile("rw", encoding="utf-8")

    def send(self, action: str, *arguments: Any, gate: str = "") -> None:
        self.line.write(json.dumps({"action": action, "arguments": arguments, "gate": gate}) + "\n")
        self.line.flush()

    def receive(self) -> dict[str, Any]:
        line = self.line.readline()
        message: dict[str, Any] = json.loads(line) if line else _ENDED
        return message

    def do(self, action: str, *arguments: Any) -> Any:
        self.send(action, *arguments)
        return self.result()

    @contextmanager
    def killed_during(self, action: str, *arguments: Any) -> Iterator[None]:
        """Start an action, and kill the process at the end of the block. The action must still be running then."""
        pid = self.do("pid")
        self.send(action, *arguments)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGKILL)
        self.wait_until_killed()

    def wait_until_killed(self) -> None:
        assert self.receive() == _ENDED

    def result(self) -> Any:
        message = self.receive()
        assert "result" in message, message
        return message["result"]


class ProcessPool:
    """`do` runs an action in one process, `at_once` in all of them."""

    def __init__(self, site: Site, children: Sequence[ChildProcess]) -> None:
        self.gate = site.directory / "gate"
        self.gate.touch()
        self.children = children

    def do(self, action: str, *arguments: Any) -> Any:
        return self.children[0].do(action, *arguments)

    def at_once(self, action: str, arguments: Sequence[Sequence[Any]]) -> list[Any]:
        """Run an action in every process, with its own arguments. No process starts before all are ready."""
        return self.all_at_once([(action, *own_arguments) for own_arguments in arguments])

    def all_at_once(self, actions: Sequence[Sequence[Any]]) -> list[Any]:
        """Run an action of its own in every process, as `at_once` does."""
        with Path(self.gate).open("a") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            for child, (action, *arguments) in zip(self.children, actions, strict=True):
                child.send(action, *arguments, gate=str(self.gate))
            for child in self.children:
                assert child.receive() == {"ready": True}
        return [child.result() for child in self.children]


@contextmanager
def process_pool(site: Site, size: int, **environment: str) -> Iterator[ProcessPool]:
    pairs = [socket.socketpair() for _ in range(size)]
    numbers = [theirs.fileno() for _, theirs in pairs]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.child_process", *map(str, numbers)], cwd=ROOT, pass_fds=numbers,
        env=site.environment | {"DJANGO_SETTINGS_MODULE": "skillsite.settings"} | environment,
    )  # fmt: skip
    for _, theirs in pairs:
        theirs.close()
    children = [ChildProcess(ours) for ours, _ in pairs]
    try:
        yield ProcessPool(site, children)
    finally:
        for child, (ours, _) in zip(children, pairs, strict=True):
            child.line.close()
            ours.close()
        try:
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            process.wait()
