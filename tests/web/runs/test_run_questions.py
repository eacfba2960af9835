"""The questions on the page of their run."""

from collections.abc import Callable

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Run, RunQuestion
from tests.services.workflows.conftest import INPUT
from tests.web.conftest import Browser, signed_in
from tests.web.runs.pages import act, text

Started = Callable[..., Run]
MANY = """
id: many
version: 1.0.0
inputs: {items: {type: array, required: true}}
steps:
  - id: each
    uses: human.approve
    input: {question: "Send this letter?", details: item}
    config: {foreach: {items: inputs.items}}
"""


@pytest.fixture
def reviewer(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))


def page(client: Client, run: Run) -> str:
    return text(client.get(f"/projects/demo/runs/{run.pk}/"))


def test_the_first_open_questions_have_a_form_and_the_others_a_line(started: Started, reviewer: Client) -> None:
    run = started(MANY, inputs={"items": list(range(8))})
    html = page(reviewer, run)
    assert html.count(">Approve and continue</button>") == 5
    assert "3 more questions" in html
    asked = set(run.questions.values_list("pk", flat=True))
    assert {pk for pk in asked if f'id="question-{pk}"' in html} == set(sorted(asked)[:5])
    assert all(f"/questions/{pk}/" in html for pk in asked)


def test_an_answer_moves_a_question_to_the_earlier_ones(started: Started, reviewer: Client) -> None:
    run = started(MANY, inputs={"items": [1, 2]})
    first, second = run.questions.order_by("pk")
    html = text(act(reviewer, first, "approve", follow=True))
    assert "1 earlier question" in html
    assert html.count(">Approve and continue</button>") == 1
    assert f'name="digest" value="{second.digest}"' in html


def test_a_question_that_is_too_large_for_the_page_is_answered_on_its_own(started: Started, reviewer: Client) -> None:
    run = started(MANY, inputs={"items": ["x" * 1_000]})
    question = run.questions.get()
    question.shown["input"]["details"] = ["longer"] * 500_000
    question.save(update_fields=["shown"])
    html = page(reviewer, run)
    assert ">Approve and continue</button>" not in html
    assert "1 more question" in html
    html = text(reviewer.get(f"/projects/demo/runs/{run.pk}/questions/{question.pk}/"))
    assert ">Approve and continue</button>" in html
    assert "Not everything is shown here." in html


def test_questions_for_others_come_after_those_the_person_can_answer(
    project: Project, started: Started, reviewer: Client
) -> None:
    run = started(MANY, inputs={"items": list(range(7))})
    first = run.questions.order_by("pk")[0]
    RunQuestion.objects.filter(pk=first.pk).update(people=["owner"])
    html = page(reviewer, run)
    assert f'id="question-{first.pk}"' not in html
    assert f"/questions/{first.pk}/" in html


def test_people_who_cannot_answer_see_no_form(started: Started, viewing: Client) -> None:
    html = page(viewing, started(MANY, inputs={"items": [1]}))
    assert "Send this letter?" in html
    assert "Waiting for somebody else" in html
    assert 'name="digest"' not in html


def test_the_page_counts_what_others_have_approved(
    project: Project, started: Started, reviewer: Client, browser_client: Browser
) -> None:
    run = started(MANY.replace("config: {", "config: {approvers: {count: 2}, "), inputs={"items": [1]})
    question = run.questions.get()
    act(reviewer, question, "approve")
    html = page(signed_in(browser_client(roles.OWNER)), run)
    assert "1 of 2: reviewer" in html
    assert ">Approve and continue</button>" in html


def test_a_denied_input_is_among_the_earlier_questions(asking: Callable[..., RunQuestion], reviewer: Client) -> None:
    question = asking(INPUT)
    html = text(act(reviewer, question, "deny", follow=True))
    assert "Denied." in html and "1 earlier question" in html
    assert "Denied</span>" in html and "Stopped" not in html
