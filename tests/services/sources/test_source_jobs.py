"""Jobs of sources: skill by skill with a reason for each failure, taken up again after a crash, and nothing twice."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from registry.core.bundle import Bundle
from registry.core.sources.import_request import ImportRequest
from registry.models import Event, Project, Source, SourceJob, Version
from registry.services import housekeeping
from registry.services.files import blobs
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.skills import versions
from registry.services.sources import install, source_jobs, sources
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.services.other_site import Elsewhere, elsewhere

pytestmark = pytest.mark.slow

MANY = [f"skill-{number:03}" for number in range(21)]
FEW = MANY[:4]


@pytest.fixture
def site(settings: Any) -> Iterator[Elsewhere]:
    with elsewhere() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.receiver.host]
        yield made


@pytest.fixture
def filled(project: Project, site: Elsewhere, author: Actor) -> Callable[[list[str]], Source]:
    """A source that offers these skills, and was looked at."""

    def fill(names: list[str]) -> Source:
        site.skills.update({name: skill_bundle(name, files={"a.txt": name.encode()}) for name in names})
        source = sources.add(project, "well-known", site.address, by=author)
        source_jobs.run_due()
        return Source.objects.select_related("project").get(pk=source.pk)

    return fill


class Crash(BaseException):
    """Raised instead of killing the process: no code after it runs."""


def crashing(after: int) -> Callable[[], datetime]:
    """A clock that is asked so many times, and then never answers again."""
    left = [after]

    def clock() -> datetime:
        left[0] -= 1
        if left[0] < 0:
            raise Crash
        return timezone.now()

    return clock


def outcomes(job: SourceJob) -> dict[str, str]:
    return dict(job.items.order_by("position").values_list("name", "status"))


def test_a_large_source_is_imported_unchanged(
    project: Project, site: Elsewhere, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(MANY)
    job = sources.start(project, source.pk, [ImportRequest(name) for name in MANY], by=author)
    source_jobs.run_due(budget=timedelta(minutes=5))
    found = sources.job(project, source.pk, job.pk, by=author)
    assert (found.state, found.done, found.total) == ("done", 21, 21)  # type: ignore[attr-defined]
    assert set(outcomes(job).values()) == {"imported"}
    stored = {version.skill.name: version for version in Version.objects.select_related("skill")}
    assert {name: version.digest for name, version in stored.items()} == {
        name: bundle.digest for name, bundle in site.skills.items()
    }
    assert blobs.bundle(stored[MANY[7]].manifest) == site.skills[MANY[7]]
    assert Event.objects.filter(verb="source.imported").count() == 21


def test_each_failure_has_its_reason_and_does_not_stop_the_others(
    project: Project, site: Elsewhere, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(["good", "gone", "moved", "taken"])
    create_skill(project, skill_bundle("taken"), by=author)
    del site.skills["gone"]
    site.skills["moved"] = skill_bundle("moved", body="Something else.")
    wanted = ["gone", "moved", "unheard-of", "taken", "good"]
    job = sources.start(project, source.pk, [ImportRequest(name) for name in wanted], by=author)
    source_jobs.run_due()
    assert outcomes(job) == {
        "gone": "failed", "moved": "failed", "unheard-of": "failed", "taken": "skipped", "good": "imported",
    }  # fmt: skip
    reasons = dict(job.items.values_list("name", "reason"))
    assert "404" in reasons["gone"]
    assert "digest" in reasons["moved"]
    assert "has no skill" in reasons["unheard-of"]
    assert "already has its own skill" in reasons["taken"]
    job.refresh_from_db()
    assert (job.state, job.finished_at is not None) == ("done", True)


def test_an_invalid_skill_says_which_line(
    project: Project, site: Elsewhere, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    site.skills["broken"] = Bundle({"SKILL.md": b"---\nname: broken\nname: twice\n---\n"})
    source = filled([])
    job = sources.start(project, source.pk, [ImportRequest("broken")], by=author)
    source_jobs.run_due()
    item = job.items.get()
    assert item.status == "failed"
    assert "SKILL.md, line 3" in item.reason


def test_an_unreachable_source_fails_each_skill_with_the_reason(
    project: Project, site: Elsewhere, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(FEW)
    site.status = 503
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    source_jobs.run_due()
    assert set(outcomes(job).values()) == {"failed"}
    assert all("503" in reason for reason in job.items.values_list("reason", flat=True))


@pytest.mark.parametrize("calls", range(3, 8))
def test_another_worker_continues_after_a_crash_at_any_point(
    project: Project, author: Actor, filled: Callable[[list[str]], Source], calls: int
) -> None:
    source = filled(FEW)
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    with pytest.raises(Crash):
        source_jobs.run_due(clock=crashing(calls))
    done = Version.objects.count()
    assert done < len(FEW)
    source_jobs.run_due()
    assert Version.objects.count() == done, "its lease has not ended yet"
    later = timezone.now() + source_jobs.LEASE + timedelta(seconds=1)
    source_jobs.run_due(clock=lambda: later if timezone.now() < later else timezone.now(), budget=timedelta(hours=1))
    job.refresh_from_db()
    assert (job.state, set(outcomes(job).values())) == ("done", {"imported"})
    assert (Version.objects.count(), Event.objects.filter(verb="source.imported").count()) == (4, 4)


def test_a_job_fails_after_too_many_attempts(
    project: Project, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(FEW)
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    now = timezone.now()
    for turn in range(source_jobs.MOST_ATTEMPTS + 1):
        now += source_jobs.LEASE * 2
        times = iter([now] * 3)
        try:
            source_jobs.run_due(clock=lambda times=times: next(times), budget=timedelta(hours=1))  # type: ignore[misc]
        except StopIteration:
            assert turn < source_jobs.MOST_ATTEMPTS
    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", "All 3 attempts ended before the job was done.")
    assert set(outcomes(job).values()) == {"failed"}


def test_a_worker_that_lost_its_lease_stores_nothing(
    project: Project, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    """While the first one hangs, its lease ends and another does the job. What the first does next is undone."""
    source = filled(FEW)
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    asked = [0]

    def clock() -> datetime:
        asked[0] += 1
        if asked[0] == 6:
            later = timezone.now() + source_jobs.LEASE * 2
            source_jobs.run_due(clock=lambda: later, budget=timedelta(hours=1))
        return timezone.now()

    source_jobs.run_due(clock=clock)
    job.refresh_from_db()
    assert (job.state, set(outcomes(job).values())) == ("done", {"imported"})
    assert (Version.objects.count(), Event.objects.filter(verb="source.imported").count()) == (4, 4)


def test_a_worker_that_gives_up_without_its_lease_marks_no_item(
    project: Project, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    """The job is hopeless for the first worker, but before it says so, another worker takes the job."""
    source = filled(FEW)
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    Source.objects.filter(pk=source.pk).update(removed_at=timezone.now())

    def clock() -> datetime:
        held = SourceJob.objects.filter(pk=job.pk, state="running")
        if held.update(leased_until=timezone.now() + source_jobs.LEASE * 2):
            Source.objects.filter(pk=source.pk).update(removed_at=None)
        return timezone.now()

    source_jobs.run_due(clock=clock)
    job.refresh_from_db()
    assert (job.state, set(outcomes(job).values())) == ("running", {"waiting"})


def test_a_worker_keeps_its_lease_when_a_result_cannot_be_stored(
    project: Project, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(FEW)
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    failures = [DatabaseError("disk full")]

    def fail_once(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith('UPDATE "registry_sourcejobitem"') and failures:
            raise failures.pop()
        return execute(sql, *rest)

    with connection.execute_wrapper(fail_once):
        source_jobs.run_due()
    job.refresh_from_db()
    first, *others = FEW
    assert (job.state, outcomes(job)) == ("done", {first: "failed"} | dict.fromkeys(others, "imported"))
    assert "failed unexpectedly" in job.items.get(name=first).reason


def test_a_long_job_pauses_for_others_and_continues(
    project: Project, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(FEW)
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    now = [timezone.now()]

    def clock() -> datetime:
        now[0] += timedelta(seconds=1)
        return now[0]

    turns = 0
    while source_jobs.run_due(clock=clock, budget=timedelta(seconds=4)):
        turns += 1
        assert turns < 20
    job.refresh_from_db()
    assert (job.state, Version.objects.count()) == ("done", 4)
    assert turns > 1


def warm(project: Project) -> str:
    said = StringIO()
    call_command("warm_cache", "--project", project.slug, "--sources", stdout=said)
    return said.getvalue()


def test_importing_staged_skills_needs_no_network(
    project: Project, site: Elsewhere, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(FEW)
    assert warm(project) == f"{source}: 4 skills\n"
    site.status = 503
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    source_jobs.run_due()
    assert set(outcomes(job).values()) == {"imported"}
    with pytest.raises(CommandError, match="1 not fetched"):
        warm(project)


def test_warming_twice_fetches_once_and_prints_failures(
    project: Project, site: Elsewhere, filled: Callable[[list[str]], Source]
) -> None:
    filled(FEW)
    warm(project)
    warm(project)
    assert sorted(site.asked) == FEW
    site.skills["late"] = skill_bundle("late")
    site.withheld.add("late")
    with pytest.raises(CommandError, match="1 not fetched"):
        warm(project)


def test_a_job_waits_while_its_project_is_archived(
    project: Project, author: Actor, operator: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(FEW)
    job = sources.start(project, source.pk, [ImportRequest(name) for name in FEW], by=author)
    projects.archive(project, by=operator)
    assert not source_jobs.run_due()
    projects.restore(project, by=operator)
    source_jobs.run_due()
    job.refresh_from_db()
    assert job.state == "done"


def test_a_job_enqueues_a_task_and_the_sweep_replaces_a_lost_one(
    project: Project, author: Actor, filled: Callable[[list[str]], Source], django_capture_on_commit_callbacks: Any
) -> None:
    source = filled(FEW)
    with django_capture_on_commit_callbacks(execute=True):
        sources.look(project, source.pk, by=author)
    assert DBTaskResult.objects.count() == 1
    housekeeping.sweep(now=timezone.now())
    assert DBTaskResult.objects.count() == 2
    source_jobs.work.func()
    housekeeping.sweep(now=timezone.now())
    assert DBTaskResult.objects.count() == 2


def test_a_job_records_its_actor_and_token(
    project: Project, author: Actor, filled: Callable[[list[str]], Source]
) -> None:
    source = filled(FEW)
    sources.start(project, source.pk, [ImportRequest(FEW[0])], by=author)
    source_jobs.run_due()
    event = Event.objects.get(verb="source.imported")
    assert (event.actor_name, event.user_id) == (author.name, author.user_id)
    (version,) = versions.history(project, FEW[0])
    assert version.author_id == version.provenance.user_id == author.user_id
    assert install.import_skill(project, source.pk, ImportRequest(FEW[0]), by=author).status == "unchanged"
