"""Health of skills in routing: alike, losing, and untested ones."""

from typing import Any

import pytest

from registry.core.findings import Severity
from registry.core.format import skill_md
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.routing import health
from registry.services.skills import skills
from tests.conftest import skill_bundle, skill_text
from tests.prepared import create_skill, disable_skill
from tests.services.routing.gated import DESCRIPTIONS, bundle, gated_project, thief


def rules(project: Project, name: str) -> list[tuple[str, str]]:
    project.refresh_from_db()
    return [(each.rule, str(each.severity)) for each in health.of_skill(project, name)]


@pytest.fixture
def plain(project: Project, operator: Actor) -> Project:
    for name in DESCRIPTIONS:
        create_skill(project, bundle(name), by=operator)
    project.refresh_from_db()
    return project


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_skill_of_its_own_kind_has_no_finding(plain: Project, name: str) -> None:
    assert health.of_skill(plain, name) == ()


def test_a_skill_that_agents_do_not_get_has_no_finding(plain: Project, operator: Actor) -> None:
    create_skill(plain, skill_bundle("copy", description=DESCRIPTIONS["desk"]), by=operator)
    disable_skill(plain, "copy", by=operator)
    assert rules(plain, "copy") == rules(plain, "missing") == rules(plain, "desk") == []


def test_two_skills_with_one_description_route_alike(plain: Project, operator: Actor) -> None:
    skills.create(plain, skill_bundle("courier", description=f"{DESCRIPTIONS['desk']}", body="Other."), by=operator)
    plain.refresh_from_db()
    found = [each for name in ("desk", "courier") for each in health.of_skill(plain, name)]
    assert {each.rule for each in found} <= {health.ROUTES_ALIKE, health.LOSES}
    assert health.ROUTES_ALIKE in {each.rule for each in found}
    assert {each.severity for each in found} == {Severity.WARNING}
    assert "courier" in found[0].message


def test_a_description_that_finds_another_skill_is_reported(plain: Project, operator: Actor) -> None:
    vague = "Refund, voucher."
    skills.create(plain, skill_bundle("zebra", description=vague, body="Stripes."), by=operator)
    skills.create(
        plain,
        skill_bundle("refund-voucher", description="Gives a refund or a voucher.", triggers=("refund", "voucher")),
        by=operator,
    )
    assert (health.LOSES, "warning") in rules(plain, "zebra")


def test_a_trigger_of_two_skills_is_reported_for_both(plain: Project, operator: Actor) -> None:
    for name, trigger in (("left", "Tea-Time"), ("right", "tea time")):
        text = f"Does the {name} thing with numbers. Use when somebody asks for {name}."
        skills.create(plain, skill_bundle(name, description=text, triggers=(trigger,)), by=operator)
    plain.refresh_from_db()
    (left,), (right,) = health.of_skill(plain, "left"), health.of_skill(plain, "right")
    assert (left.rule, left.message) == (health.ROUTES_ALIKE, "The trigger “Tea-Time” is also a trigger of right.")
    assert "of left" in right.message


def test_a_skill_without_a_test_question_is_a_hint_only_if_there_are_some(project: Project, operator: Actor) -> None:
    create_skill(project, skill_bundle("notes", description="Keeps the minutes of meetings."), by=operator)
    assert rules(project, "notes") == []
    gated_project(project, operator)
    assert rules(project, "notes") == [(health.NO_TEST_QUESTION, "hint")]
    assert rules(project, "desk") == []


def test_the_health_of_a_project_lists_the_skills_with_findings(project: Project, operator: Actor) -> None:
    gated_project(project, operator)
    skills.create(project, thief(), gate_reason="On purpose.", by=operator)
    project.refresh_from_db()
    found = health.of_project(project, seconds=60)
    assert (found.checked, found.total) == (4, 4)
    assert "couriers" in found.findings
    assert found.findings["couriers"] == health.of_skill(project, "couriers")
    assert health.of_project(project, seconds=0).checked == 0


def test_findings_are_cached_until_the_project_changes(plain: Project, django_assert_num_queries: Any) -> None:
    health.of_project(plain)
    with django_assert_num_queries(0):
        assert health.of_project(plain).checked == 3


def test_a_draft_is_compared_with_the_skills_of_the_project(plain: Project) -> None:
    same = skill_md.read(skill_text("courier", DESCRIPTIONS["desk"], body="Other."))
    found = health.of_draft(plain, "courier", same)
    assert [each.rule for each in found if each.rule in (health.ROUTES_ALIKE, health.LOSES)]
    assert {each.line for each in found} == {3}
    assert health.of_draft(plain, "desk", skill_md.read(bundle()["SKILL.md"])) == ()
