"""Runs that a worker holds: open them, read the answers of people, and write decisions.

Every write names the fence that the worker took. A worker that lost its lease changes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from registry.core import roles
from registry.core.text.shorten import shorten
from registry.core.workflows.host import Rules
from registry.core.workflows.policy import least_trusted
from registry.core.workflows.records import RunState, StepState
from registry.core.workflows.run_tree import RunTree
from registry.core.workflows.scheduling import Scheduler
from registry.core.workflows.tasks import Answer, Ask, Decision, RunEnd
from registry.core.workflows.values import digest
from registry.models import Run, RunQuestion
from registry.models.workflows import APPROVED, EXPIRED, OPEN, WITHDRAWN
from registry.services import audit
from registry.services.capabilities.capability_registry import LiveCapabilities
from registry.services.permissions import Actor
from registry.services.workflows import (
    locks,
    policies,
    questions,
    run_events,
    run_tasks,
    runs,
    step_rows,
    stored_values,
)
from registry.services.workflows.dispatch import Dispatcher, run_key
from registry.services.workflows.step_rows import PreparedRows

SYSTEM = Actor(kind="system", name="skillsite")
REASON_CHARS = 1_000


class LeaseLost(Exception):
    """Another worker holds the run now. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A decision, the questions whose answers it takes, and whether the run is let go with it.

    `spent` are the rows of the tasks whose outcomes it takes.
    """

    decision: Decision
    taken: Sequence[int]
    spent: Sequence[int]
    park: bool
    now: datetime


@dataclass(slots=True)
class HeldRun:
    """A run that this worker holds, with its scheduler.

    `sure_until` is the time up to which no other worker can have taken the run, on the monotonic clock of this one.
    `pending` is a decision that is not stored yet. `tasks` are the rows of its tasks by path, if the executor stores
    them, and `spent` those whose outcomes have arrived.
    """

    run: Run
    scheduler: Scheduler
    dispatcher: Dispatcher
    capabilities: LiveCapabilities
    inbox: int
    sure_until: float
    stores_tasks: bool = False
    tasks: dict[str, int] = field(default_factory=dict)
    spent: list[int] = field(default_factory=list)
    wake_at: float | None = None
    pending: "Pending | None" = None
    has_changed: bool = True  # since the last decision
    has_mail: bool = True


def open_run(run: Run, *, stores_tasks: bool, most_tasks: int, sure_until: float, now: datetime) -> HeldRun:
    """Rebuild a run from its rows, and pick it up where they end.

    Tasks of the last worker go on if this one stores them too. Otherwise they are taken back as far as possible.
    """
    library = locks.library(run.lock_id)
    tree = RunTree(library, stored_values.unpack(run.inputs), run.frame)
    tree.replay(step_rows.read(run))
    capabilities = LiveCapabilities(run.project_id, now.timestamp())
    rules = Rules(
        policy=policies.current(),
        trust=trust_now(run),
        capability_of=capabilities.get,
        max_workers=min(run.options["max_workers"], most_tasks),
        fail_fast=run.options["fail_fast"],
        deadline=run.deadline.timestamp() if run.deadline is not None else None,
    )
    scheduler = Scheduler(tree, rules)
    scheduler.moment = now.timestamp()
    outcomes, spent = ({}, []) if stores_tasks else run_tasks.withdraw(run)
    tasks = run_tasks.outstanding(run) if stores_tasks else {}
    asked = RunQuestion.objects.filter(run=run, taken=False).values_list("path", flat=True)
    scheduler.resume(asked, {*tasks, *outcomes})
    for path, outcome in outcomes.items():
        scheduler.report(path, outcome, scheduler.moment)
    dispatcher = Dispatcher(run_key(run.pk), rules.policy, rules.capability_of)
    return HeldRun(run, scheduler, dispatcher, capabilities, run.inbox, sure_until, stores_tasks, tasks, spent)


def trust_now(run: Run) -> str:
    """Return the trust level of a run. It is never more than the agent or the person has now."""
    if run.agent is not None:
        return roles.SANDBOX if run.agent.removed_at is not None else least_trusted(run.trust, run.agent.trust)
    return (
        run.trust
        if run.user_id is None
        else least_trusted(run.trust, runs.trust_of_person(run.user_id, run.project_id))
    )


def refresh_trust(held: HeldRun) -> None:
    """Read the trust level of a run again. A lower one applies to the next call."""
    found = Run.objects.select_related("agent").only("trust", "user", "project", "agent").filter(pk=held.run.pk)
    for run in found:  # none if the project was deleted
        held.scheduler.rules = replace(held.scheduler.rules, trust=trust_now(run))


def with_mail(held: Iterable[HeldRun]) -> list[int]:
    """Return the runs with answers or a cancellation that this worker has not read."""
    known = {each.run.pk: each.inbox for each in held}
    rows = Run.objects.filter(pk__in=known).values_list("pk", "inbox") if known else ()
    return [run_id for run_id, inbox in rows if inbox != known[run_id]]


def read_inbox(held: HeldRun, *, now: datetime) -> list[int]:
    """Hand the answers of people to the scheduler. Return the questions, to be marked as taken with the decision."""
    row = Run.objects.filter(pk=held.run.pk, fence=held.run.fence).values("inbox", "cancelled_by").first()
    if row is None:
        raise LeaseLost(held.run.pk)
    answered = RunQuestion.objects.filter(run=held.run, taken=False).exclude(state__in=(OPEN, WITHDRAWN))
    found = list(answered.order_by("answered_at"))
    held.inbox = row["inbox"]
    taken = []
    for question in found:
        held.scheduler.answer(_answer(question), now.timestamp())
        taken.append(question.pk)
    if row["cancelled_by"] and held.scheduler.end is None:
        held.run.cancelled_by = row["cancelled_by"]
        held.scheduler.stop(RunState.CANCELLED, None, now.timestamp())
    return taken


def _answer(question: RunQuestion) -> Answer:
    value = question.value if isinstance(question.value, dict) else {}
    happened = value.get("happened") if question.kind == "doubt" else None
    return Answer(
        path=question.path,
        approved=question.state == APPROVED,
        digest=question.digest,
        output=value.get("output") if happened is not None else question.value,
        happened=happened,
        comment=question.comment,
        by=question.answered_by,
        expired=question.state == EXPIRED,
    )


def write(held: HeldRun, pending: Pending) -> bool:
    """Store a decision in one transaction, before its tasks start. Return whether the run was let go.

    A run is not parked if an answer arrived since its inbox was read. To write a decision again does no harm.
    """
    decision, park, now = pending.decision, pending.park, pending.now
    run, end = held.run, decision.end
    rows = step_rows.prepare(run.pk, decision.changed, now=now)
    asked = questions.rows(run, decision.asks, now=now)
    outputs = stored_values.pack(end.outputs, now=now) if end is not None else None
    if end is None and not asked:
        with transaction.atomic():
            is_free = _update(held, decision, outputs, park=park, now=now)
            _store(held, rows, asked, pending)
        return is_free
    verb = run_events.ENDINGS[end.state] if end is not None else run_events.WAITING
    with audit.change(run.project, verb, by=SYSTEM, target=run.skill, revises=False) as change:
        is_free = _update(held, decision, outputs, park=park, now=now)
        change.data.update(_described(held, end, decision.asks))
        _store(held, rows, questions.new(run, asked), pending)
        if end is not None:
            questions.withdraw(run)
            stored_values.claim(run.pk, [outputs])
            run_tasks.clear(run)
        run_events.announce(verb, run, by=SYSTEM, text=run.reason)
    return is_free


def _store(held: HeldRun, rows: PreparedRows, asked: list[RunQuestion], pending: Pending) -> None:
    decision = pending.decision
    if rows.statements:
        step_rows.write(held.run.pk, rows)
    if decision.settled:
        questions.withdraw(held.run, decision.settled)
    if asked:
        RunQuestion.objects.bulk_create(asked)
    if pending.taken:
        RunQuestion.objects.filter(pk__in=pending.taken).update(taken=True)
    if pending.spent:
        run_tasks.delete(pending.spent)
    if held.stores_tasks and decision.tasks:
        held.tasks |= run_tasks.insert(held.run, decision.tasks)


def _update(held: HeldRun, decision: Decision, outputs: Any, *, park: bool, now: datetime) -> bool:
    """Change the row of a run, if this worker still holds it. Return whether the run was let go.

    A run that was let go has no worker. So a decision that was stored, but whose commit was not confirmed, is not
    stored again.
    """
    run, end = held.run, decision.end
    mine = Run.objects.filter(pk=run.pk, fence=run.fence, worker=run.worker)
    count = {"changes": F("changes") + 1}
    if end is None and park and mine.filter(inbox=held.inbox).update(**count, **_parked(held, decision)):
        return True
    if not (_count_change(run) if end is None else mine.update(**count, **_ended(held, end, outputs, now))):
        raise LeaseLost(run.pk)
    return end is not None


def _count_change(run: Run) -> int:
    """Count a change of a run that this worker holds. Most decisions change nothing else of the run.

    Return the number of rows. The ORM takes longer to build this statement than the database to run it.
    """
    table = connection.ops.quote_name(Run._meta.db_table)
    statement = f"UPDATE {table} SET changes = changes + 1 WHERE id = %s AND fence = %s AND worker = %s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement, [run.pk, run.fence, run.worker])
        return int(cursor.rowcount)


def _ended(held: HeldRun, end: RunEnd, outputs: Any, now: datetime) -> dict[str, Any]:
    run = held.run
    run.state = end.state.value
    run.code = end.failure.code.value if end.failure else ""
    run.reason = shorten(end.failure.message, REASON_CHARS) if end.failure else ""
    return {
        "state": run.state, "code": run.code, "reason": run.reason, "outputs": outputs, "finished_at": now,
        "wake_at": None, "leased_until": None, "worker": "", "state_digest": state_digest(held.scheduler),
    }  # fmt: skip


def _parked(held: HeldRun, decision: Decision) -> dict[str, Any]:
    waits = any(record.state is StepState.WAITING for record in held.scheduler.tree.records.values())
    return {
        "state": (RunState.WAITING if waits else RunState.RUNNING).value,
        "wake_at": datetime.fromtimestamp(decision.wake_at, UTC) if decision.wake_at is not None else None,
        "leased_until": None,
        "worker": "",
    }


def state_digest(scheduler: Scheduler) -> str:
    """Return the digest of the state that a run ended with. A replay with the same outputs has the same."""
    return digest(scheduler.tree.root.state.as_json())


def _described(held: HeldRun, end: RunEnd | None, asks: Sequence[Ask]) -> dict[str, Any]:
    data: dict[str, Any] = {"run": held.run.pk}
    if end is not None:
        data["outputs"] = digest(end.outputs)
        data["steps"] = len(held.scheduler.tree.records)
        if end.failure is not None:
            data["code"] = end.failure.code.value
        if held.run.cancelled_by:
            data["cancelled_by"] = held.run.cancelled_by
    else:
        data["questions"] = [{"path": ask.path, "kind": ask.kind.value, "digest": ask.digest} for ask in asks]
    return data
