"""Measurements of the run engine in one process. bench/workflows.py starts it in a Django shell.

Reads one JSON line for each measurement, and prints one with the results.
"""

import copy
import json
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bench import workflow_plans
from registry.core.bundle import Bundle
from registry.core.errors import AlreadyExists
from registry.core.workflows.records import RunState
from registry.models import Project, Run, RunQuestion
from registry.services import permissions
from registry.services.people import projects
from registry.services.skills import skills
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests.transactions import commits

SLEEP = 0.1  # seconds of a step that is not empty
_LOOKS = 300


class Probe:
    """Each public method is a measurement. Its result is the line that is printed."""

    def __init__(self) -> None:
        self.by = permissions.operator()
        self.project = Project.objects.filter(slug="demo").first() or projects.create(
            slug="demo", name="Demo", by=self.by
        )
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def publish(self, chains: Sequence[int] = ()) -> None:
        """Publish the workflows. `chains` are the lengths of further ones."""
        chain, diamond = workflow_plans.chain(), workflow_plans.diamond()
        bundles: list[Bundle] = [
            workflow_plans.workflow("chain", chain),
            workflow_plans.workflow("diamond", diamond),
            workflow_plans.workflow("slow", diamond, seconds=SLEEP),
            workflow_plans.workflow("five", workflow_plans.chain(5)),
            workflow_plans.fan_out("each"),
            workflow_plans.fan_out("nested", uses="skill:five"),
            workflow_plans.fan_out("each-slow", seconds=SLEEP),
            *(workflow_plans.workflow(f"chain-{length}", workflow_plans.chain(length)) for length in chains),
        ]
        for bundle in bundles:
            with suppress(AlreadyExists):
                skills.create(self.project, bundle, by=self.by)

    def run(self, plan: str, count: int, items: int = 0, at_once: int = 16) -> dict[str, float]:
        """Start runs and carry them to their ends. Return seconds, CPU seconds of the starts and of the worker."""
        began, used = time.perf_counter(), time.process_time()
        started = [self._start(plan, items) for _ in range(count)]
        before = time.process_time()
        self._carry(RunWorker(most_runs=at_once), started)
        after = time.process_time()
        seconds = time.perf_counter() - began
        steps = sum(run.steps.count() for run in started)
        return {"seconds": seconds, "start": before - used, "worker": after - before, "steps": steps}

    def statements(self, plan: str) -> dict[str, int]:
        """Return how many transactions and how many statements the worker needs for one run."""
        run, worker = self._start(plan), RunWorker()
        with CaptureQueriesContext(connection) as captured:
            self._carry(worker, [run])
        return {"commits": commits([query["sql"] for query in captured]), "statements": len(captured)}

    def _start(self, plan: str, items: int = 0) -> Run:
        inputs = {"items": list(range(items))} if items else {}
        return runs.start(self.project, plan, inputs=inputs, by=self.by)

    def _carry(self, worker: RunWorker, started: Sequence[Run]) -> None:
        numbers = [run.pk for run in started]
        while worker.work(timeout=0.2) or worker.held or Run.objects.filter(pk__in=numbers, finished_at=None).exists():
            pass
        ended = Run.objects.filter(pk__in=numbers, state=RunState.COMPLETED.value).count()
        if ended != len(numbers):
            raise RuntimeError(f"{len(numbers) - ended} runs did not complete.")

    def park(self, parked: int, ended: int) -> None:
        """Insert runs that wait for a person, and runs that have ended."""
        template, now = self._start("chain"), timezone.now()
        Run.objects.filter(pk=template.pk).update(wake_at=None)
        waiting = _copies(template, parked, state=RunState.WAITING.value, wake_at=None)
        _copies(template, ended, state=RunState.COMPLETED.value, wake_at=None, finished_at=now)
        later = now + timedelta(days=7)
        RunQuestion.objects.bulk_create(
            [RunQuestion(run=run, path="s", kind="approve", digest="d", shown={}, expires_at=later) for run in waiting],
            batch_size=500,
        )

    def look(self, times: int = _LOOKS) -> dict[str, float]:
        """Look for work that does not exist. Return the CPU of the first look, and milliseconds of the others."""
        before, used = threading.active_count(), time.process_time()
        worker = RunWorker(poll_seconds=0)
        worker.work()
        process = time.process_time()
        first = process - used
        taken = []
        for _ in range(times):
            began = time.perf_counter()
            if worker.work():
                raise RuntimeError("There was work.")
            taken.append((time.perf_counter() - began) * 1_000)
        cuts = statistics.quantiles(taken, n=20)
        threads = threading.active_count() - before
        return {
            "process": process,
            "first": first * 1_000,
            "p50": cuts[9],
            "p95": cuts[18],
            "threads": threads,
            "held": len(worker.held),
        }

    def queue(self, plan: str, count: int, items: int = 0, max_workers: int = 0) -> list[int]:
        """Insert runs that nobody carries before `release`."""
        template = self._start(plan, items)
        options = {**template.options, **({"max_workers": max_workers} if max_workers else {})}
        Run.objects.filter(pk=template.pk).update(wake_at=None, options=options)
        return [template.pk, *(run.pk for run in _copies(template, count - 1, wake_at=None, options=options))]

    def release(self, numbers: Sequence[int], patience: float = 0.0) -> dict[str, float]:
        """Make queued runs due at once. Return the seconds until all have ended, or do not wait."""
        began = time.perf_counter()
        Run.objects.filter(pk__in=numbers, state=RunState.QUEUED.value).update(wake_at=timezone.now())
        while patience and Run.objects.filter(pk__in=numbers, finished_at=None).exists():
            if time.perf_counter() - began > patience:
                raise RuntimeError("The runs do not end.")
            time.sleep(0.02)
        seconds = time.perf_counter() - began
        completed = Run.objects.filter(pk__in=numbers, state=RunState.COMPLETED.value).count()
        return {"seconds": seconds, "completed": completed}

    def go(self, at_once: int = 16) -> dict[str, int]:
        """Begin to carry runs, until `rest`."""
        worker = RunWorker(most_runs=at_once)
        self._stop.clear()
        self._thread = threading.Thread(target=self._work, args=(worker,))
        self._thread.start()
        return {}

    def _work(self, worker: RunWorker) -> None:
        try:
            worker.run_until(self._stop)
        finally:
            connection.close()

    def rest(self) -> dict[str, int]:
        """Stop the worker. Return how many runs are still due."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        return {"due": Run.objects.filter(wake_at__isnull=False).count()}


def _copies(template: Run, count: int, **changed: Any) -> list[Run]:
    """Insert copies of a run. They have no audit events: no result depends on them."""
    rows = []
    for _ in range(count):
        row = copy.copy(template)
        row._state = copy.copy(template._state)
        row._state.adding, row.pk = True, None
        for name, value in changed.items():
            setattr(row, name, value)
        rows.append(row)
    return Run.objects.bulk_create(rows, batch_size=500)


def main() -> None:
    probe = Probe()
    print("{}", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(getattr(probe, asked.pop("do"))(**asked)), flush=True)
