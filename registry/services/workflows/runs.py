"""Runs: start, find, cancel and replay them. Workers carry them out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from registry.core import roles
from registry.core.errors import AlreadyDecided, InvalidRequest, NotFound, TooLarge
from registry.core.workflows import json_tree, paths
from registry.core.workflows.builtins.control import HUMAN_APPROVE
from registry.core.workflows.failures import StepFailed
from registry.core.workflows.field_checks import check_inputs
from registry.core.workflows.json_tree import MOST_LEVELS, Refused, Size
from registry.core.workflows.plan import Plan
from registry.core.workflows.records import ENDED, RunState, Shape, StepState
from registry.core.workflows.state import MOST_VALUES, StateError, check_frame
from registry.core.workflows.values import Json, canonical
from registry.models import Agent, Membership, Project, Run, RunStep, Version
from registry.models.workflows import RunQuerySet
from registry.services import audit
from registry.services.catalog import catalog
from registry.services.permissions import Actor, reach, require
from registry.services.workflows import locks, run_events, stored_values
from registry.services.workflows.locks import Identity, Prepared

MOST_WORKERS = 500  # for Celery workers on many machines; a worker with threads does no more calls than it has threads
MOST_DEADLINE_SECONDS = 30 * 24 * 3_600
_KEPT = (StepState.COMPLETED.value, StepState.SKIPPED.value, StepState.DEGRADED.value)  # by a replay
_INPUT_CHARS = 256 * 1024
_TOO_DEEP = f"The inputs are nested deeper than {MOST_LEVELS} levels. Make them flatter. Nothing was started."
_UNFINISHED = (RunState.QUEUED.value, RunState.RUNNING.value, RunState.WAITING.value)

# The trust level of people who start a run themselves.
TRUST_OF_ROLE = {
    roles.VIEWER: roles.SANDBOX,
    roles.AUTHOR: roles.STANDARD,
    roles.REVIEWER: roles.ELEVATED,
    roles.OWNER: roles.PRIVILEGED,
}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run, as its starter sets them."""

    max_workers: int | None = None
    fail_fast: bool = True
    deadline_seconds: float | None = None

    def checked(self) -> "Options":
        if self.max_workers is not None and not 1 <= self.max_workers <= MOST_WORKERS:
            raise InvalidRequest(f"max_workers is a number from 1 to {MOST_WORKERS}.", field="max_workers")
        if self.deadline_seconds is not None and not 1 <= self.deadline_seconds <= MOST_DEADLINE_SECONDS:
            message = f"deadline_seconds is a number from 1 to {MOST_DEADLINE_SECONDS:,}."
            raise InvalidRequest(message, field="deadline_seconds")
        return self

    def as_json(self) -> dict[str, Any]:
        workers = self.max_workers or settings.WORKFLOW_MAX_WORKERS
        return {"max_workers": workers, "fail_fast": self.fail_fast, "deadline_seconds": self.deadline_seconds}


def start(
    project: Project,
    skill: str,
    *,
    inputs: Mapping[str, Json] | None = None,
    version: str | None = None,
    frame: Mapping[str, Json] | None = None,
    options: Options | None = None,
    by: Actor,
) -> Run:
    """Start the workflow of a skill. A worker carries it out."""
    require(by, roles.RUN, project)
    allowed = reach(by)
    prepared = locks.prepare(project.pk, catalog.load(project.pk, skill, version=version, allowed=allowed), allowed)
    return _start(project, prepared, dict(inputs or {}), frame, (options or Options()).checked(), by=by)


def start_call(project: Project, capability: str, *, inputs: Mapping[str, Json] | None = None, by: Actor) -> Run:
    """Start a run that makes one call. Its policy is the same as that of a call in a workflow."""
    require(by, roles.RUN, project)
    prepared = locks.prepare_call(project.pk, capability, reach(by))
    return _start(project, prepared, dict(inputs or {}), None, Options().checked(), by=by)


def _start(
    project: Project, prepared: Prepared, inputs: dict[str, Json], frame: Mapping[str, Json] | None, options: Options,
    *, by: Actor,
) -> Run:  # fmt: skip
    given, checked_frame, now = _inputs(prepared, inputs), _frame(frame), timezone.now()
    stored = stored_values.pack(given, now=now)
    with audit.change(project, run_events.STARTED, by=by, target=prepared.name, revises=False) as change:
        _require_room(project)
        run = Run.objects.create(
            project=project, skill=prepared.name, version=prepared.version, digest=prepared.skill_digest,
            lock=locks.store(prepared), inputs=stored, frame=checked_frame, options=options.as_json(),
            trust=trust_of(by, project), wake_at=now, created_at=now, deadline=_deadline(options, now), **_starter(by),
        )  # fmt: skip
        stored_values.claim(run.pk, [stored])
        change.data.update(run=run.pk, version=run.version, digest=run.digest)
        run_events.announce(run_events.STARTED, run, by=by)
    return run


def _inputs(prepared: Prepared, inputs: dict[str, Json]) -> dict[str, Json]:
    try:
        size = len(canonical(inputs))
    except ValueError as error:
        raise InvalidRequest(f"The inputs are not JSON: {error}", field="inputs") from None
    except RecursionError:
        raise InvalidRequest(_TOO_DEEP, field="inputs") from None
    if size > _INPUT_CHARS:
        raise TooLarge(f"The inputs have {size:,} characters. {_INPUT_CHARS:,} are allowed. Nothing was started.")
    _check_levels(inputs)
    what = prepared.name if locks.is_call(prepared.plan, prepared.name) else "The workflow"
    try:
        return check_inputs(prepared.plan.inputs, inputs, what=what)
    except StepFailed as failed:
        raise InvalidRequest(f"{failed.failure.message} Nothing was started.", field="inputs") from None


def _check_levels(inputs: dict[str, Json]) -> None:
    """Refuse inputs that are nested deeper than the state of a run. Not every program could read them again."""
    try:
        json_tree.take(inputs, Size(_INPUT_CHARS, MOST_VALUES), MOST_LEVELS - 1)
    except Refused as error:
        message = f"The inputs cannot be used: {error} Nothing was started."
        raise InvalidRequest(message, field="inputs") from None


def _frame(frame: Mapping[str, Json] | None) -> Json:
    try:
        return None if frame is None else check_frame(frame)
    except StateError as error:
        raise InvalidRequest(f"{error} Nothing was started.", field="frame") from None


def _require_room(project: Project) -> None:
    most = settings.WORKFLOW_UNFINISHED_RUNS
    if Run.objects.filter(project=project, state__in=_UNFINISHED)[:most].count() >= most:
        raise TooLarge(f"The project has {most:,} unfinished runs, which is the limit. Cancel some of them first.")


def _deadline(options: Options, now: datetime) -> datetime | None:
    return now + timedelta(seconds=options.deadline_seconds) if options.deadline_seconds is not None else None


def _starter(by: Actor) -> dict[str, Any]:
    return {"user_id": by.user_id, "agent_id": by.agent_id, "through_id": by.maker_id, "started_by": by.name[:150]}


def trust_of(by: Actor, project: Project) -> str:
    """Return the trust level of an actor: that of the agent, or that of the person's role."""
    if by.agent_id is not None:
        return Agent.objects.filter(pk=by.agent_id).values_list("trust", flat=True).first() or roles.SANDBOX
    return trust_of_person(by.user_id, project.pk) if by.user_id is not None else roles.PRIVILEGED


def trust_of_person(user_id: int, project_id: int) -> str:
    """Return the trust level of a person. Somebody who is no member has the lowest."""
    found = Membership.objects.filter(project=project_id, user=user_id, user__is_active=True)
    return TRUST_OF_ROLE.get(found.values_list("role", flat=True).first() or "", roles.SANDBOX)


def find(project: Project, run_id: int, *, by: Actor) -> Run:
    """Return a run. An agent finds only those that it started."""
    require(by, roles.READ, project)
    run = visible(project, by=by).select_related("user", "agent", "lock").filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run in this project.")
    return run


def visible(project: Project, *, by: Actor) -> RunQuerySet:
    require(by, roles.READ, project)
    runs = Run.objects.of(project)
    return runs if by.agent_id is None else runs.filter(agent_id=by.agent_id)


def cancel(project: Project, run_id: int, *, by: Actor) -> Run:
    """Ask the worker to cancel a run. A call that is on its way may still have an effect."""
    require(by, roles.RUN, project)
    found = find(project, run_id, by=by)
    with audit.change(project, run_events.CANCELLED, by=by, target=found.skill, revises=False) as change:
        changed = Run.objects.filter(pk=found.pk, state__in=_UNFINISHED, cancelled_by="").update(
            cancelled_by=by.name[:150], **woken()
        )
        found.refresh_from_db()
        if not changed and found.is_finished:
            raise AlreadyDecided(f"The run is already {found.state}. Nothing was changed.", state=found.state)
        if not changed:
            change.cancel()
        change.data["run"] = found.pk
    return found


def woken() -> dict[str, Any]:
    """Return the values that make a run due, in the transaction of what it has to notice."""
    return {"inbox": F("inbox") + 1, "changes": F("changes") + 1, "wake_at": timezone.now()}


def replay(project: Project, run_id: int, *, start_at: str = "", by: Actor) -> Run:
    """Start a run again with the recorded outputs of its steps, up to the step `start_at` and all that depend on it.

    Without `start_at`, every step that completed keeps its output. Approvals are never taken over: a step that runs
    again has to be approved again.
    """
    require(by, roles.RUN, project)
    found = find(project, run_id, by=by)
    if not found.is_finished:
        raise InvalidRequest(f"The run is {found.state}. Only a finished run can be replayed. Nothing was started.")
    plan = locks.library_of(found.lock).plans[""]
    is_call = locks.is_call(plan, found.skill)
    _require_skills(project, locks.skills_of(found.lock.document, nested_only=is_call), by)
    again = _run_again(plan, found, start_at)
    now = timezone.now()
    with audit.change(project, run_events.REPLAYED, by=by, target=found.skill, revises=False) as change:
        _require_room(project)
        run = Run.objects.create(
            project=project, skill=found.skill, version=found.version, digest=found.digest, lock=found.lock,
            inputs=found.inputs, frame=found.frame, options=found.options, trust=trust_of(by, project), wake_at=now,
            created_at=now, replay_of=found, deadline=_deadline(Options(**found.options), now), **_starter(by),
        )  # fmt: skip
        stored_values.claim(run.pk, [found.inputs])
        _copy_steps(found, run, again)
        change.data.update(run=run.pk, replay_of=found.pk)
        run_events.announce(run_events.STARTED, run, by=by)
    return run


def _require_skills(project: Project, used: Iterable[Identity], by: Actor) -> None:
    """Raise unless the actor may load these skills, and their versions were not withdrawn meanwhile."""
    allowed = reach(by)
    for name, version, digest in used:
        catalog.load(project.pk, name, allowed=allowed)
        of_project = Version.objects.filter(skill__project=project, skill__name=name, version=version)
        if of_project.filter(digest=digest).exists():
            catalog.load(project.pk, name, version=version, allowed=allowed)


def _run_again(plan: Plan, source: Run, start_at: str) -> frozenset[str]:
    """Return the steps that run again: the given one, those that depend on it, and the approvals that they need.

    An approval applies to what follows it in its own run. So it is asked for again, or the replay is refused if steps
    between the approval and the start would be repeated unasked.
    """
    rows = source.steps.filter(path=F("step"))
    kept = set(rows.filter(state__in=_KEPT, blocked=False).values_list("step", flat=True))
    if start_at and start_at not in plan.order:
        raise InvalidRequest(
            f"The workflow has no step {start_at[:64]}. Its steps are {', '.join(plan.order)}.", field="from"
        )
    if start_at:
        again = plan.with_dependants({start_at})
    else:
        again = frozenset() if source.state == RunState.COMPLETED else frozenset(plan.order) - kept
    needed = _approved(source) & kept & plan.behind(again) - again
    asking = set(rows.filter(shape=Shape.HUMAN.value, step__in=needed).values_list("step", flat=True))
    if repeated := plan.with_dependants(needed) - again - asking:
        first = next(id_ for id_ in plan.order if id_ in needed)
        also = ", ".join(id_ for id_ in plan.order if id_ in repeated)
        raise InvalidRequest(
            f"The approval of step {first} is not taken over, and what follows it needs one. Begin at {first}. "
            f"This also calls again: {also}. Nothing was started.",
            field="from",
        )
    return again | needed


def _approved(source: Run) -> set[str]:
    """Return the steps of the run's own workflow in which a person approved something with `human.approve`."""
    asked = source.steps.filter(shape=Shape.HUMAN.value, uses=HUMAN_APPROVE, state=StepState.COMPLETED.value)
    return {paths.top_of(path) for path in asked.values_list("path", flat=True)}


def _copy_steps(source: Run, target: Run, again: frozenset[str]) -> None:
    """Copy the steps that completed, with everything below them."""
    finished = RunStep.objects.filter(run=source, path=F("step"), state__in=_KEPT, blocked=False)
    roots = set(finished.exclude(step__in=again).values_list("path", flat=True))
    steps = []
    for row in RunStep.objects.filter(run=source).order_by("began"):
        if paths.top_of(row.path) in roots and row.state in {state.value for state in ENDED}:
            row.pk, row.run, row.approvals = None, target, []
            steps.append(row)
    RunStep.objects.bulk_create(steps, batch_size=200)
    stored_values.claim(target.pk, (value for row in steps for value in (row.input, row.output)))
