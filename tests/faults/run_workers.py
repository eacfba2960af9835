"""Sites with runs, and the workers of them: processes that a test kills, stops and starts again."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.effect_server import EffectService, effect_service
from tests.faults.process_pool import ChildProcess, process_pool
from tests.faults.run_flows import AGAIN, ONCE
from tests.faults.sites import Site, alive, kill, wait_for

PROJECT = "flow"
LEASE_SECONDS = 2

_CAPABILITY = """
id: {id}
version: 1.0.0
description: Appends one line to a file.
inputs:
  name: {{type: string, required: true}}
  part: {{type: string, required: true}}
  before: {{type: number, default: 0.03}}
  after: {{type: number, default: 0.03}}
outputs:
  name: {{type: string, required: true}}
properties: {{side_effects: true, idempotent: {idempotent}}}
safety: {{trust_level: standard, requires_confirmation: false}}
binding: {{kind: http, method: POST, url: "{address}/{id}", body: input}}
"""


class Workers:
    """The running processes of one kind. `starter` forks them, and never uses the database."""

    def __init__(self, starter: ChildProcess, log: Path, *arguments: str) -> None:
        self._starter, self.log, self._arguments = starter, log, arguments
        self.running: list[int] = []

    def start(self) -> int:
        """Start a worker, and return the id of its process."""
        self.running.append(self._starter.do("start_worker", str(self.log), *self._arguments))
        return self.running[-1]

    def kill(self, pid: int) -> None:
        kill(pid)
        self.wait_for_end(pid)

    def wait_for_end(self, pid: int) -> None:
        wait_for(lambda: not alive(pid))
        self.running.remove(pid)

    def replace_one(self, chance: random.Random) -> None:
        """Kill a worker at this very moment, and start another."""
        self.kill(chance.choice(self.running))
        self.start()

    def kill_all(self) -> None:
        for pid in self.running:
            kill(pid)
        wait_for(lambda: not any(map(alive, self.running)))
        self.running.clear()


@dataclass(frozen=True)
class RunSite:
    """A project with workflows. `helper` is a process that starts runs, and answers questions as people do."""

    helper: ChildProcess
    service: EffectService
    workers: Workers
    call_workers: Workers

    def start_runs(self, skill: str, names: Sequence[str]) -> list[int]:
        found: list[int] = self.helper.do("start_runs", PROJECT, skill, names)
        return found

    def tend(self) -> dict[str, int]:
        """Answer every open question truthfully. No run may ever be stuck."""
        found: dict[str, int] = self.helper.do("tend", PROJECT, self.service.address)
        assert found["stuck"] == 0
        return found

    def finish(self) -> None:
        """Answer questions until every run has ended."""
        wait_for(lambda: self.tend()["unfinished"] == 0)

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.helper.do("runs_of", PROJECT)
        return found

    def wait_for_run(self, number: int, condition: Callable[[dict[str, Any]], object]) -> None:
        wait_for(lambda: any(run["id"] == number and condition(run) for run in self.runs()))


@contextmanager
def run_site(site: Site, workflows: Mapping[str, str], **environment: str) -> Iterator[RunSite]:
    """Create a project with skills that have these workflows. No worker runs yet, and all end with the block."""
    with effect_service(site.directory) as service:
        settings = _environment(site, service) | environment
        with process_pool(site, 2, **settings) as pool:
            helper, starter = pool.children
            helper.do("make_flow", PROJECT, workflows)
            log = site.directory / "workers.log"
            found = RunSite(helper, service, Workers(starter, log), Workers(starter, log, "--calls"))
            try:
                yield found
            finally:
                found.workers.kill_all()
                found.call_workers.kill_all()


def _environment(site: Site, service: EffectService) -> dict[str, str]:
    directory = site.directory / "capabilities"
    directory.mkdir()
    for name, idempotent in ((ONCE, "false"), (AGAIN, "true")):
        text = _CAPABILITY.format(id=name, idempotent=idempotent, address=service.address)
        (directory / f"{name}.yaml").write_text(text)
    return {
        "CAPABILITIES_DIRS": str(directory),
        "SKILLS_FETCH_ALLOW_HOSTS": service.address.removeprefix("http://"),
        "WORKFLOW_LEASE_SECONDS": str(LEASE_SECONDS),
    }
