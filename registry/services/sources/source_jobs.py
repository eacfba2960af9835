"""Work on sources, for the worker: looks, imports and updates, skill by skill, each written down as it is done.

A task is only a wake-up. What has to be done, and how far it came, is in the rows: whoever takes a job has it until its
lease ends, and what a worker did not finish, another one goes on with. A skill and the note of what came of it are one
transaction, so none is imported twice.
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
from registry.core.sources.import_request import FAILED as NOT_DONE
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
_UNFORESEEN = "It could not be done. The reason is in the log of the site."


class _Lost(Exception):
    """Another worker has the job now: what this one did last is undone."""


@task()
def work() -> None:
    """Whatever waits, on whichever worker wakes up first."""
    if run_due():
        work.enqueue()


def queue(source: Source, kind: str, requests: Iterable[ImportRequest] = (), *, by: Actor) -> SourceJob:
    """Inside a transaction: a job in somebody's name. Its worker is told once this is committed."""
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
    """For the sweep: a job whose wake-up was lost, or whose worker did not come back."""
    if SourceJob.objects.filter(is_due(now)).exists():
        work.enqueue()


def clean(*, now: datetime) -> dict[str, int]:
    old = SourceJob.objects.filter(state__in=(DONE, FAILED), finished_at__lt=now - _KEPT_FOR)
    return {"finished jobs of sources": old.delete()[0], "skills put aside": source_entries.sweep(now=now)}


def run_due(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = timedelta(seconds=30)) -> bool:
    """Works on what is due for as long as the budget lasts, so that other work has its turn. Says if some is left."""
    stop = clock() + budget
    while clock() < stop:
        job = _take(now=clock())
        if job is None:
            return False
        try:
            _run(job, clock=clock, stop=stop)
        except _Lost:
            log.warning("Job %s of a source took too long and is another worker’s now.", job.pk)
    return SourceJob.objects.filter(is_due(clock())).exists()


def _take(*, now: datetime) -> SourceJob | None:
    """The next job, ours until its lease ends. One that nobody got anywhere with is given up."""
    for job in SourceJob.objects.filter(is_due(now)).order_by("pk")[:10]:
        if not job.take_lease(is_due(now), now=now, lease=LEASE, state=RUNNING):
            continue
        if job.attempts <= MOST_ATTEMPTS:
            return SourceJob.objects.select_related("source__project", "project", "user", "agent").get(pk=job.pk)
        _give_up(job, "Each try ended before it was done.", now=now)
    return None


def _run(job: SourceJob, *, clock: Callable[[], datetime], stop: datetime) -> None:
    if job.source.removed_at is not None:
        _give_up(job, "The source was removed.", now=clock())
    elif job.kind == LOOK:
        problem = source_entries.look(job.source, now=clock())
        _finish(job, FAILED if problem else DONE, now=clock(), problem=problem)
    else:
        _bring(job, clock=clock, stop=stop)


def _bring(job: SourceJob, *, clock: Callable[[], datetime], stop: datetime) -> None:
    try:
        by = _actor(job)
    except SkillsiteError as error:
        _give_up(job, error.message, now=clock())
        return
    items = list(job.items.filter(status=WAITING).order_by("position"))
    for done, (item, came) in enumerate(_came(job.source, items), start=1):
        _settle(job, item, came, by=by, now=clock())
        if clock() >= stop and done < len(items):
            _mine(job, state=QUEUED, leased_until=None, attempts=0)
            return
    _finish(job, DONE, now=clock())


def _actor(job: SourceJob) -> Actor:
    """Whoever asked, with what they may do today and could do when they asked."""
    if job.agent is not None:
        if job.agent.removed_at is not None:
            raise Forbidden(f"The agent {job.agent.name} was removed meanwhile.")
        by = permissions.agent(job.agent, frozenset(job.scopes))
    elif job.user is not None:
        if not job.user.is_active:
            raise Forbidden(f"{job.user.username} may not sign in any more.")
        by = permissions.person(job.user, job.project)
        by = replace(by, scopes=by.scopes & frozenset(job.scopes))
    else:
        by = permissions.operator()
    by = replace(by, address=job.address, maker_id=job.through_id)
    permissions.require(by, roles.WRITE, job.project)
    return by


def _came(source: Source, items: list[SourceJobItem]) -> Iterator[tuple[SourceJobItem, FetchedSkill | Exception]]:
    """Each item with its goods: those put aside first, then all others from one visit to the source."""
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
    for entry, came in source_entries.fetch_all(source, missing) if missing else ():
        yield by_name[entry.name], came


def _settle(job: SourceJob, item: SourceJobItem, came: FetchedSkill | Exception, *, by: Actor, now: datetime) -> None:
    """One skill: what came of it is written down with it, or neither is."""
    try:
        plan = _planned(job.source, item, came, by=by)
        with transaction.atomic():
            _note(job, item, _carried_out(item, plan, by=by) if isinstance(plan, ImportPlan) else plan, now=now)
    except _Lost:
        raise
    except Exception:
        log.exception("A skill of a source could not be imported.")
        _note(job, item, ImportResult(item.name, NOT_DONE, _UNFORESEEN), now=now)


def _planned(
    source: Source, item: SourceJobItem, came: FetchedSkill | Exception, *, by: Actor
) -> ImportPlan | ImportResult:
    try:
        if isinstance(came, Exception):
            raise came
        return install.prepare(source, came, _request(item), by=by)
    except SkillsiteError as error:
        return ImportResult(item.name, NOT_DONE, error.message)
    except Failure as failure:
        return ImportResult(item.name, NOT_DONE, f"It could not be fetched. {failure}")


def _carried_out(item: SourceJobItem, plan: ImportPlan, *, by: Actor) -> ImportResult:
    try:
        return install.apply(plan, by=by)
    except SkillsiteError as error:
        return ImportResult(item.name, NOT_DONE, error.message)


def _request(item: SourceJobItem) -> ImportRequest:
    return ImportRequest(**item.asked)


def _note(job: SourceJob, item: SourceJobItem, result: ImportResult, *, now: datetime) -> None:
    """Getting somewhere renews the lease, and the patience."""
    _mine(job, leased_until=now + LEASE, attempts=1)
    SourceJobItem.objects.filter(pk=item.pk).update(
        status=result.status, reason=printable(result.reason, _REASON_CHARS), skill=result.skill,
        version=result.version, digest=result.digest, proposal_id=result.proposal,
    )  # fmt: skip


def _mine(job: SourceJob, **values: object) -> None:
    """Update the job if this worker still holds its lease."""
    if not job.update_if_held(**values):
        raise _Lost


def _give_up(job: SourceJob, reason: str, *, now: datetime) -> None:
    reason = printable(reason, _PROBLEM_CHARS)
    job.items.filter(status=WAITING).update(status=NOT_DONE, reason=reason)
    _finish(job, FAILED, now=now, problem=reason)


def _finish(job: SourceJob, state: str, *, now: datetime, problem: str = "") -> None:
    _mine(job, state=state, finished_at=now, leased_until=None, problem=problem[:_PROBLEM_CHARS])


@dataclass(frozen=True, slots=True)
class Warmed:
    """What was put aside of one source; `problem` says why it could not be asked, `failed` why a skill did not come."""

    source: str
    problem: str
    skills: int
    failed: tuple[str, ...]


def warm(project: Project, *, now: datetime) -> Iterator[Warmed]:
    """Looks at every source of a project and puts all it offers aside, so that importing needs no network."""
    for source in Source.objects.of(project).select_related("project").order_by("pk"):
        problem = source_entries.look(source, now=now)
        entries = list(source.entries.order_by("name")) if not problem else []
        missing = [entry for entry in entries if not source_entries.is_staged(entry)]
        came = list(source_entries.put_aside(source, missing))
        yield Warmed(str(source), problem, len(entries) - len(came), tuple(came))
