"""Processes that act on one site, one after the other or all at the same moment."""

import fcntl
import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults.sites import PATIENCE, ROOT, Site


class Actor:
    def __init__(self, connection: socket.socket) -> None:
        self.line = connection.makefile("rw", encoding="utf-8")

    def ask(self, verb: str, *arguments: Any, gate: str = "") -> None:
        self.line.write(json.dumps({"verb": verb, "arguments": arguments, "gate": gate}) + "\n")
        self.line.flush()

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self.line.readline() or '{"failed": "the process ended"}')
        return heard

    def do(self, verb: str, *arguments: Any) -> Any:
        self.ask(verb, *arguments)
        return self.answer()

    def answer(self) -> Any:
        heard = self.hear()
        assert "answer" in heard, heard
        return heard["answer"]


class Crew:
    """`do` is for one of them, `at_once` for all."""

    def __init__(self, site: Site, actors: Sequence[Actor]) -> None:
        self.gate = site.directory / "gate"
        self.gate.touch()
        self.actors = actors

    def do(self, verb: str, *arguments: Any) -> Any:
        return self.actors[0].do(verb, *arguments)

    def at_once(self, verb: str, arguments: Sequence[Sequence[Any]]) -> list[Any]:
        """Every actor gets its own arguments; none starts before all are ready."""
        with Path(self.gate).open("a") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            for actor, given in zip(self.actors, arguments, strict=True):
                actor.ask(verb, *given, gate=str(self.gate))
            for actor in self.actors:
                assert actor.hear() == {"ready": True}
        return [actor.answer() for actor in self.actors]


@contextmanager
def crew_of(site: Site, size: int) -> Iterator[Crew]:
    pairs = [socket.socketpair() for _ in range(size)]
    numbers = [theirs.fileno() for _, theirs in pairs]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.actor", *map(str, numbers)], cwd=ROOT, pass_fds=numbers,
        env=site.environment | {"DJANGO_SETTINGS_MODULE": "skillsite.settings"},
    )  # fmt: skip
    for _, theirs in pairs:
        theirs.close()
    actors = [Actor(ours) for ours, _ in pairs]
    try:
        yield Crew(site, actors)
    finally:
        for actor, (ours, _) in zip(actors, pairs, strict=True):
            actor.line.close()
            ours.close()
        try:
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            process.wait()
