"""Processes that act on one site, one after the other or all at the same moment."""

import fcntl
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults.sites import PATIENCE, Site


class Actor:
    def __init__(self, site: Site) -> None:
        self.process = site.popen("-m", "tests.faults.actor", DJANGO_SETTINGS_MODULE="skillsite.settings")

    def ask(self, verb: str, *arguments: Any, gate: str = "") -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"verb": verb, "arguments": arguments, "gate": gate}) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        try:
            heard: dict[str, Any] = json.loads(line)
        except ValueError:
            raise AssertionError(line + self.process.stdout.read()) from None
        return heard

    def do(self, verb: str, *arguments: Any) -> Any:
        self.ask(verb, *arguments)
        return self.answer()

    def answer(self) -> Any:
        heard = self.hear()
        assert "answer" in heard, heard
        return heard["answer"]

    def leave(self) -> None:
        try:
            self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise


class Crew:
    """The first of them also prepares and looks: `crew.first.do("state", …)`."""

    def __init__(self, site: Site, size: int) -> None:
        self.gate = site.directory / "gate"
        self.gate.touch()
        self.actors = [Actor(site) for _ in range(size)]

    @property
    def first(self) -> Actor:
        return self.actors[0]

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
    crew = Crew(site, size)
    try:
        yield crew
    finally:
        for actor in crew.actors:
            actor.leave()
