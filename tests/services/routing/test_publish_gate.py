"""The routing gate refuses a change that makes routing worse, however it is published."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.errors import InvalidRequest, RoutingGateFailed
from registry.core.text import edits
from registry.models import Event, Project
from registry.services import audit, permissions
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.proposals import proposals, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.routing import evaluations, publish_gate, routing_settings
from registry.services.routing.impact import Moved
from registry.services.skills import bulk_edit, bundles, skills, versions
from tests.conftest import skill_bundle
from tests.prepared import ensure_agent, proposing_agent, save_skill
from tests.services.footprint import nothing_left_behind
from tests.services.routing.gated import DESCRIPTIONS, ELSEWHERE, QUESTIONS, bundle, gated_project, measured, thief

REASON = "The parcels moved to another team."


@pytest.fixture
def gated(project: Project, operator: Actor) -> Project:
    return gated_project(project, operator)


@pytest.fixture
def agent(project: Project, operator: Actor) -> Actor:
    return permissions.agent(ensure_agent(project, "bot", by=operator), frozenset(roles.SCOPES))


def digest(project: Project, name: str = "desk") -> str:
    return catalog.get(project.pk, name).winner.digest  # type: ignore[union-attr]


def _proposal(project: Project, by: Actor) -> Any:
    text = bundle("desk", ELSEWHERE)[SKILL_MD].decode()
    suggestion = Suggestion("desk", edits.parse(skill_md=text), "It is nicer.")
    return proposals.propose(project, suggestion, by=by).proposal


# Each way to publish the bad description, with the reason.
Door = Callable[[Project, Actor, str], object]
DOORS: dict[str, Door] = {
    "save": lambda project, by, reason: skills.save(
        project, "desk", bundle("desk", ELSEWHERE), base=digest(project), gate_reason=reason, by=by
    ),
    "create": lambda project, by, reason: skills.create(project, thief(), gate_reason=reason, by=by),
    "import": lambda project, by, reason: bundles.import_bundle(
        project, bundle("desk", ELSEWHERE), gate_reason=reason, by=by
    ),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("reason", ["", " \n"])
def test_a_change_without_a_reason_is_refused(gated: Project, author: Actor, door: str, reason: str) -> None:
    with nothing_left_behind(), pytest.raises(RoutingGateFailed, match="Nothing was published") as refused:
        DOORS[door](gated, author, reason)
    assert {each.rule for each in refused.value.findings} == {"routing-gate"}
    assert refused.value.data["lost"] >= len(QUESTIONS["desk"])
    assert QUESTIONS["desk"][0] in "".join(each.message for each in refused.value.findings)


@pytest.mark.parametrize(("rank", "then"), [(4, "at place 4"), (0, "no longer")])
def test_a_finding_names_the_place_of_the_skill_before_and_after(rank: int, then: str) -> None:
    moved = Moved("Where is it?", ("desk",), "shop", "shop", better=False, rank_before=2, rank_after=rank)
    message = publish_gate._finding(moved).message
    assert message == f"“Where is it?” finds its skill at place 2 now, and {then} after the change."


@pytest.mark.parametrize("door", DOORS)
def test_an_agent_cannot_override_the_gate_and_learns_no_question(gated: Project, agent: Actor, door: str) -> None:
    with nothing_left_behind(), pytest.raises(RoutingGateFailed, match="Only people") as refused:
        DOORS[door](gated, agent, REASON)
    assert refused.value.findings == ()
    assert not any(query in refused.value.message for query in QUESTIONS["desk"])


@pytest.mark.parametrize("reason", ["x" * 301, "because\0"])
def test_a_reason_that_cannot_be_stored_is_refused(gated: Project, author: Actor, reason: str) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="reason"):
        DOORS["save"](gated, author, reason)


@pytest.mark.parametrize("door", DOORS)
def test_the_reason_of_an_override_is_in_the_audit_log(gated: Project, author: Actor, door: str) -> None:
    DOORS[door](gated, author, f"  {REASON}\n")
    data = Event.objects.order_by("-pk")[0].data
    assert data["gate_reason"] == REASON
    assert any("Worse than the baseline" in reason for reason in data["gate"])


def test_a_reason_that_was_not_needed_is_not_recorded(gated: Project, author: Actor) -> None:
    better = bundle("desk", f"{DESCRIPTIONS['desk']} Also for letters.")
    skills.save(gated, "desk", better, base=digest(gated), gate_reason=REASON, by=author)
    assert "gate_reason" not in Event.objects.order_by("-pk")[0].data


def test_a_gate_that_does_not_block_publishes(project: Project, operator: Actor, author: Actor) -> None:
    gated_project(project, operator, blocking=False)
    DOORS["save"](project, author, "")
    assert measured(project).p_at_1 == 0.6


def test_an_approval_is_refused_without_a_reason(gated: Project, operator: Actor, reviewer: Actor) -> None:
    bot = proposing_agent(gated, "bot", operator)
    made = _proposal(gated, bot)
    with nothing_left_behind(), pytest.raises(RoutingGateFailed):
        reviews.approve(gated, made.pk, result_digest=made.result_digest, by=reviewer)
    reviews.approve(gated, made.pk, result_digest=made.result_digest, gate_reason=REASON, by=reviewer)
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.data["gate_reason"]) == ("proposal.approved", REASON)


def test_an_old_version_is_restored_only_with_a_reason(gated: Project, operator: Actor, author: Actor) -> None:
    skills.save(gated, "desk", bundle("desk", ELSEWHERE), base=digest(gated), gate_reason=REASON, by=author)
    save_skill(gated, "desk", bundle(), base=digest(gated), by=author)
    with nothing_left_behind(), pytest.raises(RoutingGateFailed):
        versions.restore(gated, "desk", "2", by=author)
    versions.restore(gated, "desk", "2", gate_reason=REASON, by=author)


def test_a_deleted_skill_comes_back_only_with_a_reason(gated: Project, author: Actor) -> None:
    skills.create(gated, thief(), gate_reason=REASON, by=author)
    skills.delete(gated, "couriers", by=author)
    with nothing_left_behind(), pytest.raises(RoutingGateFailed):
        skills.undelete(gated, "couriers", by=author)
    skills.undelete(gated, "couriers", gate_reason=REASON, by=author)


def test_a_bulk_edit_names_the_skills_that_the_gate_refuses(gated: Project, author: Actor, operator: Actor) -> None:
    plain = "Keeps notes. Use when somebody asks for notes."
    skills.create(gated, skill_bundle("notes", description=plain), by=operator)
    result = bulk_edit.tag(gated, ["notes", "ledger"], "parcel shipment delivery", by=author)
    refused = dict(result.refused)
    assert all("routing gate" in reason for reason in refused.values())
    assert {*result.changed, *refused} == {"notes", "ledger"}


def test_a_project_that_fails_already_can_be_mended_in_steps(gated: Project, author: Actor) -> None:
    DOORS["save"](gated, author, REASON)
    assert not evaluations.measure(gated, evaluations.golden_set.all_of(gated.pk), learn=False).verdict.passed
    half = bundle("desk", "Finds a parcel. Use when a parcel is lost.")
    skills.save(gated, "desk", half, base=digest(gated), by=author)
    with nothing_left_behind(), pytest.raises(RoutingGateFailed):
        skills.save(gated, "desk", bundle("desk", ELSEWHERE), base=digest(gated), by=author)
    skills.save(gated, "desk", bundle(), base=digest(gated), by=author)


def test_the_gate_counts_what_changed_after_the_first_check(gated: Project, author: Actor, operator: Actor) -> None:
    content = bundle("desk", ELSEWHERE)[SKILL_MD]
    routing_settings.change(gated, blocking=False, by=operator)
    publish_gate.check(gated, "desk", content, reason="", by=author)
    routing_settings.change(gated, blocking=True, by=operator)
    with pytest.raises(RoutingGateFailed), audit.change(gated, "skill.saved", by=author, target="desk") as change:
        publish_gate.require(gated, "desk", content, reason="", change=change)


def test_a_project_without_a_blocking_gate_costs_one_query(
    project: Project, author: Actor, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        publish_gate.check(project, "desk", bundle()[SKILL_MD], reason="", by=author)
