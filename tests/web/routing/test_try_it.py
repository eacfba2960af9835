"""The page “Try it”: the answer to a question, as each agent would get it."""

import pytest
from django.test import Client

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.core.routing.golden import QUERY_CHARS, Case
from registry.models import GoldenCase, Project
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.routing import golden_set
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser
from tests.web.routing.pages import BASE, HOSTILE, QUESTIONS, ask, text


def test_the_empty_page_says_what_to_do(project: Project, viewing: Client) -> None:
    html = text(viewing.get(BASE))
    assert "Type a question" in html
    assert "No skill fits" not in html


def test_a_browser_does_not_cut_a_question_that_is_too_long(skilled: Project, viewing: Client, writing: Client) -> None:
    for html in (text(viewing.get(BASE)), text(writing.get(f"{QUESTIONS}new/"))):
        assert "<textarea" in html
        assert f'maxlength="{QUERY_CHARS}"' not in html


def test_a_question_shows_the_skill_its_probability_and_the_others(skilled: Project, viewing: Client) -> None:
    with nothing_left_behind():
        html = text(viewing.post(BASE, {"q": "refund request money"}))
    assert "An agent would pick" in html
    assert 'href="/projects/demo/skills/refund-reply/"' in html
    assert "no skill is offered. This threshold is the default" in html
    assert "• `refund-reply` — Answer a refund request." in html


def test_a_skill_with_hardly_any_evidence_is_not_given_a_whole_percent(skilled: Project, viewing: Client) -> None:
    html = text(viewing.post(BASE, {"q": "answer a refund request about a parcel"}))
    assert "&lt;1\xa0%" in html


def test_nothing_in_common_is_an_explicit_none(skilled: Project, viewing: Client) -> None:
    html = text(viewing.post(BASE, {"q": "zzz"}))
    assert "No skill fits" in html
    assert "No skill is loaded" in html


def test_an_agent_is_never_offered_a_skill_that_it_does_not_see(
    skilled: Project, operator: Actor, viewing: Client
) -> None:
    agents.create(skilled, "packer", Definition(allowed_skills=("parcel-sizes",)), by=operator)
    html = text(viewing.post(BASE, {"q": "refund request money", "agent": "packer"}))
    assert "refund-reply" not in html


def test_an_agent_with_a_short_list_finds_a_skill_that_is_not_in_it(
    skilled: Project, operator: Actor, viewing: Client
) -> None:
    packer = Definition(prompt="You choose a parcel when somebody packs.", best_skills=1)
    agents.create(skilled, "packer", packer, by=operator)
    html = text(viewing.post(BASE, {"q": "refund request money", "agent": "packer"}))
    assert "packer would pick" in html
    assert "The names and descriptions of 1 skill, in every prompt." in html
    assert "gets a shorter list without this skill" in html


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"q": ""}, "Enter a question"),
        ({"q": " \n "}, "Enter a question"),
        ({"q": "x" * (QUERY_CHARS + 1)}, f"The question has {QUERY_CHARS + 1} characters."),
        ({"q": "a\0b"}, "contains a NUL character"),
        ({"q": "a", "agent": "nobody"}, "This agent does not exist."),
        ({"q": "a", "kind": "nothing"}, "This kind does not exist."),
    ],
)
def test_an_invalid_form_names_its_error(project: Project, viewing: Client, sent: dict[str, str], error: str) -> None:
    assert error in text(viewing.post(BASE, sent), 422)


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_hostile_question_is_only_text(skilled: Project, viewing: Client, method: str) -> None:
    html = text(getattr(viewing, method)(BASE, {"q": f"{HOSTILE} refund"}))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ 7|add:7 }} &quot; onload=" in html


def test_htmx_gets_the_answer_alone(skilled: Project, viewing: Client) -> None:
    html = text(viewing.post(BASE, {"q": "refund"}, headers={"HX-Request": "true"}))
    assert "<html" not in html
    assert 'id="answer"' in html
    assert 'hx-swap-oob="innerHTML"' in html


def test_every_member_finds_the_page_in_the_navigation(project: Project, browser_client: Browser) -> None:
    for role in (roles.VIEWER, roles.OWNER):
        assert f'href="{BASE}"' in text(browser_client(role).get("/projects/demo/members/"))


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"right": "skill:refund-reply"}, ["refund-reply"]),
        ({"right": "none"}, []),
        ({"right": "other", "other": " parcel-sizes "}, ["parcel-sizes"]),
    ],
)
def test_an_author_saves_the_question_with_one_click(
    skilled: Project, writing: Client, sent: dict[str, str], expected: list[str]
) -> None:
    assert 'name="right"' in text(writing.post(BASE, {"q": "refund"}))
    html = text(writing.post(BASE, {"q": "refund", **sent}))
    assert "Saved as a test question." in html
    row = GoldenCase.objects.get()
    assert (row.query, row.expected) == ("refund", expected)
    assert f'href="{BASE}questions/{row.pk}/"' in html


def test_saving_a_known_question_again_keeps_its_note_and_acceptable_skills(
    skilled: Project, author: Actor, writing: Client
) -> None:
    case = Case("refund", ("refund-reply",), ("parcel-sizes",), note="From the support desk")
    golden_set.add(skilled, [case], by=author)
    text(writing.post(BASE, {"q": "refund", "right": "skill:refund-reply"}))
    assert golden_set.as_case(GoldenCase.objects.get()) == case.checked()
    text(writing.post(BASE, {"q": "refund", "right": "skill:parcel-sizes"}))
    row = GoldenCase.objects.get()
    assert (row.expected, row.acceptable, row.note) == (["parcel-sizes"], [], case.note)
    text(writing.post(BASE, {"q": "refund", "right": "none"}))
    row.refresh_from_db()
    assert (row.expected, row.category, row.note) == ([], "negative", case.note)


@pytest.mark.parametrize("sent", [{}, {"other": " "}, {"other": "\0"}, {"right": "skill:absent"}, {"right": "skill:"}])
def test_an_answer_that_agents_do_not_get_is_refused(skilled: Project, writing: Client, sent: dict[str, str]) -> None:
    with nothing_left_behind():
        assert "Nothing was saved." in text(writing.post(BASE, {"q": "refund", "right": "other", **sent}), 422)


def test_a_misspelt_skill_stays_in_the_field(skilled: Project, writing: Client) -> None:
    html = text(writing.post(BASE, {"q": "refund", "right": "other", "other": "refund-replay"}), 422)
    assert 'name="other" value="refund-replay"' in html


def test_a_viewer_tries_but_neither_saves_nor_sees_test_questions(
    skilled: Project, author: Actor, viewing: Client
) -> None:
    ask(skilled, "refund", "parcel-sizes", by=author)
    html = text(viewing.post(BASE, {"q": "refund"}))
    assert 'name="right"' not in html
    assert "test question already" not in html
    assert "/routing/questions/" not in html
    with nothing_left_behind():
        assert viewing.post(BASE, {"q": "other", "right": "none"}).status_code == 403
