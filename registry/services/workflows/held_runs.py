"""Runs that a worker holds: take them, write their decisions, and let them go.

Every write names the fence that the worker took. A worker that lost its lease changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q

from registry.core import roles
from registry.core.text.shorten import shorten
from registry.core.workflows.failures import Code
from registry.core.workflows.host import Rules
from registry.core.workflows.policy import least_trusted
from registry.core.workflows.records import RunState, StepState
from registry.core.workflows.run_tree import RunTree
from registry.core.workflows.scheduling import Scheduler
from registry.core.workflows.tasks import Answer, Ask, Decision, RunEnd
from registry.core.workflows.values import digest
from registry.models import Run, RunQuestion, RunStep
from registry.models.workflows import APPROVED, EXPIRED, OPEN, WITHDRAWN
from registry.services import audit
from registry.services.capabilities import capability_registry
from registry.services.permissions import Actor
from registry.services.workflows import locks, policies, questions, run_events, step_rows, stored_values
from registry.services.workflows.dispatch import Dispatcher

SYSTEM = Actor(kind="system", name="skillsite")
REASON_CHARS = 1_000
MOST_TROUBLES = 8
_PAUSE_SECONDS = 2
_TROUBLE = "The site could not carry on with this run. The reason is in the log of the worker."


class LeaseLost(Exception):
    """Another worker holds the run now. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A decision, the questions whose answers it takes, and whether the run is let go with it."""

    decision: Decision
    taken: Sequence[int]
    park: bool
    now: datetime


@dataclass(slots=True)
class HeldRun:
    """A run that this worker holds, with its scheduler.

    `sure_until` is the time up to which no other worker can have taken the run, on the monotonic clock of this one.
    `pending` is a decision that is not stored yet.
    """

    run: Run
    scheduler: Scheduler
    dispatcher: Dispatcher
    inbox: int
    sure_until: float
    wake_at: float | None = None
    pending: "Pending | None" = None
    has_changed: bool = True  # since the last decision
    has_mail: bool = True


def take(worker: str, *, most: int, lease: timedelta, now: datetime) -> list[Run]:
    """Lease runs that are due. Several workers may call it at the same time."""
    due = Run.objects.filter(is_due(now)).order_by("wake_at")
    if not due[:1].exists():
        return []
    with transaction.atomic():
        rows = due.select_for_update(skip_locked=True) if connection.features.has_select_for_update_skip_locked else due
        chosen = list(rows.values_list("pk", flat=True)[:most])
        Run.objects.filter(is_due(now), pk__in=chosen).update(
            fence=F("fence") + 1, changes=F("changes") + 1, worker=worker, leased_until=now + lease,
            state=RunState.RUNNING.value,
        )  # fmt: skip
    mine = Run.objects.filter(pk__in=chosen, worker=worker, leased_until=now + lease)
    return list(mine.select_related("project", "agent").order_by("wake_at"))


def is_due(now: datetime) -> Q:
    return Q(wake_at__lte=now) & (Q(leased_until=None) | Q(leased_until__lte=now))


def open_run(run: Run, *, sure_until: float, now: datetime) -> HeldRun:
    """Rebuild a run from its rows, and pick it up where they end."""
    if run.started_at is None:
        run.started_at = now
        Run.objects.filter(pk=run.pk, fence=run.fence).update(started_at=now)
    library = locks.library(run.lock_id)
    tree = RunTree(library, stored_values.unpack(run.inputs), run.frame)
    tree.replay(step_rows.read(run))
    capabilities = capability_registry.of(run.project_id)
    rules = Rules(
        policy=policies.current(),
        trust=_trust(run),
        capability_of=capabilities.get,
        max_workers=run.options["max_workers"],
        fail_fast=run.options["fail_fast"],
        deadline=run.deadline.timestamp() if run.deadline is not None else None,
    )
    scheduler = Scheduler(tree, rules)
    scheduler.moment = now.timestamp()
    scheduler.resume(RunQuestion.objects.filter(run=run, taken=False).values_list("path", flat=True))
    dispatcher = Dispatcher(f"run-{run.pk}", rules.policy, rules.capability_of)
    return HeldRun(run, scheduler, dispatcher, run.inbox, sure_until)


def _trust(run: Run) -> str:
    """Return the trust level of a run. It is never more than the agent has now."""
    if run.agent is None:
        return run.trust
    return roles.SANDBOX if run.agent.removed_at is not None else least_trusted(run.trust, run.agent.trust)


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
    decision, taken, park, now = pending.decision, pending.taken, pending.park, pending.now
    run, end = held.run, decision.end
    rows = step_rows.prepare(run.pk, decision.changed, now=now)
    asked = questions.rows(run, decision.asks, now=now)
    outputs = stored_values.pack(end.outputs, now=now) if end is not None else None
    if end is None and not asked:
        with transaction.atomic():
            is_free = _update(held, decision, outputs, park=park, now=now)
            _store(held, rows, asked, taken, decision)
        return is_free
    verb = run_events.ENDINGS[end.state] if end is not None else run_events.WAITING
    with audit.change(run.project, verb, by=SYSTEM, target=run.skill, revises=False) as change:
        is_free = _update(held, decision, outputs, park=park, now=now)
        change.data.update(_described(held, end, decision.asks))
        _store(held, rows, questions.new(run, asked), taken, decision)
        if end is not None:
            questions.withdraw(run)
            stored_values.claim(run.pk, [outputs])
        run_events.announce(verb, run, by=SYSTEM, text=run.reason)
    return is_free


def _store(
    held: HeldRun, rows: list[RunStep], asked: list[RunQuestion], taken: Sequence[int], decision: Decision
) -> None:
    if rows:
        step_rows.write(held.run.pk, rows)
    if decision.settled:
        questions.withdraw(held.run, decision.settled)
    if asked:
        RunQuestion.objects.bulk_create(asked)
    if taken:
        RunQuestion.objects.filter(pk__in=taken).update(taken=True)


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
    if not mine.update(**count, **(_ended(held, end, outputs, now) if end is not None else {})):
        raise LeaseLost(run.pk)
    return end is not None


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


def renew(worker: str, held: Mapping[int, HeldRun], *, lease: timedelta, now: datetime) -> list[int]:
    """Renew the leases of runs with one statement. Return the runs that this worker still holds.

    Other leases of this worker are not renewed, because it knows nothing of those runs.
    """
    if not held:
        return []
    rows = Run.objects.filter(worker=worker, pk__in=held)
    rows.update(leased_until=now + lease)
    return [run_id for run_id, fence in rows.values_list("pk", "fence") if held[run_id].run.fence == fence]


def release(worker: str) -> None:
    """Give all runs of a worker back, so that another continues them at once."""
    Run.objects.filter(worker=worker).update(leased_until=None, worker="")


def postpone(run: Run, *, now: datetime) -> None:
    """Let go of a run that this worker could not carry, and try again later. After several times, the run fails."""
    mine = Run.objects.filter(pk=run.pk, fence=run.fence)
    if run.troubles < MOST_TROUBLES:
        pause = timedelta(seconds=_PAUSE_SECONDS * 2**run.troubles)
        mine.update(troubles=F("troubles") + 1, wake_at=now + pause, leased_until=None, worker="")
        return
    verb = run_events.ENDINGS[RunState.FAILED]
    with audit.change(run.project, verb, by=SYSTEM, target=run.skill, revises=False) as change:
        ended = mine.update(
            state=RunState.FAILED.value, code=Code.CALL.value, reason=_TROUBLE, finished_at=now, wake_at=None,
            leased_until=None, worker="", changes=F("changes") + 1,
        )  # fmt: skip
        if not ended:
            change.cancel()
            return
        change.data["run"] = run.pk
        questions.withdraw(run)
        run_events.announce(verb, run, by=SYSTEM, text=_TROUBLE)
