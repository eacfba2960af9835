"""Answering the questions of runs in the browser: people see exactly what they answer, and nothing else is accepted."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.models import Event, Project, Run, RunQuestion, Token, User
from registry.services import permissions
from registry.services.people import members, projects
from registry.services.permissions import Actor
from registry.services.workflows import questions, runs
from registry.services.workflows.run_worker import RunWorker
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import APPROVE, INPUT, finish
from tests.web.conftest import Browser, signed_in
from tests.web.runs.pages import act, page, text, url

Asking = Callable[..., RunQuestion]
FIELDS = (
    "human.input",
    '{question: "Which parcel?", help: "Look at the scale.", fields: {size: {type: string, required: true},'
    " kilos: {type: number, required: true}, pieces: {type: integer, default: 1}, fragile: {type: boolean},"
    " labels: {type: array}, more: {type: object}}}",
)
DETAILS = (
    "human.approve",
    '{question: "Publish?", details: {text: "Hi\u200bdden", amount: 1, exact: "1", none: null, rows: [], "a b": true}}',
)
BRANCH = """
id: branch
version: 1.0.0
steps:
  - {id: ask, uses: human.approve, input: {question: "Publish?"}, config: {on_deny: apologise}}
  - {id: publish, uses: data.echo, input: {value: published}}
  - {id: apologise, uses: data.echo, input: {value: sorry}}
"""


@pytest.fixture
def reviewer(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))


@pytest.fixture
def owner(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.OWNER))


def state(question: RunQuestion) -> str:
    question.refresh_from_db()
    return question.state


def typed(question: RunQuestion, *values: str) -> dict[str, str]:
    """Return the inputs of the form, in the order of the fields."""
    return {f"q{question.pk}-field-{number}": value for number, value in enumerate(values)}


# -- Approving and denying -----------------------------------------------------------------------------------


def test_an_approval_names_the_digest_that_was_shown_and_the_run_goes_on_once(
    asking: Asking, reviewer: Client, worker: RunWorker
) -> None:
    question = asking()
    html = page(reviewer, question)
    assert "Publish the text?" in html
    shown = re.search(r'name="digest" value="([^"]+)"', html)
    assert shown is not None and shown[1] == question.digest
    assert "Approved. The run goes on." in text(act(reviewer, question, "approve", comment="Fine.", follow=True))
    html = page(reviewer, question)
    assert "Approved by <strong>reviewer</strong>" in html
    assert "Fine." in html
    finish(worker)
    assert Run.objects.get().state == "completed"
    event = Event.objects.get(verb="question.approved")
    assert (event.actor_name, event.data["question"]) == ("reviewer", question.pk)


def test_a_denial_ends_the_run_and_shows_the_comment(asking: Asking, reviewer: Client, worker: RunWorker) -> None:
    question = asking()
    assert "If it is denied, the run ends." in page(reviewer, question)
    assert "Denied." in text(act(reviewer, question, "deny", comment="Not today.", follow=True))
    html = page(reviewer, question)
    assert "Denied by <strong>reviewer</strong>" in html
    assert "Not today." in html
    finish(worker)
    assert Run.objects.get().state == "denied"


@pytest.mark.parametrize("part", ["approve", "deny"])
@pytest.mark.parametrize("digest", ["", "sha256:" + "0" * 64, "nonsense"])
def test_another_digest_is_refused_and_the_page_shows_the_question_as_it_is(
    asking: Asking, reviewer: Client, part: str, digest: str
) -> None:
    question = asking()
    with nothing_left_behind():
        html = text(act(reviewer, question, part, digest=digest), 409)
    assert "This is not what the run asks now." in html
    assert f'name="digest" value="{question.digest}"' in html
    assert state(question) == "open"


@pytest.mark.parametrize("second", ["approve", "deny"])
def test_a_second_click_changes_nothing(asking: Asking, reviewer: Client, second: str) -> None:
    question = asking()
    assert act(reviewer, question, "approve").status_code == 302
    with nothing_left_behind():
        html = text(act(reviewer, question, second), 409)
    assert "was already approved" in html
    assert "<form" not in html.split('id="question-')[1]
    assert state(question) == "approved"


def test_two_people_at_once_one_of_them_sees_what_the_other_did(
    asking: Asking, reviewer: Client, owner: Client
) -> None:
    question = asking()
    page(owner, question)
    act(reviewer, question, "deny", comment="No.")
    html = text(act(owner, question, "approve"), 409)
    assert "was already denied" in html
    assert "Denied by <strong>reviewer</strong>" in html


def test_a_question_that_needs_two_people_shows_who_approved(asking: Asking, reviewer: Client, owner: Client) -> None:
    question = asking(config="{approvers: {count: 2}}")
    assert "0 of 2" in page(reviewer, question)
    html = text(act(reviewer, question, "approve", follow=True))
    assert "Approved. 1 more approval is needed." in html
    assert "1 of 2: reviewer" in html
    assert "You have approved this already." in html
    with nothing_left_behind():
        assert "You have approved this already." in text(act(reviewer, question, "approve"), 409)
    assert "Approved. The run goes on." in text(act(owner, question, "approve", follow=True))


def test_a_denial_with_a_branch_says_which_step_follows(asking: Asking, reviewer: Client, workflow: Any) -> None:
    workflow(BRANCH, "branch")
    assert "the run goes on with the step apologise instead" in page(reviewer, asking(name="branch"))


# -- Who may answer ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR])
def test_people_who_do_not_review_read_a_question_and_cannot_answer(
    asking: Asking, browser_client: Browser, role: str
) -> None:
    question, client = asking(), signed_in(browser_client(role))
    html = page(client, question)
    assert "Only reviewers can answer" in html
    assert "/approve/" not in html
    for part in ("approve", "deny", "answer"):
        with nothing_left_behind():
            assert act(client, question, part).status_code == 403


def test_nobody_approves_their_own_run_and_the_page_says_who_can(
    project: Project, asking: Asking, reviewer: Client, person: Callable[[str], User], owner: Client
) -> None:
    question = asking(by=permissions.person(User.objects.get(username=roles.REVIEWER), project))
    html = page(reviewer, question)
    assert "You can’t approve your own run" in html
    assert "owner can answer." in html
    assert "/approve/" not in html and "/deny/" in html
    with nothing_left_behind():
        assert act(reviewer, question, "approve").status_code == 403
    assert act(owner, question, "approve").status_code == 302


def test_people_deny_their_own_run(project: Project, asking: Asking, reviewer: Client) -> None:
    question = asking(by=permissions.person(User.objects.get(username=roles.REVIEWER), project))
    assert act(reviewer, question, "deny").status_code == 302
    assert state(question) == "denied"


def test_a_question_for_others_names_them(asking: Asking, reviewer: Client, owner: Client) -> None:
    question = asking(config="{approvers: {people: [owner]}}")
    html = page(reviewer, question)
    assert "This question is for other people." in html
    with nothing_left_behind():
        assert act(reviewer, question, "deny").status_code == 403
    assert "your approval is needed" in page(owner, question).lower()


def test_a_question_that_nobody_can_answer_says_so(project: Project, asking: Asking, viewing: Client) -> None:
    assert "Nobody here can answer it now" in page(viewing, asking())


def test_questions_of_other_projects_and_runs_are_not_found(
    project: Project, asking: Asking, operator: Actor, reviewer: Client
) -> None:
    question, other = asking(), asking()
    foreign = projects.create(slug="other", name="Other", by=operator)
    members.set_role(foreign, User.objects.get(username=roles.REVIEWER), roles.REVIEWER, by=operator)
    for address in (
        url(question).replace("/demo/", "/other/"),
        url(question, run=other.run_id),
        url(question, run=9_999),
    ):
        assert reviewer.get(address).status_code == 404
        for part in ("approve", "deny", "answer"):
            with nothing_left_behind():
                assert reviewer.post(f"{address}{part}/", {"digest": question.digest}).status_code == 404


# -- Questions that are over ---------------------------------------------------------------------------------


def test_an_expired_question_cannot_be_answered(asking: Asking, reviewer: Client) -> None:
    question = asking()
    RunQuestion.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    html = page(reviewer, question)
    assert "The run goes on without an answer within a minute." in html
    assert "Approve and continue" not in html and "can answer." not in html and "Expires" not in html
    with nothing_left_behind():
        assert "The time to answer has run out." in text(act(reviewer, question, "approve"), 409)
    questions.expire(now=timezone.now(), by=permissions.operator())
    html = page(reviewer, question)
    assert "Nobody answered in time, which counts as a denial." in html
    with nothing_left_behind():
        assert "already expired" in text(act(reviewer, question, "approve"), 409)


def test_a_withdrawn_question_cannot_be_answered(
    project: Project, asking: Asking, author: Actor, reviewer: Client, worker: RunWorker
) -> None:
    question = asking()
    runs.cancel(project, question.run_id, by=author)
    finish(worker)
    assert "did not need an answer any more" in page(reviewer, question)
    with nothing_left_behind():
        assert "already withdrawn" in text(act(reviewer, question, "deny"), 409)


def test_a_question_that_was_asked_again_shows_what_changed(asking: Asking, reviewer: Client) -> None:
    old = asking(DETAILS)
    RunQuestion.objects.filter(pk=old.pk).update(state="withdrawn")
    shown = {**old.shown, "input": {**old.shown["input"], "details": {"amount": 2, "new": "yes"}}}
    new = RunQuestion.objects.create(
        run=old.run, path=old.path, kind=old.kind, digest="sha256:" + "1" * 64, shown=shown, expires_at=old.expires_at
    )
    html = page(reviewer, new)
    assert "Asked again, because something changed" in html
    for difference in ("input.details.amount", "input.details.new", "input.details.exact"):
        assert difference in html
    html = text(act(reviewer, old, "approve"), 409)
    assert "already withdrawn" in html
    assert f"/questions/{new.pk}/" in html
    assert state(new) == "open"


# -- What is shown -------------------------------------------------------------------------------------------


def test_values_are_shown_with_their_types_and_hidden_characters(asking: Asking, reviewer: Client) -> None:
    html = page(reviewer, asking(DETAILS))
    assert "U+200B" in html
    assert "empty list" in html and "nothing" in html
    assert "[&quot;a b&quot;]" in html
    rows = re.findall(r"<code>(amount|exact)</code> <small>(\w+)</small>", html)
    assert rows == [("amount", "integer"), ("exact", "string")]


def test_long_values_fold_and_everything_can_be_downloaded(
    asking: Asking, reviewer: Client, viewing: Client, project: Project
) -> None:
    question = asking(("human.approve", f'{{question: "Send it?", details: {{text: "{"long " * 9_000}"}}}}'))
    html = page(reviewer, question)
    assert "<details" in html
    assert "Not everything is shown here." in html
    assert len(html) < 100_000
    everything = reviewer.get(f"{url(question)}everything.json")
    assert everything.json()["input"]["details"]["text"] == "long " * 9_000
    assert everything["Content-Disposition"].startswith("attachment")
    assert everything["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_a_value_with_many_rows_is_bounded(asking: Asking, reviewer: Client) -> None:
    question = asking()
    question.shown["input"]["details"] = {"rows": [0] * 300_000}
    question.save(update_fields=["shown"])
    html = page(reviewer, question)
    assert html.count("<tr>") < 320
    assert "Not everything is shown here." in html


# -- Input ---------------------------------------------------------------------------------------------------


def test_typed_input_becomes_values_of_the_declared_types(asking: Asking, reviewer: Client, worker: RunWorker) -> None:
    question = asking(FIELDS)
    html = page(reviewer, question)
    assert "Look at the scale." in html
    assert "If it is empty, the default is used." in html
    sent = typed(question, "Line one\r\nLine two", "2.5", "", "no", '["a"]', '{"b": null}')
    assert act(reviewer, question, "answer", **sent).status_code == 302
    question.refresh_from_db()
    assert question.value == {
        "size": "Line one\nLine two", "kilos": 2.5, "pieces": 1, "fragile": False, "labels": ["a"], "more": {"b": None},
    }  # fmt: skip
    finish(worker)
    assert Run.objects.get().state == "completed"
    assert "Line two" in page(reviewer, question)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, "", "Fill this in."),
        (1, "", "Fill this in."),
        (1, "2,5", "Use a point"),
        (1, "NaN", "Use a point"),
        (1, "1_0", "Use a point"),
        (1, "1e999", "too large"),
        (2, "1.5", "Enter a whole number"),
        (2, "９", "Enter a whole number"),
        (3, "maybe", "Choose yes or no."),
        (4, "[1,", "This is not JSON"),
        (4, "[NaN]", "NaN is not a number of JSON"),
        (4, "[" * 5_000, "nested too deeply"),
        (5, '{"a": 1', "This is not JSON"),
        (5, '{"a": 1, "a": 2}', "appears twice"),
        (5, "[]", "Enter a JSON object"),
    ],
)
def test_a_wrong_value_is_refused_beside_its_field_and_kept(
    asking: Asking, reviewer: Client, place: int, value: str, message: str
) -> None:
    question = asking(FIELDS)
    values = ["Small", "2", "3", "", "", ""]
    values[place] = value
    with nothing_left_behind():
        html = text(act(reviewer, question, "answer", comment="Weighed.", **typed(question, *values)), 422)
    error = html.split(f'id="id_q{question.pk}-field-{place}_error"')[1].split("</div>")[0]
    assert message in error
    assert "Weighed." in html
    assert "Small" in html or place == 0
    assert f'aria-describedby="id_q{question.pk}-field-{place}_' in html


def test_a_comment_that_is_too_long_is_refused_and_kept(asking: Asking, reviewer: Client) -> None:
    question = asking()
    with nothing_left_behind():
        html = text(act(reviewer, question, "approve", comment="x" * 1_001), 422)
    assert "The comment has 1,001 characters. 1,000 are allowed." in html
    assert "x" * 1_001 in html


def test_an_answer_that_is_too_large_is_refused(asking: Asking, reviewer: Client) -> None:
    question = asking(FIELDS)
    with nothing_left_behind():
        html = text(act(reviewer, question, "answer", **typed(question, "x" * 300_000, "1")), 422)
    assert "262,144" in html


def test_an_approval_is_no_answer_and_an_answer_no_approval(asking: Asking, reviewer: Client) -> None:
    approval, given = asking(APPROVE, name="one"), asking(INPUT, name="two")
    with nothing_left_behind():
        assert "needs an approval, not an answer" in text(act(reviewer, approval, "answer"), 422)
        assert "needs an answer, not an approval" in text(act(reviewer, given, "approve"), 422)


def test_an_answer_needs_a_token_of_the_form(asking: Asking, browser_client: Browser) -> None:
    question, client = asking(), signed_in(browser_client(roles.REVIEWER, strict=True))
    with nothing_left_behind():
        assert act(client, question, "approve").status_code == 403


def test_the_address_of_the_questions_leads_to_the_one_that_waits(asking: Asking, reviewer: Client) -> None:
    question = asking()
    address = f"/projects/demo/runs/{question.run_id}/questions/"
    assert reviewer.get(address)["Location"] == url(question)
    act(reviewer, question, "deny")
    assert reviewer.get(address)["Location"] == url(question)
    assert reviewer.get("/projects/demo/runs/9999/questions/").status_code == 404


def test_a_maker_of_the_token_is_told_that_it_is_recorded(
    project: Project, asking: Asking, operator: Actor, reviewer: Client, owner: Client, viewing: Client
) -> None:
    bot = ensure_agent(project, "bot", by=operator)
    maker = permissions.person(User.objects.get(username=roles.REVIEWER), project)
    Token.objects.create(project=project, agent=bot, owner_id=maker.user_id, digest="0" * 64, scopes=[roles.RUN])
    question = asking(by=permissions.agent(bot, frozenset({roles.RUN, roles.READ})))
    assert "You can’t approve your own run" in page(reviewer, question)
    projects.set_makers_approve(project, True, by=operator)
    assert "You made a token of this agent." in page(reviewer, question)
    assert "You made a token of this agent." not in page(owner, question)
    assert act(reviewer, question, "approve").status_code == 302
    assert "reviewer made a token of this agent" in page(viewing, question)
