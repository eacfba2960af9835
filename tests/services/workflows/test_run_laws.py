"""Random sequences of answers, kills, pauses and sweeps: every run ends, and nothing happens once too often."""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from registry.core.errors import AlreadyDecided
from registry.core.workflows.records import FINAL
from registry.core.workflows.tasks import Outcome, Task
from registry.models import Project, Run, RunQuestion, RunStep
from registry.models.workflows import OPEN
from registry.services.audit_log import verification
from registry.services.permissions import Actor
from registry.services.workflows import questions, run_sweep, runs
from registry.services.workflows.executor import Key
from registry.services.workflows.held_runs import HeldRun
from registry.services.workflows.run_worker import RunWorker
from registry.services.workflows.runs import Options
from tests import effort
from tests.services.receivers import Receiver, answering, receiving

CAPABILITY = """
id: {id}
version: 1.0.0
description: Has an effect.
inputs: {{part: {{type: string, required: true}}}}
outputs: {{ok: {{type: boolean, required: true}}}}
properties: {{side_effects: true, idempotent: {idempotent}}}
safety: {{trust_level: standard, requires_confirmation: {asks}}}
binding: {{kind: http, method: POST, url: "{url}", body: input}}
"""
WORKFLOW = """
id: law.flow
version: 1.0.0
steps:
  - {id: list, uses: data.echo, input: {value: [c, d]}, output: {value: vars.parts}}
  - {id: a, uses: law.once, input: {part: a}, config: {depends_on: []}}
  - {id: b, uses: law.again, input: {part: b}, config: {depends_on: [a]}}
  - id: each
    uses: law.once
    input: {part: part}
    config: {depends_on: [list], foreach: {items: vars.parts, as: part}}
  - {id: pay, uses: law.confirmed, input: {part: pay}, config: {depends_on: [b], expires_seconds: 500}}
  - {id: last, uses: law.again, input: {part: last}, config: {depends_on: [each, pay]}}
"""
MOST_RUNS = 4
SOON, PAST_THE_LEASE, LATE = 1, 20, 400


class Clock:
    """The time of all workers. Tests let it pass."""

    def __init__(self) -> None:
        self.passed = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.passed

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.passed)


class Hands:
    """An executor whose tasks wait until the test performs them.

    `meanwhile` happens once, between the moment that the worker renews its leases and the moment that it decides.
    """

    stores_tasks = is_stuck = False
    most_tasks = 8

    def __init__(self) -> None:
        self.waiting: list[tuple[Key, Callable[[], Outcome]]] = []
        self.performed: list[tuple[Key, Outcome | None]] = []
        self.meanwhile: Callable[[], None] | None = None

    def start(self, held: HeldRun, task: Task, perform: Callable[[], Outcome]) -> None:
        self.waiting.append(((held.run.pk, held.run.fence, task.path), perform))

    def results(self, held: Mapping[int, HeldRun], *, timeout: float) -> list[tuple[Key, Outcome | None]]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        found, self.performed = self.performed, []
        return found

    def perform(self, place: int) -> None:
        if self.waiting:
            key, perform = self.waiting.pop(place % len(self.waiting))
            self.performed.append((key, perform()))


class Runs(RuleBasedStateMachine):
    """`ended` has every step that has ended, with its result."""

    def __init__(self, project: Project, starter: Actor, reviewer: Actor, receiver: Receiver) -> None:
        super().__init__()
        self.project, self.starter, self.reviewer, self.receiver = project, starter, reviewer, receiver
        self.ended: dict[int, tuple[Any, ...]] = {}
        self.clock = Clock()

    @initialize()
    def begin(self) -> None:
        Run.objects.all().delete()
        self.receiver.got.clear()
        self.workers = [self._worker(), self._worker()]
        for _ in range(2):
            self.start(deadline=None)

    def _worker(self) -> RunWorker:
        worker = RunWorker(executor=Hands(), poll_seconds=0, monotonic=self.clock.monotonic)
        worker.clock = self.clock  # type: ignore[assignment]
        return worker

    @rule(deadline=st.sampled_from([None, None, 600]))
    def start(self, deadline: float | None) -> None:
        if Run.objects.count() < MOST_RUNS:
            runs.start(self.project, "flow", options=Options(deadline_seconds=deadline), by=self.starter)

    @rule(place=st.integers(0, 1), times=st.integers(1, 3))
    def work(self, place: int, times: int) -> None:
        for _ in range(times):
            self.workers[place].work()

    @rule(place=st.integers(0, 1), task=st.integers(0, 7))
    def perform(self, place: int, task: int) -> None:
        self.workers[place].executor.perform(task)  # type: ignore[attr-defined]

    @rule(place=st.integers(0, 1))
    def carry(self, place: int) -> None:
        """Let a worker go on until it has nothing left to do."""
        worker = self.workers[place]
        while worker.work() or worker.executor.waiting:  # type: ignore[attr-defined]
            worker.executor.perform(0)  # type: ignore[attr-defined]

    @rule(place=st.integers(0, 1), task=st.integers(0, 7))
    def kill_after_a_call(self, place: int, task: int) -> None:
        """Kill a worker before it stores an outcome, and let another take over."""
        self.work(place, times=2)
        self.perform(place, task)
        self.kill(place)
        self.wait(PAST_THE_LEASE)
        self.work(1 - place, times=2)

    @rule(place=st.integers(0, 1), task=st.integers(0, 7))
    def stop_for_too_long(self, place: int, task: int) -> None:
        """Stop a worker just before it decides. It goes on after another one has taken over."""

        def take_over() -> None:
            self.wait(PAST_THE_LEASE)
            for _ in range(2):
                self.carry(1 - place)
                self.answer(task, yes=True)
            self.what_has_ended_stays_as_it_is()

        self.work(place, times=2)
        self.perform(place, task)
        self.workers[place].executor.meanwhile = take_over  # type: ignore[attr-defined]
        self.work(place, times=1)
        self.perform(place, task)
        self.work(place, times=1)

    @rule(place=st.integers(0, 1))
    def kill(self, place: int) -> None:
        self.workers[place] = self._worker()

    @rule(seconds=st.sampled_from([SOON, PAST_THE_LEASE, PAST_THE_LEASE, LATE]))
    def wait(self, seconds: int) -> None:
        self.clock.passed += seconds

    @rule()
    def sweep(self) -> None:
        run_sweep.wake_overdue(now=self.clock.now())

    @rule(place=st.integers(0, 5), yes=st.sampled_from([True, True, True, False]))
    def answer(self, place: int, yes: bool) -> None:
        asked = list(RunQuestion.objects.filter(state=OPEN).order_by("pk"))
        if asked:
            self._answer(asked[place % len(asked)], yes=yes)

    def _answer(self, question: RunQuestion, *, yes: bool) -> None:
        verb = questions.approve if yes else questions.deny
        if question.kind == "doubt" and yes:
            done = f"run-{question.run_id}/{question.path}" in self._keys()
            value = {"happened": True, "output": {"ok": True}} if done else {"happened": False}
            verb = partial(questions.answer, value=value)
        verb(self.project, question.run_id, question.pk, digest=question.digest, by=self.reviewer)

    @rule(place=st.integers(0, 3))
    def cancel(self, place: int) -> None:
        found = list(Run.objects.order_by("pk"))
        if len(found) > 2:  # most runs come to their own end
            try:
                runs.cancel(self.project, found[place % len(found)].pk, by=self.starter)
            except AlreadyDecided:
                assert found[place % len(found)].is_finished

    def _keys(self, *capabilities: str) -> list[str]:
        found = [each for each in self.receiver.got if not capabilities or each.path.strip("/") in capabilities]
        return [each.headers["idempotency-key"] for each in found]

    @invariant()
    def no_call_that_must_not_repeat_happens_twice(self) -> None:
        assert [key for key, times in Counter(self._keys("law.once", "law.confirmed")).items() if times > 1] == []

    @invariant()
    def every_call_of_a_part_has_the_same_key(self) -> None:
        for each in self.receiver.got:
            part, path = json.loads(each.body)["part"], each.headers["idempotency-key"].partition("/")[2]
            assert path in ({"c": "each[0]", "d": "each[1]"}.get(part, part),)

    @invariant()
    def no_run_is_stuck(self) -> None:
        assert run_sweep.wake_stuck(now=self.clock.now() + timedelta(hours=1)) == 0

    @invariant()
    def what_has_ended_stays_as_it_is(self) -> None:
        rows = RunStep.objects.exclude(ended=None)
        found = {row[0]: row for row in rows.values_list("pk", "state", "attempts", "ended", "code", "finished_at")}
        assert found.items() >= self.ended.items()
        self.ended = found

    def teardown(self) -> None:
        """Go on with a new worker until every run has ended."""
        if not hasattr(self, "workers"):
            return
        self.workers = [self._worker(), self._worker()]
        for _ in range(40):
            self.clock.passed += PAST_THE_LEASE
            self.carry(0)
            for question in RunQuestion.objects.filter(state=OPEN):
                self._answer(question, yes=True)
        assert list(Run.objects.exclude(state__in=FINAL)) == []
        self.what_has_ended_stays_as_it_is()
        self.no_call_that_must_not_repeat_happens_twice()
        assert not RunStep.objects.filter(ended=None).exists()
        done = RunStep.objects.filter(state="completed", uses__startswith="law.").exclude(shape="foreach")
        wanted = {f"run-{run}/{path}" for run, path in done.values_list("run_id", "path")}
        assert wanted <= set(self._keys())
        assert verification.verify(self.project)[1] == []


@pytest.mark.slow
def test_every_run_ends_whatever_happens_to_its_workers(
    project: Project, workflow: Callable[..., str], capabilities: Callable[..., None], author: Actor, reviewer: Actor,
    settings: Any,
) -> None:  # fmt: skip
    with receiving() as receiver:
        receiver.behave = answering(200, b'{"ok": true}')
        settings.SKILLS_FETCH_ALLOW_HOSTS = [receiver.host]
        for name in ("once", "again", "confirmed"):
            flags = {"idempotent": str(name == "again").lower(), "asks": str(name == "confirmed").lower()}
            capabilities(**{name: CAPABILITY.format(id=f"law.{name}", url=receiver.url(f"/law.{name}"), **flags)})
        workflow(WORKFLOW)
        run_state_machine_as_test(partial(Runs, project, author, reviewer, receiver), settings=LIMITS)


LIMITS = settings(
    max_examples=effort.examples(12), stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
