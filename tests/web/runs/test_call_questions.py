"""Questions about calls: what a person sees before they allow one, and whether a call that was cut off has happened."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Event, Project, Run, RunQuestion
from registry.services.permissions import Actor
from registry.services.workflows import run_leases, runs
from registry.services.workflows.run_worker import RunWorker
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import capabilities, finish
from tests.web.conftest import Browser, signed_in
from tests.web.runs.pages import act, page, text, url

__all__ = ["capabilities"]

PAY = """
id: pay
version: 1.0.0
outputs: {receipt: {type: number}}
steps:
  - {id: transfer, uses: bank.transfer, input: {seconds: 0}, output: {slept: outputs.receipt}}
"""
TRANSFER = """
id: bank.transfer
version: 1.0.0
description: Sends money to an account.
inputs: {seconds: {type: number, required: true}}
outputs: {slept: {type: number, required: true}, note: {type: string}}
properties: {side_effects: true, idempotent: false}
safety: {reversible: false, data_classification: pii, trust_level: standard CONFIRMED}
binding: {kind: builtin, function: control.sleep}
"""
REMOTE = """
id: bank.transfer
version: 1.0.0
description: Sends money to an account.
inputs: {seconds: {type: number, required: true}}
outputs: {slept: {type: number, required: true}}
properties: {side_effects: true, idempotent: false}
safety:
  requires_confirmation: true
  mandatory_pre_gates: [{capability: security.secrets.detect, input: {text: "nothing"}, on_fail: block}]
binding: {kind: http, url: "https://bank.example.com/pay", headers: {Authorization: "secret:BANK_TOKEN"}, body: input}
"""
CONFIRMED = TRANSFER.replace("CONFIRMED", ", requires_confirmation: true")
PLAIN = TRANSFER.replace(" CONFIRMED", "").replace("reversible: false", "reversible: true")


@pytest.fixture
def reviewer(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))


@pytest.fixture
def pay(
    project: Project, capabilities: Callable[..., None], workflow: Callable[..., str], author: Actor
) -> Callable[[str], Run]:
    """Return a function that registers the transfer, and starts a run that makes one."""

    def begin(definition: str) -> Run:
        capabilities(transfer=definition)
        return runs.start(project, workflow(PAY, "pay"), by=author)

    return begin


@pytest.fixture
def asked(pay: Callable[[str], Run], worker: RunWorker) -> Callable[[str], RunQuestion]:
    def ask(definition: str) -> RunQuestion:
        run = pay(definition)
        finish(worker)
        return RunQuestion.objects.get(run=run)

    return ask


@pytest.fixture
def doubt(pay: Callable[[str], Run], worker: RunWorker) -> RunQuestion:
    """Return the question about a call whose worker was lost."""
    run, lost = pay(PLAIN), RunWorker(poll_seconds=0)
    while not any(held.scheduler.in_flight for held in lost.held.values()):
        lost.work()
    run_leases.release(lost.name)
    finish(worker)
    return RunQuestion.objects.get(run=run)


def after(worker: RunWorker) -> Run:
    finish(worker)
    return Run.objects.get()


def typed(question: RunQuestion, slept: str, note: str = "") -> dict[str, str]:
    return {f"q{question.pk}-field-0": slept, f"q{question.pk}-field-1": note}


def test_a_call_is_shown_with_its_effects_and_asked_once(
    asked: Callable[[str], RunQuestion], reviewer: Client, worker: RunWorker
) -> None:
    question = asked(CONFIRMED)
    html = page(reviewer, question)
    for fact in ("Sends money to an account.", "It changes something elsewhere. It can’t be undone.", "pii"):
        assert fact in html
    assert "<code>seconds</code> <small>integer</small>" in html
    assert act(reviewer, question, "approve").status_code == 302
    assert after(worker).outputs == {"receipt": 0}
    assert RunQuestion.objects.count() == 1


def test_secrets_are_shown_by_name_only(asked: Callable[[str], RunQuestion], reviewer: Client, settings: Any) -> None:
    settings.WORKFLOW_SECRETS = {"BANK_TOKEN": "hunter2-hunter2"}
    question = asked(REMOTE)
    html = page(reviewer, question)
    assert "<code>BANK_TOKEN</code>" in html
    assert "bank.example.com" in html
    assert "hunter2" not in html
    assert "hunter2" not in text(reviewer.get(f"{url(question)}everything.json"))


def test_a_definition_that_changed_is_announced_and_asked_again(
    asked: Callable[[str], RunQuestion], capabilities: Callable[..., None], reviewer: Client, worker: RunWorker
) -> None:
    question = asked(CONFIRMED)
    capabilities(transfer=CONFIRMED.replace("an account", "any account"))
    assert "has changed since. After an approval the run asks again." in page(reviewer, question)
    act(reviewer, question, "approve")
    assert after(worker).state == "waiting"
    again = RunQuestion.objects.get(state="open")
    html = page(reviewer, again)
    assert "Asked again, because something changed" in html
    assert "Sends money to any account." in html
    html = text(act(reviewer, question, "approve"), 409)
    assert "The run has asked again since." in html and url(again) in html
    act(reviewer, again, "approve")
    assert after(worker).state == "completed"


def test_a_gate_that_asks_after_the_confirmation_is_named_in_words(
    asked: Callable[[str], RunQuestion], reviewer: Client, worker: RunWorker
) -> None:
    gate = "{capability: policy.range.gate, input: {value: input.seconds, maximum: -1}, on_fail: require_human}"
    question = asked(CONFIRMED.replace("safety: {", f"safety: {{mandatory_pre_gates: [{gate}], "))
    act(reviewer, question, "approve")
    finish(worker)
    html = page(reviewer, RunQuestion.objects.get(state="open"))
    assert "<code>gate policy.range.gate</code>" in html and "objects: " in html
    assert "verdicts" not in html


# -- Did it happen? ------------------------------------------------------------------------------------------


def test_a_call_in_doubt_is_shown_with_the_key_that_the_service_got(doubt: RunQuestion, reviewer: Client) -> None:
    html = page(reviewer, doubt)
    assert "Did the call of bank.transfer happen?" in html
    assert f"run-{doubt.run_id}/transfer" in html
    assert "Step began" in html
    for button in ("It happened", "It did not, do it again", "Stop here"):
        assert button in html


def test_it_happened_with_the_result_that_the_person_gives(
    doubt: RunQuestion, reviewer: Client, worker: RunWorker
) -> None:
    assert act(reviewer, doubt, "answer", happened="yes", **typed(doubt, "2041", "See mail.")).status_code == 302
    assert after(worker).outputs == {"receipt": 2041}
    html = page(reviewer, doubt)
    assert "The call has happened." in html
    assert "See mail." in html
    assert Event.objects.filter(verb="question.answered").count() == 1


def test_it_did_not_happen_and_is_done_again(doubt: RunQuestion, reviewer: Client, worker: RunWorker) -> None:
    assert act(reviewer, doubt, "answer", happened="no").status_code == 302
    assert after(worker).outputs == {"receipt": 0}
    assert "The call has not happened, so it was made again." in page(reviewer, doubt)
    assert Run.objects.get().steps.get(path="transfer").attempts == 2


def test_stopping_ends_the_run_without_another_call(doubt: RunQuestion, reviewer: Client, worker: RunWorker) -> None:
    assert "Stopped." in text(act(reviewer, doubt, "deny", comment="Ask the bank.", follow=True))
    run = after(worker)
    assert (run.state, run.steps.get(path="transfer").attempts) == ("denied", 1)
    assert "Stopped by" in page(reviewer, doubt)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({}, "Say whether the call has happened."),
        ({"happened": "perhaps"}, "Say whether the call has happened."),
        ({"happened": "yes"}, "Fill this in."),
    ],
)
def test_an_incomplete_answer_is_refused(
    doubt: RunQuestion, reviewer: Client, form: dict[str, str], message: str
) -> None:
    with nothing_left_behind():
        assert message in text(act(reviewer, doubt, "answer", comment="Kept.", **form), 422)


def test_a_result_of_the_wrong_type_is_refused_and_kept(doubt: RunQuestion, reviewer: Client) -> None:
    with nothing_left_behind():
        html = text(act(reviewer, doubt, "answer", happened="yes", **typed(doubt, "much", "Kept note.")), 422)
    assert "Enter a number such as 2.5." in html
    assert "Kept note." in html


def test_a_call_in_doubt_needs_an_answer_and_no_approval(doubt: RunQuestion, reviewer: Client) -> None:
    with nothing_left_behind():
        assert "needs an answer, not an approval" in text(act(reviewer, doubt, "approve"), 422)


def test_the_starter_cannot_say_whether_their_own_call_happened(
    doubt: RunQuestion, project: Project, reviewer: Client, browser_client: Browser
) -> None:
    Run.objects.update(user=None, agent=None)
    run = Run.objects.get()
    run.user_id = project.memberships.get(user__username=roles.REVIEWER).user_id
    run.save(update_fields=["user"])
    assert "You can’t approve your own run" in page(reviewer, doubt)
    for happened in ("yes", "no", ""):
        with nothing_left_behind():
            assert act(reviewer, doubt, "answer", happened=happened).status_code == 403


def test_hidden_characters_in_names_and_hints_of_fields_are_marked(
    project: Project, workflow: Callable[..., str], author: Actor, reviewer: Client, worker: RunWorker
) -> None:
    fields = '{"am\\u202eount": {type: string, description: "In \\u200beuros."}}'
    steps = f'steps: [{{id: ask, uses: human.input, input: {{question: "How much?", fields: {fields}}}}}]'
    run = runs.start(project, workflow(f"id: ask\nversion: 1.0.0\n{steps}\n", "ask"), by=author)
    finish(worker)
    html = page(reviewer, run.questions.get())
    assert "U+202E" in html.split("<label", 1)[1]
    assert "U+200B" in html.split("<label", 1)[1]
