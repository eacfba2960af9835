"""Suppressions: who may make them, what they need, and that nothing else is stored."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from registry.core.errors import Conflict, Forbidden, InvalidRequest, NotFound
from registry.models import Event, Project, Suppression
from registry.models.accounts import WARNING
from registry.services.permissions import Actor
from registry.services.scans import scan_queries, suppressions
from registry.services.skills import scan_jobs, skills
from tests.conftest import skill_bundle
from tests.services.footprint import nothing_left_behind
from tests.services.scans.alarming import ALARM, LINE, RULE, alarming

DIGEST = alarming().digest
PLACE: dict[str, Any] = {"rule": RULE, "file": "SKILL.md", "line": LINE}


@pytest.fixture
def scanned(project: Project, author: Actor) -> Project:
    skills.create(project, alarming(), by=author)
    return project


def test_a_suppression_has_a_reason_a_person_and_an_end(scanned: Project, reviewer: Actor) -> None:
    row = suppressions.suppress(scanned, DIGEST, **PLACE, reason=" A  quote. ", days=7, by=reviewer)
    assert (row.reason, row.by_id, row.skill, row.line) == ("A quote.", reviewer.user_id, "greeting", LINE)
    assert timedelta(days=6, hours=23) < row.expires_at - timezone.now() <= timedelta(days=7)
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.target) == ("finding.suppressed", "greeting")
    assert event.data == {
        "digest": DIGEST, **PLACE, "reason": "A quote.", "expires_at": row.expires_at.isoformat(),
    }  # fmt: skip


def test_a_suppression_can_end_and_be_made_again(scanned: Project, owner: Actor, reviewer: Actor) -> None:
    row = suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=reviewer)
    ended = suppressions.end(scanned, row.pk, by=owner)
    assert (ended.ended_by_id, ended.ended_at is not None) == (owner.user_id, True)
    assert Event.objects.order_by("-pk")[0].verb == "suppression.ended"
    again = suppressions.suppress(scanned, DIGEST, **PLACE, reason="It is one.", by=reviewer)
    assert list(suppressions.listed(scanned, by=reviewer)) == [again, row]


def test_an_expired_suppression_is_replaced(scanned: Project, reviewer: Actor) -> None:
    row = suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=reviewer)
    Suppression.objects.update(expires_at=timezone.now() - timedelta(days=1))
    suppressions.suppress(scanned, DIGEST, **PLACE, reason="Still.", by=reviewer)
    row.refresh_from_db()
    assert row.ended_at == row.expires_at
    assert suppressions.active_keys(scanned, DIGEST) == {(RULE, "SKILL.md", LINE)}


def test_a_finding_is_not_suppressed_twice(scanned: Project, reviewer: Actor) -> None:
    suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=reviewer)
    with nothing_left_behind(), pytest.raises(Conflict):
        suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=reviewer)


def test_only_reviewers_and_owners_may(scanned: Project, author: Actor, viewer: Actor, reviewer: Actor) -> None:
    for by in (author, viewer):
        with nothing_left_behind(), pytest.raises(Forbidden):
            suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=by)
    row = suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=reviewer)
    for by in (author, viewer):
        with nothing_left_behind(), pytest.raises(Forbidden):
            suppressions.end(scanned, row.pk, by=by)


@pytest.mark.parametrize("reason", ["", "  \n", "x" * 301])
def test_a_reason_is_needed(scanned: Project, reviewer: Actor, reason: str) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        suppressions.suppress(scanned, DIGEST, **PLACE, reason=reason, by=reviewer)


@pytest.mark.parametrize("days", [0, -1, 366, 10**9])
def test_a_suppression_lasts_at_most_a_year(scanned: Project, reviewer: Actor, days: int) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", days=days, by=reviewer)


@pytest.mark.parametrize(
    "change", [{"rule": "other"}, {"file": "other.md"}, {"line": LINE + 1}, {"line": None}, {"line": 0}]
)
def test_only_a_finding_of_the_scan_can_be_suppressed(
    scanned: Project, reviewer: Actor, change: dict[str, Any]
) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        suppressions.suppress(scanned, DIGEST, **{**PLACE, **change}, reason="A quote.", by=reviewer)


def test_a_digest_without_a_scan_is_not_found(scanned: Project, reviewer: Actor) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        suppressions.suppress(scanned, f"sha256:{'0' * 64}", **PLACE, reason="A quote.", by=reviewer)


def test_suppressions_of_another_project_are_not_found(
    scanned: Project, other_project: Project, operator: Actor, reviewer: Actor
) -> None:
    row = suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=reviewer)
    with nothing_left_behind():
        with pytest.raises(NotFound):
            suppressions.suppress(other_project, DIGEST, **PLACE, reason="A quote.", by=operator)
        with pytest.raises(NotFound):
            suppressions.end(other_project, row.pk, by=operator)
        with pytest.raises(NotFound):
            suppressions.end(other_project, row.pk, by=reviewer)
    assert list(suppressions.listed(other_project, by=operator)) == []


def test_a_suppression_ends_once(scanned: Project, reviewer: Actor) -> None:
    row = suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=reviewer)
    suppressions.end(scanned, row.pk, by=reviewer)
    with nothing_left_behind(), pytest.raises(Conflict):
        suppressions.end(scanned, row.pk, by=reviewer)


def test_the_sweep_ends_expired_suppressions_with_one_event_each(scanned: Project, reviewer: Actor) -> None:
    row = suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", days=1, by=reviewer)
    events = Event.objects.count()
    scan_jobs.clean(now=timezone.now())
    assert Event.objects.count() == events
    for _ in range(2):
        scan_jobs.clean(now=row.expires_at)
    row.refresh_from_db()
    assert (row.ended_at, row.ended_by) == (row.expires_at, None)
    event = Event.objects.order_by("-pk")[0]
    assert (Event.objects.count(), event.verb, event.actor_kind) == (events + 1, "suppression.ended", "system")


def test_suppressed_alarms_take_no_place_in_a_limited_list(scanned: Project, author: Actor, reviewer: Actor) -> None:
    skills.create(scanned, alarming("welcome"), by=author)
    suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=reviewer)
    listed = scan_queries.alarms(scanned, by=reviewer, most=1)
    assert [(each.scan.skill, each.warnings) for each in listed] == [("welcome", 1)]


def test_a_finding_that_stands_for_others_cannot_be_suppressed(
    project: Project, author: Actor, reviewer: Actor
) -> None:
    bundle = skill_bundle(body="\n\n".join([ALARM] * 25))
    skills.create(project, bundle, by=author)
    Project.objects.filter(pk=project.pk).update(blocking=WARNING)
    listed = scan_queries.require_details(project, bundle.digest, by=reviewer).findings
    *others, last = [each.finding for each in listed if each.finding.rule == RULE]
    for each in others:
        suppressions.suppress(
            project, bundle.digest, rule=RULE, file=each.file, line=each.line, reason="A quote.", by=reviewer
        )
    assert last.more == 5
    with nothing_left_behind(), pytest.raises(Conflict, match="stands for 5 others"):
        suppressions.suppress(
            project, bundle.digest, rule=RULE, file=last.file, line=last.line, reason="A quote.", by=reviewer
        )
    judged = scan_queries.require_details(project, bundle.digest, by=reviewer)
    assert [each.finding for each in judged.findings if each.blocks] == [last]
