"""The run engine: processor time and commits of a step, workers, parked runs, and Prefect on the same steps.

    python -m bench.workflows [--prefect PATH_TO_PYTHON] [--only cpu,pages] [--write]     (about eight minutes)

`--write` writes bench/workflows.md. `--prefect` is the Python of a virtual environment with Prefect 3. Redis and
PostgreSQL run below a temporary directory. Each aim is a ratio to a reference of the same run, a count, or processor
time, so that other work on the machine affects it as little as possible.
"""

import argparse
import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from bench import site, workflow_pages, workflow_plans, workflow_site
from bench.workflow_results import Row, table, times
from bench.workflow_site import Place, Talk

ROUNDS, RUNS = 5, 20
PARKED, ENDED, STARTS = 10_000, 50_000, 3
THREADS = "8"  # of each worker, where workers are compared
CPU_AIMS = {"SQLite": 2.0, "PostgreSQL": 3.0}  # ms a step
COMMIT_AIMS = {"diamond": workflow_plans.STEPS * 4 // 5, "chain": workflow_plans.STEPS + 4}
SHORT, LONG = 60, 240  # steps of chains
FEW, MANY = 250, 1_000  # items
SCALED_RUNS, SCALED_ROUNDS = 60, 2
FLOWS = 8
_PATIENCE = 300.0


@dataclass
class Bench:
    directory: Path
    stack: ExitStack
    prefect: Path | None

    @cached_property
    def sqlite(self) -> Place:
        return workflow_site.sqlite(self.directory)

    @cached_property
    def postgresql(self) -> Place:
        return self.stack.enter_context(workflow_site.postgresql(self.directory))

    @property
    def places(self) -> Iterator[Place]:
        yield self.sqlite
        yield self.postgresql


def cpu(bench: Bench) -> Iterator[Row]:
    """Processor time and commits of a step without work."""
    for place in bench.places:
        with place.probe() as probe:
            probe.ask("publish", chains=[SHORT, LONG])
            for plan in ("diamond", "chain"):
                rounds = [probe.ask("run", plan=plan, count=RUNS) for _ in range(ROUNDS)]
                worker = statistics.median(each["worker"] / each["steps"] * 1_000 for each in rounds)
                start = statistics.median(each["start"] / RUNS * 1_000 for each in rounds)
                name = f"Processor time of a step, {plan} of {workflow_plans.STEPS}"
                aim = CPU_AIMS[place.name]
                yield Row(name, place.name, f"{worker:.2f} ms", f"≤ {aim:.1f} ms", worker <= aim)
                yield Row(f"Processor time of a start, {plan}", place.name, f"{start:.1f} ms")
                counts, most = probe.ask("statements", plan=plan), COMMIT_AIMS[plan]
                yield Row(
                    f"Commits of a run, {plan}", place.name, f"{counts['commits']}, {counts['statements']} statements",
                    f"≤ {most}", counts["commits"] <= most,
                )  # fmt: skip
            yield from _growth(place, probe)


def _growth(place: Place, probe: Talk) -> Iterator[Row]:
    def milliseconds(**asked: object) -> float:
        return min(probe.ask("run", count=1, **asked)["worker"] for _ in range(ROUNDS)) * 1_000

    small, large = milliseconds(plan="each", items=FEW), milliseconds(plan="each", items=MANY)
    yield _linear(f"Processor time of a foreach, {FEW:,} → {MANY:,} items", place, small, large, MANY / FEW)
    small, large = milliseconds(plan=f"chain-{SHORT}"), milliseconds(plan=f"chain-{LONG}")
    yield _linear(f"Processor time of a chain, {SHORT} → {LONG} steps", place, small, large, LONG / SHORT)
    small, large = milliseconds(plan="nested", items=FEW), milliseconds(plan="nested", items=MANY)
    name = f"Processor time of a foreach of a skill with 5 steps, {FEW:,} → {MANY:,} items"
    yield _linear(name, place, small, large, MANY / FEW)


def _linear(name: str, place: Place, small: float, large: float, growth: float) -> Row:
    ratio, most = large / small, 1.25 * growth
    return Row(name, place.name, f"{small:,.0f} → {large:,.0f} ms, {times(ratio)}", f"≤ {times(most)}", ratio <= most)


def prefect(bench: Bench) -> Iterator[Row]:
    """Our steps and those of Prefect in turns, four runs at once."""
    name = "Prefect, the same diamond"
    if bench.prefect is None:
        yield Row(name, "SQLite", "not measured, because `--prefect` was not given", "≥ 10×")
        return
    edges, steps = workflow_plans.diamond(), FLOWS * workflow_plans.STEPS
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    with bench.sqlite.probe() as probe, workflow_site.prefect(bench.prefect, bench.directory) as flows:
        probe.ask("publish")
        for _ in range(1 + ROUNDS):
            mine = probe.ask("run", plan="diamond", count=FLOWS, at_once=4)
            ours.append((mine["seconds"], mine["start"] + mine["worker"]))
            before = flows.cpu()
            its = flows.ask(edges=edges, runs=FLOWS, at_once=4)
            theirs.append((its["seconds"], its["cpu"] + flows.cpu() - before))
    for what, index in (("Elapsed time", 0), ("Processor time", 1)):
        mine, its = ([each[index] / steps * 1_000 for each in found[1:]] for found in (ours, theirs))
        ratio = statistics.median(b / a for a, b in zip(mine, its, strict=True))
        result = f"{statistics.median(mine):.1f} ms, Prefect {statistics.median(its):.1f} ms: {times(ratio)}"
        yield Row(f"{what} of a step with its share of the start", "SQLite", result, "≥ 10×", ratio >= 10)


def pages(bench: Bench) -> Iterator[Row]:
    """Writes over HTTP, alone and beside a worker with four runs."""
    yield from workflow_pages.measure()


def workers(bench: Bench) -> Iterator[Row]:
    """Steps of 100 ms on one, two and four workers."""
    rates: dict[int, list[float]] = {1: [], 2: [], 4: []}
    place = bench.postgresql
    with place.probe() as control, ExitStack() as stack:
        control.ask("publish")
        probes = [stack.enter_context(place.probe(WORKFLOW_THREADS=THREADS)) for _ in range(max(rates))]
        for _ in range(SCALED_ROUNDS):
            for count, found in rates.items():
                runs = control.ask("queue", plan="slow", count=SCALED_RUNS)
                for probe in probes[:count]:
                    probe.ask("go")
                result = control.ask("release", numbers=runs, patience=_PATIENCE)
                for probe in probes[:count]:
                    probe.ask("rest")
                found.append(result["completed"] / result["seconds"])
    shown = " → ".join(f"{statistics.median(found):.1f}" for found in rates.values())
    yield Row(f"Runs per second on 1 → 2 → 4 workers with {THREADS} threads, steps of 100 ms", place.name, shown)
    for count, aim in ((2, 1.8), (4, 3.0)):
        ratio = statistics.median(b / a for a, b in zip(rates[1], rates[count], strict=True))
        yield Row(f"{count} workers against one", place.name, times(ratio), f"≥ {times(aim)}", ratio >= aim)


def celery(bench: Bench) -> Iterator[Row]:
    """A foreach of 1,000 calls of 100 ms on one and two workers of Celery."""
    place, seconds = bench.postgresql, dict[int, float]()
    with workflow_site.broker(bench.directory) as address, ExitStack() as stack:
        probe = stack.enter_context(place.probe(CELERY_BROKER_URL=address))
        probe.ask("publish")
        probe.ask("go")
        for count in (1, 2):
            worker = place.popen("worker", "--calls", CELERY_BROKER_URL=address, WORKFLOW_THREADS=THREADS)
            stack.enter_context(worker)
            workflow_site.wait_for_consumers(address, count)
            for items in (50, MANY):  # the first warms up
                runs = probe.ask("queue", plan="each-slow", count=1, items=items, max_workers=64)
                seconds[count] = probe.ask("release", numbers=runs, patience=_PATIENCE)["seconds"]
        probe.ask("rest")
    ratio = seconds[1] / seconds[2]
    result = f"{seconds[1]:.1f} → {seconds[2]:.1f} s: {times(ratio)}"
    name = f"Celery on Redis, foreach of {MANY:,} calls of 100 ms on 1 → 2 workers with {THREADS} threads"
    yield Row(name, place.name, result, "≥ 1.8×", ratio >= 1.8)


def parked(bench: Bench) -> Iterator[Row]:
    """The search for work and the start of a worker beside many runs that wait or have ended."""
    for place in bench.places:
        with place.probe() as probe:
            probe.ask("publish")
        empty, _ = _looks(place)
        with place.probe() as probe:
            probe.ask("park", parked=PARKED, ended=ENDED)
        full, looks = _looks(place)
        name = f"{PARKED:,} runs are parked, {ENDED:,} have ended"
        threads = max(look["threads"] + look["held"] for look in looks)
        yield Row(f"{name}: threads and runs that a worker holds", place.name, f"{threads:.0f}", "0", threads == 0)
        p50, p95 = (statistics.median(look[share] for look in looks) for share in ("p50", "p95"))
        result = f"p95 {p95:.2f} ms, median {p50:.2f} ms"
        yield Row(f"{name}: elapsed time of a look for work", place.name, result, "p95 ≤ 5 ms", p95 <= 5)
        ratio = full / empty
        result = f"{empty:.2f} → {full:.2f} s: {times(ratio)}"
        yield Row(f"{name}: processor time of a start", place.name, result, "≤ 1.1×", ratio <= 1.1)


def _looks(place: Place) -> tuple[float, list[dict[str, float]]]:
    """Return the processor seconds of a process up to the end of its first look, and all looks."""
    looks = []
    for _ in range(STARTS):
        with place.probe() as probe:
            looks.append(probe.ask("look"))
    return statistics.median(look["process"] for look in looks), looks


MEASURES: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "cpu": cpu, "prefect": prefect, "workers": workers, "celery": celery, "pages": pages, "parked": parked,
}  # fmt: skip


def report(rows: list[Row], load: float) -> str:
    lines = [
        "# The run engine",
        "",
        f"Last run of `python -m bench.workflows`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}. The load average",
        f"before the run was {load:.1f}. A diamond has two fans of six steps and their joins. Steps do",
        "nothing, unless their time is given. Both databases write to the disk at each commit.",
        "",
        *table(rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the run engine.")
    parser.add_argument("--prefect", type=Path, help="the Python of a virtual environment with Prefect 3")
    parser.add_argument("--only", default=",".join(MEASURES), help="names of measurements: " + ", ".join(MEASURES))
    parser.add_argument("--write", action="store_true", help="write bench/workflows.md")
    arguments = parser.parse_args()
    rows: list[Row] = []
    load = os.getloadavg()[0]
    with site.fresh() as directory, ExitStack() as stack:
        bench = Bench(directory, stack, arguments.prefect)
        for name in arguments.only.split(","):
            for row in MEASURES[name](bench):
                print(row.line, flush=True)
                rows.append(row)
    if arguments.write:
        (site.ROOT / "bench" / "workflows.md").write_text(report(rows, load), encoding="utf-8")


if __name__ == "__main__":
    main()
