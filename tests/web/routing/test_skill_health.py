"""Skill health: how each skill is found, which skill it loses to, and what the page tells viewers."""

import pytest
from django.test import Client

from registry.models import Project
from registry.services.permissions import Actor
from registry.services.routing import evaluations, routing_settings
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.web.routing.pages import BASE, HOSTILE, QUESTIONS, ask, text

HEALTH = f"{BASE}health/"


@pytest.fixture
def measured(skilled: Project, author: Actor, operator: Actor) -> Project:
    """A skill that is always found, one that is never found, and one without a question."""
    create_skill(
        skilled, skill_bundle("night-porter", description="Open doors. Use when a guest is locked out."), by=author
    )
    routing_settings.change(skilled, by=operator, fixed_threshold=0.0)
    ask(skilled, "refund request money", "refund-reply", by=author)
    ask(skilled, f"refund request {HOSTILE}", "parcel-sizes", by=author)
    evaluations.run(skilled, by=author)
    return skilled


def test_without_test_questions_the_page_leads_to_them(skilled: Project, writing: Client) -> None:
    html = " ".join(text(writing.get(HEALTH)).split())
    assert "There are no test questions yet," in html
    assert f'<a href="{QUESTIONS}">Write some</a>' in html


def test_without_an_evaluation_the_page_says_so(skilled: Project, author: Actor, viewing: Client) -> None:
    ask(skilled, "Money", "refund-reply", by=author)
    html = text(viewing.get(HEALTH))
    assert "Nobody has run the test questions yet," in html
    assert "No test question" in html


def test_a_project_without_skills_says_what_to_do(project: Project, viewing: Client) -> None:
    assert "No skills yet" in text(viewing.get(HEALTH))


def test_the_worst_skills_come_first_with_what_they_lose_to(measured: Project, writing: Client) -> None:
    html = text(writing.get(HEALTH))
    assert html.index("Never found") < html.index("No test question")
    assert "found for 0 of 1 question, 0\xa0% (recall)" in html
    assert "Loses “refund request &lt;script&gt;" in html
    assert "” to refund-reply." in html
    assert "<script>alert" not in html
    assert f'href="{QUESTIONS}new/?expected=night-porter"' in html
    assert "right in 1 of 2 offers, 50 % (precision)" in " ".join(text(writing.get(f"{HEALTH}?show=all")).split())


def test_a_viewer_sees_numbers_and_no_question(measured: Project, viewing: Client) -> None:
    html = " ".join(text(viewing.get(HEALTH)).split())
    assert "Loses 1 question to refund-reply." in html
    assert "refund request" not in html
    assert QUESTIONS not in html


def test_a_link_from_the_page_fills_in_the_skill(measured: Project, writing: Client) -> None:
    assert 'value="night-porter"' in text(writing.get(f"{QUESTIONS}new/?expected=night-porter"))
