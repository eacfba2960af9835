"""Background jobs of sources: checks, imports and updates.

A task only wakes a worker up. The jobs and their progress are rows: a worker holds a job until its lease ends, and
another worker continues a job that was not finished. A skill and its result are stored in one transaction, so no skill
is imported twice.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django_tasks import task

from registry.core import roles
from registry.core.errors import Forbidden, SkillsiteError
from registry.core.sources.import_request import FAILED as ITEM_FAILED
from registry.core.sources.import_request import ImportRequest, ImportResult
from registry.core.text.printable import printable
from registry.models import Project, Source, SourceEntry, SourceJob, SourceJobItem
from registry.models.sources import DONE, FAILED, LOOK, QUEUED, RUNNING, WAITING, is_due
from registry.remote.sources import Failure
from registry.services import permissions
from registry.services.permissions import Actor
from registry.services.sources import install, source_entries
from registry.services.sources.install import ImportPlan
from registry.services.sources.source_entries import FetchedSkill

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=3)
MOST_ATTEMPTS = 3
_KEPT_FOR = timedelta(days=30)
_REASON_CHARS, _PROBLEM_CHARS = 1_000, 500
_UNEXPECTED = "The import failed unexpectedly. The reason is in the log of the site."


class _LeaseLost(Exception):
    """Another worker holds the job now. The open transaction is rolled back."""


@task()
def work() -> None:
    """Run due jobs, and enqueue another task if some are left."""
    if run_due():
        work.enqueue()


def queue(source: Source, kind: str, requests: Iterable[ImportRequest] = (), *, by: Actor) -> SourceJob:
    """Create a job that acts for `by`. Call inside a transaction; the task is enqueued on commit."""
    job = SourceJob.objects.create(
        project_id=source.project_id, source=source, kind=kind, user_id=by.user_id, agent_id=by.agent_id,
        through_id=by.maker_id, address=by.address, scopes=sorted(by.scopes),
    )  # fmt: skip
    SourceJobItem.objects.bulk_create(
        [
            SourceJobItem(job=job, position=place, name=request.name, asked=request.as_json())
            for place, request in enumerate(requests)
        ],
        batch_size=200,
    )
    transaction.on_commit(_enqueue, robust=True)
    return job


def _enqueue() -> None:
    work.enqueue()


def wake_overdue(*, now: datetime) -> None:
    """Enqueue a task if a job is due whose task was lost or whose worker died."""
    if SourceJob.objects.filter(is_due(now)).exists():
        work.enqueue()


def clean(*, now: datetime) -> dict[str, int]:
    old = SourceJob.objects.filter(state__in=(DONE, FAILED), finished_at__lt=now - _KEPT_FOR)
    return {"finished source jobs": old.delete()[0], "staged skills": source_entries.sweep(now=now)}


def run_due(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = timedelta(seconds=30)) -> bool:
    """Run due jobs until `budget` is used up, so that other tasks get a turn. Return whether jobs are left."""
    stop = clock() + budget
    while clock() < stop:
        try:
            job = _take(now=clock())
            if job is None:
                return False
            _run(job, clock=clock, stop=stop)
        except _LeaseLost as lost:
            log.warning("Source job %s took longer than its lease. Another worker has taken it.", lost)
    return SourceJob.objects.filter(is_due(clock())).exists()


def _take(*, now: datetime) -> SourceJob | None:
    """Lease the next due job. A job with too many attempts is marked as failed."""
    for job in SourceJob.objects.filter(is_due(now)).order_by("pk")[:10]:
        if not job.take_lease(is_due(now), now=now, lease=LEASE, state=RUNNING):
            continue
        if job.attempts <= MOST_ATTEMPTS:
            return SourceJob.objects.select_related("source__project", "project", "user", "agent").get(pk=job.pk)
        _give_up(job, f"All {MOST_ATTEMPTS} attempts ended before the job was done.", now=now)
    return None


def _run(job: SourceJob, *, clock: Callable[[], datetime], stop: datetime) -> None:
    if job.source.removed_at is not None:
        _give_up(job, "The source was removed.", now=clock())
    elif job.kind == LOOK:
        problem = source_entries.look(job.source, now=clock())
        _finish(job, FAILED if problem else DONE, now=clock(), problem=problem)
    else:
        _import_items(job, clock=clock, stop=stop)


def _import_items(job: SourceJob, *, clock: Callable[[], datetime], stop: datetime) -> None:
    try:
        by = _actor(job)
    except SkillsiteError as error:
        _give_up(job, error.message, now=clock())
        return
    items = list(job.items.filter(status=WAITING).order_by("position"))
    for done, (item, fetched) in enumerate(_fetched_items(job.source, items), start=1):
        _import_item(job, item, fetched, by=by, now=clock())
        if clock() >= stop and done < len(items):
            _update(job, state=QUEUED, leased_until=None, attempts=0)
            return
    _finish(job, DONE, now=clock())


def _actor(job: SourceJob) -> Actor:
    """Return who started the job, with the permissions that they had then and still have."""
    if job.agent is not None:
        if job.agent.removed_at is not None:
            raise Forbidden(f"The agent {job.agent.name} was removed meanwhile.")
        by = permissions.agent(job.agent, frozenset(job.scopes))
    elif job.user is not None:
        if not job.user.is_active:
            raise Forbidden(f"{job.user.username} can no longer sign in.")
        by = permissions.person(job.user, job.project)
        by = replace(by, scopes=by.scopes & frozenset(job.scopes))
    else:
        by = permissions.operator()
    by = replace(by, address=job.address, maker_id=job.through_id)
    permissions.require(by, roles.WRITE, job.project)
    return by


def _fetched_items(
    source: Source, items: list[SourceJobItem]
) -> Iterator[tuple[SourceJobItem, FetchedSkill | Exception]]:
    """Yield each item with its skill or its error: the staged ones first, then the others with one connection."""
    entries = {entry.name: entry for entry in source.entries.filter(name__in=[item.name for item in items])}
    by_name = {item.name: item for item in items}
    missing: list[SourceEntry] = []
    for item in items:
        try:
            entry = entries.get(item.name) or source_entries.entry(source, item.name)
            fetched = source_entries.staged(entry, item.asked.get("digest", ""))
        except SkillsiteError as error:
            yield item, error
            continue
        if fetched is None:
            missing.append(entry)
        else:
            yield item, fetched
    for entry, result in source_entries.fetch_all(source, missing) if missing else ():
        yield by_name[entry.name], result


def _import_item(
    job: SourceJob, item: SourceJobItem, fetched: FetchedSkill | Exception, *, by: Actor, now: datetime
) -> None:
    """Import one skill and store its result in the same transaction."""
    try:
        plan = _plan(job.source, item, fetched, by=by)
        with job.atomic():
            _store_result(job, item, _apply(item, plan, by=by) if isinstance(plan, ImportPlan) else plan, now=now)
    except _LeaseLost:
        raise
    except Exception:
        log.exception("Importing a skill from a source failed.")
        _store_result(job, item, ImportResult(item.name, ITEM_FAILED, _UNEXPECTED), now=now)


def _plan(
    source: Source, item: SourceJobItem, fetched: FetchedSkill | Exception, *, by: Actor
) -> ImportPlan | ImportResult:
    try:
        if isinstance(fetched, Exception):
            raise fetched
        return install.prepare(source, fetched, _request(item), by=by)
    except SkillsiteError as error:
        return ImportResult(item.name, ITEM_FAILED, error.message)
    except Failure as failure:
        return ImportResult(item.name, ITEM_FAILED, f"We couldn’t fetch this skill. {failure}")


def _apply(item: SourceJobItem, plan: ImportPlan, *, by: Actor) -> ImportResult:
    try:
        return install.apply(plan, by=by)
    except SkillsiteError as error:
        return ImportResult(item.name, ITEM_FAILED, error.message)


def _request(item: SourceJobItem) -> ImportRequest:
    return ImportRequest(**item.asked)


def _store_result(job: SourceJob, item: SourceJobItem, result: ImportResult, *, now: datetime) -> None:
    """Store the result of an item. Progress renews the lease and resets the attempts."""
    _update(job, leased_until=now + LEASE, attempts=1)
    SourceJobItem.objects.filter(pk=item.pk).update(
        status=result.status, reason=printable(result.reason, _REASON_CHARS), skill=result.skill,
        version=result.version, digest=result.digest, proposal_id=result.proposal,
    )  # fmt: skip


def _update(job: SourceJob, **values: object) -> None:
    """Update the job if this worker still holds its lease."""
    if not job.update_if_held(**values):
        raise _LeaseLost(job.pk)


def _give_up(job: SourceJob, reason: str, *, now: datetime) -> None:
    """Mark the job and its waiting items as failed. A job that another worker holds now keeps its items."""
    reason = printable(reason, _PROBLEM_CHARS)
    with job.atomic():
        _finish(job, FAILED, now=now, problem=reason)
        job.items.filter(status=WAITING).update(status=ITEM_FAILED, reason=reason)


def _finish(job: SourceJob, state: str, *, now: datetime, problem: str = "") -> None:
    _update(job, state=state, finished_at=now, leased_until=None, problem=problem[:_PROBLEM_CHARS])


@dataclass(frozen=True, slots=True)
class WarmedSource:
    """Staged skills of one source. `problem` is the error of the source, `failed` has one sentence for each skill."""

    source: str
    problem: str
    skills: int
    failed: tuple[str, ...]


def warm(project: Project, *, now: datetime) -> Iterator[WarmedSource]:
    """Check every source of a project and stage all its skills, so that imports need no network."""
    for source in Source.objects.of(project).select_related("project").order_by("pk"):
        problem = source_entries.look(source, now=now)
        entries = list(source.entries.order_by("name")) if not problem else []
        missing = [entry for entry in entries if not source_entries.is_staged(entry)]
        failed = tuple(source_entries.stage_all(source, missing))
        yield WarmedSource(str(source), problem, len(entries) - len(failed), failed)
