"""A worker of runs is killed, stopped for too long, or ended by a deploy, while another one waits to take over."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.faults.effect_server import release
from tests.faults.run_flows import AGAIN, ONCE, chain, fan, faults_of
from tests.faults.run_workers import LEASE_SECONDS, PROJECT, RunSite, run_site
from tests.faults.sites import Site, wait_for

pytestmark = pytest.mark.races

HELD = 4  # runs, and no worker takes more
NAMES = [f"r{number}" for number in range(HELD)]
PARTS = [f"s{number}" for number in range(4)]
PROBE = "id: faults.probe\nversion: 1.0.0\ninputs: {name: {type: string}}\nsteps: [{id: a, uses: data.echo}]\n"


@dataclass(frozen=True)
class Two:
    flow: RunSite
    holder: int
    other: int


@contextmanager
def two_workers(site: Site, workflow: str, *, held_calls: int = 0, **environment: str) -> Iterator[Two]:
    """Yield two workers: one that holds all runs, with this many calls that the service holds up, and an idle one."""
    workflows = {"work": workflow, "probe": PROBE}
    with run_site(site, workflows, WORKFLOW_RUNS=str(HELD), **environment) as flow:
        if held_calls:
            flow.service.hold()
        holder = flow.workers.start()
        flow.start_runs("work", NAMES)
        wait_for(lambda: all(run["worker"] for run in flow.runs()) and flow.service.arrived() >= held_calls)
        other = flow.workers.start()
        probe(flow)  # the holder has no room for it
        yield Two(flow, holder, other)


def probe(flow: RunSite) -> None:
    """Wait until a worker has carried another run."""
    (number,) = flow.start_runs("probe", ["probe"])
    wait_for(lambda: any(run["id"] == number and run["state"] == "completed" for run in flow.runs()))


class Stalls:
    """The time that this machine gave to others. It counts how late a thread wakes up."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._measure)

    def _measure(self) -> None:
        before = time.monotonic()
        while not self._stop.wait(0.01):
            now = time.monotonic()
            self.seconds += now - before - 0.01
            before = now

    def __enter__(self) -> "Stalls":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def rows(flow: RunSite, numbers: list[int]) -> str:
    return json.dumps(flow.helper.do("rows_of", PROJECT, numbers), indent=1)


def test_another_worker_goes_on_within_a_second_after_the_lease_of_a_killed_one(site: Site) -> None:
    with two_workers(site, chain(24, AGAIN, before=0.1)) as two, Stalls() as stalls:
        flow = two.flow
        flow.workers.kill(two.holder)
        killed_at = time.time()
        leases = [run["lease"] for run in flow.runs() if run["fence"] == 1 and run["lease"]]
        flow.finish()
        effects = flow.service.effects()
    assert len(leases) == HELD
    for name in NAMES:
        later = [each.at for each in effects if each.name.startswith(f"{name}/") and each.at > killed_at + 0.5]
        assert min(leases) < min(later) <= killed_at + LEASE_SECONDS + 1 + stalls.seconds


def test_a_worker_that_was_stopped_past_its_lease_writes_nothing(site: Site) -> None:
    with two_workers(site, fan(len(PARTS), ONCE), held_calls=len(PARTS) * HELD) as two:
        flow = two.flow
        numbers = [run["id"] for run in flow.runs()]
        flow.helper.do("stop_worker", two.holder, flow.service.address)
        flow.finish()
        before = rows(flow, numbers)
        flow.workers.kill(two.other)
        os.kill(two.holder, signal.SIGCONT)
        probe(flow)
        assert rows(flow, numbers) == before
        assert faults_of(NAMES, {ONCE: PARTS}, flow.service.effects()) == []
        assert flow.helper.do("record_of_runs", PROJECT)["doubts"] == len(PARTS) * HELD


def test_a_worker_that_is_told_to_end_gives_its_runs_back_at_once(site: Site) -> None:
    with two_workers(site, chain(4, ONCE), held_calls=HELD, WORKFLOW_LEASE_SECONDS="600") as two:
        flow = two.flow
        os.kill(two.holder, signal.SIGTERM)
        release(flow.service.address)
        flow.workers.wait_for_end(two.holder)
        flow.finish()
        assert [(run["state"], run["fence"]) for run in flow.runs()[:HELD]] == [("completed", 2)] * HELD
        assert faults_of(NAMES, {ONCE: PARTS}, flow.service.effects()) == []
        assert flow.helper.do("record_of_runs", PROJECT)["doubts"] == 0
