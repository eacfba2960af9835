"""Writes over HTTP beside runs, on SQLite, where all writes take turns."""

import http.client
import os
import statistics
import time
from collections.abc import Iterator

from bench import site
from bench.workflow_results import Row, times
from bench.workflow_site import Place, Talk

SKILLS, AT_ONCE = 20, 4
WRITES, ROUNDS = 60, 5
AIM = 1.5
# The runs that are due beside the writes: more than a worker can end meanwhile.
BESIDE = {"slow": ("steps of 100 ms", 200), "diamond": ("steps without work", 2_500)}


class Writer:
    """Disables and enables a skill in turns, over one connection."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._verb = "disable"

    def write(self) -> float:
        began = time.perf_counter()
        self._connection.request("POST", f"{site.PROJECT}/skills/skill-00001/{self._verb}", headers=self._headers)
        answer = self._connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"A write was answered with {answer.status}.")
        self._verb = "enable" if self._verb == "disable" else "disable"
        return (time.perf_counter() - began) * 1_000


def measure() -> Iterator[Row]:
    """Use the data directory of the site that `site.fresh` made."""
    token, port = site.prepare(SKILLS), int(os.environ["PORT"])
    place = Place("SQLite", {"SKILLSITE_DATA": os.environ["SKILLSITE_DATA"]})
    with site.served(port), place.probe() as probe:
        writer = Writer(port, token)
        probe.ask("publish")
        for _ in range(WRITES):
            writer.write()
        for plan, (what, count) in BESIDE.items():
            probe.ask("release", numbers=probe.ask("queue", plan=plan, count=count))
            alone, beside = _in_turns(writer, probe)
            ratio = beside / alone
            yield Row(
                f"A write over HTTP beside {AT_ONCE} runs with {what}", place.name,
                f"p95 {alone:.1f} → {beside:.1f} ms: {times(ratio)}", f"≤ {times(AIM)}", ratio <= AIM,
            )  # fmt: skip


def _in_turns(writer: Writer, probe: Talk) -> tuple[float, float]:
    """Return the 95th percentiles of writes without and with a worker."""
    alone, beside = [], []
    for _ in range(ROUNDS):
        alone += [writer.write() for _ in range(WRITES)]
        probe.ask("go", at_once=AT_ONCE)
        beside += [writer.write() for _ in range(WRITES)]
        if probe.ask("rest")["due"] < AT_ONCE:
            raise RuntimeError("There were too few runs.")
    return statistics.quantiles(alone, n=20)[18], statistics.quantiles(beside, n=20)[18]
