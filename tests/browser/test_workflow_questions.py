"""People answer the questions of runs in the browser, and a real worker goes on with the runs."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from registry.core import roles
from registry.models import Run, RunQuestion
from registry.services import permissions
from registry.services.capabilities import project_capabilities
from registry.services.skills import skills
from registry.services.workflows import questions, run_leases, runs
from registry.services.workflows.run_worker import RunWorker
from tests.browser import steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.conftest import skill_bundle

Carry = Callable[[], None]

# The service of this capability is a step that waits, so that its call can be cut off.
TRANSFER = """\
id: bank.transfer
version: 1.0.0
description: Sends money to an account.
inputs: {seconds: {type: number, required: true}}
outputs: {slept: {type: number, required: true, description: The number on the receipt.}}
properties: {side_effects: true, idempotent: false}
safety: {requires_confirmation: true, reversible: false, data_classification: internal}
binding: {kind: builtin, function: control.sleep}
"""
PAY = """\
id: pay
version: 1.0.0
outputs: {receipt: {type: number}}
steps:
  - {id: transfer, uses: bank.transfer, input: {seconds: 1}, output: {slept: outputs.receipt}}
"""
PUBLISH = """\
id: publish
version: 1.0.0
outputs: {text: {type: string}}
steps:
  - id: gate
    uses: human.approve
    input: {question: "Publish the text?", details: {text: "Sold out until May."}}
    config: {on_deny: keep}
  - {id: publish, uses: data.echo, input: {value: published}, output: {value: outputs.text}}
  - {id: keep, uses: data.echo, input: {value: kept}, output: {value: outputs.text}}
"""
PLAIN = PUBLISH.replace("    config: {on_deny: keep}\n", "").partition("  - {id: keep")[0]
WEIGH = """\
id: weigh
version: 1.0.0
outputs: {answer: {type: object}}
steps:
  - id: ask
    uses: human.input
    input: {question: "How heavy is it?", fields: {kilos: {type: number, required: true}, fragile: {type: boolean}}}
    output: {values: outputs.answer}
"""


def start(team: Team, workflow: str, name: str, carry: Carry) -> Run:
    """Start a workflow as the author, and let it come to its question."""
    author = team.actor(roles.AUTHOR)
    bundle = skill_bundle(name, {"workflow.yaml": workflow.encode()})
    team.site.do(skills.create, team.project, bundle, by=author)
    run = team.site.do(runs.start, team.project, name, by=author)
    carry()
    return run


def now(team: Team, run: Run) -> Run:
    return team.site.do(Run.objects.get, pk=run.pk)


def open_question(team: Team, run: Run) -> RunQuestion:
    return team.site.do(lambda: RunQuestion.objects.get(run=run, state="open"))


def address(team: Team, question: RunQuestion) -> str:
    return f"{team.base}/runs/{question.run_id}/questions/{question.pk}/"


def from_waiting(page: Page, team: Team, question: str) -> None:
    """Go to a question from the list of what waits."""
    page.goto(f"{team.base}/runs/")
    page.get_by_role("main").get_by_role("link", name="Waiting for you").click()
    expect(steps.heading(page)).to_have_text("Waiting for you")
    page.get_by_role("link", name=question).click()
    expect(page.get_by_role("heading", name=question)).to_be_visible()


def show_end(page: Page, badge: str) -> None:
    """Reload the page of the run, and check how it ended."""
    page.reload()
    expect(page.locator("#run-badge")).to_have_text(badge)


@pytest.mark.parametrize("script", [True, False])
def test_an_approval_at_the_gate_lets_the_run_finish(
    team: Team, windows: Windows, run_worker: Carry, script: bool
) -> None:
    run = start(team, PUBLISH, "publish", run_worker)
    page = windows.open(team.session(roles.REVIEWER), script=script, narrow=not script)
    page.goto(f"{team.base}/skills/")
    expect(page.get_by_role("link", name=re.compile("^Runs"))).to_contain_text("1 waiting for you")
    from_waiting(page, team, "Publish the text?")
    expect(page.get_by_role("table", name="Input of the call")).to_contain_text("Sold out until May.")
    expect(page.get_by_text("the run goes on with the step keep instead")).to_be_visible()
    page.get_by_label("Comment").fill("Spelling is right.")
    page.get_by_role("button", name="Approve and continue").click()
    expect(steps.toast(page, "Approved. The run goes on.")).to_be_visible()
    run_worker()
    show_end(page, "Completed")
    assert now(team, run).outputs == {"text": "published"}
    page.get_by_text("1 earlier question").click()
    page.get_by_role("link", name="Publish the text?").click()
    expect(page.get_by_text("Spelling is right.")).to_be_visible()


def test_a_person_approves_on_the_page_of_the_run_and_sees_it_finish(
    team: Team, windows: Windows, run_worker: Carry
) -> None:
    run = start(team, PLAIN, "plain", run_worker)
    page = windows.open(team.session(roles.REVIEWER))
    page.goto(f"{team.base}/runs/{run.pk}/")
    page.locator("#run-questions").get_by_role("button", name="Approve and continue").press("Enter")
    expect(steps.toast(page, "Approved.")).to_be_visible()
    run_worker()
    expect(page.locator("#run-badge")).to_have_text("Completed")  # without a reload


@pytest.mark.parametrize(
    ("workflow", "badge", "outputs"), [(PLAIN, "Denied", {}), (PUBLISH, "Completed", {"text": "kept"})]
)
def test_a_denial_ends_the_run_or_takes_its_branch(
    team: Team, windows: Windows, run_worker: Carry, workflow: str, badge: str, outputs: object
) -> None:
    run = start(team, workflow, "publish", run_worker)
    page = windows.open(team.session(roles.REVIEWER))
    from_waiting(page, team, "Publish the text?")
    page.get_by_role("button", name="Deny").click()
    expect(steps.toast(page, "Denied.")).to_be_visible()
    run_worker()
    show_end(page, badge)
    assert now(team, run).outputs == outputs


def test_a_question_that_nobody_answers_in_time_is_denied(team: Team, windows: Windows, run_worker: Carry) -> None:
    run = start(team, PLAIN, "plain", run_worker)
    page = windows.open(team.session(roles.REVIEWER))
    from_waiting(page, team, "Publish the text?")
    past = timezone.now() - timedelta(seconds=1)
    team.site.do(lambda: RunQuestion.objects.filter(run=run).update(expires_at=past))
    page.get_by_role("button", name="Approve and continue").click()
    expect(page.get_by_role("alert")).to_contain_text("The time to answer has run out.")
    team.site.do(questions.expire, now=timezone.now(), by=permissions.operator())
    run_worker()
    page.get_by_role("navigation", name="You are here").get_by_role("link", name=str(run.pk)).click()
    expect(page.locator("#run-badge")).to_have_text("Expired")
    page.goto(f"{team.base}/waiting/")
    expect(page.get_by_role("heading", name="No run waits for you")).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_typed_input_with_an_error_first(team: Team, windows: Windows, run_worker: Carry, script: bool) -> None:
    run = start(team, WEIGH, "weigh", run_worker)
    page = windows.open(team.session(roles.REVIEWER), script=script, narrow=True)
    from_waiting(page, team, "How heavy is it?")
    page.get_by_label("kilos").fill("2,5")
    page.get_by_label("fragile").select_option("Yes")
    page.get_by_role("button", name="Answer and continue").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved.")
    expect(page.get_by_label("kilos")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Use a point, and no other characters.")).to_be_visible()
    expect(page.get_by_label("kilos")).to_have_value("2,5")
    expect(page.get_by_label("fragile")).to_have_value("yes")
    page.get_by_label("kilos").fill("2.5")
    page.get_by_role("button", name="Answer and continue").click()
    expect(steps.toast(page, "Answered. The run goes on.")).to_be_visible()
    run_worker()
    assert now(team, run).outputs == {"answer": {"kilos": 2.5, "fragile": True}}


def test_two_tabs_answer_once(team: Team, windows: Windows, run_worker: Carry) -> None:
    run = start(team, PUBLISH, "publish", run_worker)
    question = open_question(team, run)
    first, second = windows.open(team.session(roles.REVIEWER)), windows.open(team.session(roles.OWNER))
    for page in (first, second):
        page.goto(address(team, question))
    first.get_by_role("button", name="Deny").click()
    expect(steps.toast(first, "Denied.")).to_be_visible()
    second.get_by_role("button", name="Approve and continue").click()
    expect(second.get_by_role("alert")).to_contain_text("The question was already denied. Nothing was changed.")
    expect(second.get_by_role("main")).to_contain_text(f"Denied by {team.person(roles.REVIEWER).username}")
    expect(second.get_by_role("button", name="Approve and continue")).to_have_count(0)
    run_worker()
    assert now(team, run).outputs == {"text": "kept"}


# -- A call with side effects --------------------------------------------------------------------------------


def begin_transfer(team: Team, page: Page, carry: Carry) -> Run:
    """Start a run, and approve its call in the browser."""
    team.site.do(project_capabilities.register, team.project, TRANSFER, by=team.actor(roles.OWNER))
    run = start(team, PAY, "pay", carry)
    from_waiting(page, team, "Allow the call of bank.transfer?")
    main = page.get_by_role("main")
    for fact in (
        "Sends money to an account.",
        "It can’t be undone.",
        "internal",
        "This capability needs a confirmation.",
    ):
        expect(main).to_contain_text(fact)
    page.get_by_role("button", name="Approve and continue").click()
    expect(steps.toast(page, "Approved.")).to_be_visible()
    return run


def cut_off(team: Team) -> None:
    """Lose a worker in the middle of the call."""

    def work() -> None:
        worker = RunWorker(poll_seconds=0)
        while not any(held.scheduler.in_flight for held in worker.held.values()):
            worker.work()
        run_leases.release(worker.name)

    team.site.do(work)


@pytest.mark.parametrize(
    ("button", "badge", "outputs"),
    [
        ("It happened", "Completed", {"receipt": 2041}),
        ("It did not, do it again", "Completed", {"receipt": 1}),
        ("Stop here", "Denied", {}),
    ],
)
def test_did_it_happen(
    team: Team, windows: Windows, run_worker: Carry, button: str, badge: str, outputs: object
) -> None:
    page = windows.open(team.session(roles.REVIEWER))
    run = begin_transfer(team, page, run_worker)
    cut_off(team)
    run_worker()
    from_waiting(page, team, "Did the call of bank.transfer happen?")
    expect(page.get_by_role("main")).to_contain_text(f"run-{run.pk}/transfer")
    if button == "It happened":
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing was saved.")
        page.get_by_label("slept").fill("2041")
    page.get_by_role("button", name=button).click()
    expect(page.locator("#run-badge")).to_be_visible()
    run_worker()
    show_end(page, badge)
    assert now(team, run).outputs == outputs


def test_a_call_whose_definition_changed_is_asked_again_with_the_change(
    team: Team, windows: Windows, run_worker: Carry
) -> None:
    page = windows.open(team.session(roles.REVIEWER))
    owner = team.actor(roles.OWNER)
    row = team.site.do(project_capabilities.register, team.project, TRANSFER, by=owner)
    run = start(team, PAY, "pay", run_worker)
    question = open_question(team, run)
    page.goto(address(team, question))
    changed = TRANSFER.replace("reversible: false", "reversible: true").replace("an account.", "any account.")
    team.site.do(project_capabilities.change, team.project, row.name, changed, seen=row.digest, by=owner)
    page.get_by_role("button", name="Approve and continue").click()
    expect(steps.toast(page, "Approved.")).to_be_visible()
    run_worker()
    again = open_question(team, run)
    page.goto(address(team, again))
    changes = page.get_by_role("table", name="Differences")
    expect(changes).to_contain_text("Sends money to any account.")
    expect(changes).to_contain_text("definition")
    page.get_by_role("button", name="Approve and continue").click()
    run_worker()
    show_end(page, "Completed")
