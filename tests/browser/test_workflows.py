"""Runs in the browser: start one from the page of its skill, follow it to its end, cancel it and replay it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Request, expect

from registry.core import roles
from registry.models import RunQuestion
from registry.services.workflows import questions
from tests.browser import run_states
from tests.browser.accessibility import EVERYTHING, load_axe, violations
from tests.browser.conftest import Windows
from tests.browser.site import Site, Team
from tests.browser.steps import heading, look_until

SKILL = "supplier-onboarding"


@pytest.fixture(scope="module")
def worker(site: Site) -> Iterator[None]:
    with site.worker():
        yield


def publish(team: Team, name: str) -> None:
    team.site.do(run_states.publish, team.project, name, by=team.actor(roles.OWNER))


def begin(page: Page, team: Team, name: str) -> None:
    """Open the form that starts a run, from the page of the skill."""
    page.goto(f"{team.base}/skills/{name}/")
    page.get_by_role("link", name="Run", exact=True).click()
    expect(heading(page)).to_have_text(f"Run {name}")


def start_onboarding(page: Page, team: Team) -> None:
    begin(page, team, SKILL)
    page.get_by_label("name").fill("Brennholz & Söhne")
    page.get_by_label("contacts").fill("Ada Okafor\nJun Watanabe")
    page.get_by_role("button", name="Start the run").click()
    expect(heading(page)).to_have_text(SKILL)


def approve(team: Team, path: str = "open-record") -> None:
    """Approve what the only run of the team asks, as another person."""

    def decide() -> None:
        question = RunQuestion.objects.get(run__project=team.project, path=path)
        questions.approve(team.project, question.run_id, question.pk, digest=question.digest, by=reviewer)

    reviewer = team.actor(roles.REVIEWER)
    team.site.do(decide)


def badge(page: Page) -> str:
    return page.locator("#run-badge").inner_text()


def test_a_run_is_started_and_followed_to_its_end_without_a_reload(team: Team, windows: Windows, worker: None) -> None:
    publish(team, SKILL)
    page = windows.open(team.session(roles.AUTHOR))
    start_onboarding(page, team)
    page.evaluate("window.stayed = true")
    graph = page.locator(".graph-scroll").first
    expect(graph.locator(".node--waiting")).to_have_count(1)
    expect(page.locator("#run-badge")).to_have_text("Waiting")
    expect(page.locator("#run-headline")).to_contain_text("Waiting for a person: Open a supplier record")
    fold = page.locator("#fold-check-register")
    fold.locator("summary").press("Enter")
    expect(fold.get_by_role("heading", name="Input")).to_be_visible()
    approve(team)
    expect(page.locator("#run-badge")).to_have_text("Completed")
    expect(graph.locator(".node--done")).to_have_count(6)
    expect(graph.locator(".node--skipped")).to_have_count(1)
    expect(page.locator("#run-headline")).to_contain_text("Completed in")
    expect(page.get_by_role("button", name="Replay")).to_be_visible()
    expect(fold.get_by_role("heading", name="Input")).to_be_visible()
    expect(fold.locator("summary")).to_be_focused()
    assert page.evaluate("window.stayed") is True
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    load_axe(page)
    assert violations(page, EVERYTHING) == []


def test_a_run_is_started_and_followed_without_javascript(team: Team, windows: Windows, worker: None) -> None:
    publish(team, SKILL)
    page = windows.open(team.session(roles.AUTHOR), script=False, narrow=True)
    start_onboarding(page, team)
    look_until(page, page.url, "Waiting for a person: Open a supplier record")
    approve(team)
    look_until(page, page.url, "Completed in")
    expect(page.locator(".node--waiting")).to_have_count(0)
    page.get_by_role("link", name="Where from? record").click()
    expect(page.get_by_text("contributed: check-register, write-record.")).to_be_visible()


def test_a_page_asks_less_often_and_stops_when_the_run_is_finished(team: Team, windows: Windows, worker: None) -> None:
    publish(team, SKILL)
    page = windows.open(team.session(roles.AUTHOR), clock=True)
    start_onboarding(page, team)
    expect(page.locator("#run-badge")).to_have_text("Waiting")
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request) if "/live/" in request.url else None)
    for _ in range(8):
        with page.expect_response(lambda answer: "/live/" in answer.url) as answer:
            page.clock.fast_forward(10_000)
        assert answer.value.status == 204
    before = len(asked)
    page.clock.fast_forward(9_000)  # less than the longest pause
    page.wait_for_load_state("networkidle")
    assert len(asked) == before
    approve(team)
    page.clock.fast_forward(10_000)
    expect(page.locator("#live:not([data-live])")).to_have_count(1)
    before = len(asked)
    page.clock.fast_forward(60_000)
    page.wait_for_load_state("networkidle")
    assert len(asked) == before


def test_a_comment_stays_while_another_question_is_answered(team: Team, windows: Windows, worker: None) -> None:
    publish(team, "price-list")
    author = windows.open(team.session(roles.AUTHOR))
    begin(author, team, "price-list")
    author.get_by_role("button", name="Start the run").click()
    expect(author.locator("#run-badge")).to_have_text("Waiting")
    page = windows.open(team.session(roles.OWNER))
    page.goto(author.url)
    comment = page.get_by_label("Comment").last
    comment.fill("As agreed on Monday")
    approve(team, "text")
    expect(page.get_by_role("heading", name="Is the text right?")).to_have_count(0)
    expect(page.get_by_label("Comment")).to_have_value("As agreed on Monday")
    expect(page.get_by_label("Comment")).to_be_focused()


@pytest.mark.parametrize("script", [True, False])
def test_errors_are_beside_their_fields_and_typed_values_stay(team: Team, windows: Windows, script: bool) -> None:
    publish(team, SKILL)
    page = windows.open(team.session(roles.AUTHOR), script=script, narrow=True)
    begin(page, team, SKILL)
    page.get_by_label("limit").fill("much")
    page.get_by_label("address").fill("Am Tor 2")
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was started.")
    for name, message in (("name", "Fill in name."), ("limit", "Enter a number"), ("address", "This is not JSON")):
        field = page.get_by_label(name)
        expect(field).to_have_attribute("aria-invalid", "true")
        described = field.get_attribute("aria-describedby") or ""
        assert any(message in page.locator(f"#{part}").inner_text() for part in described.split() if "error" in part)
    expect(page.get_by_label("limit")).to_have_value("much")
    page.get_by_role("alert").get_by_role("link", name="address").click()
    expect(page.get_by_label("address")).to_be_focused()


@pytest.mark.parametrize("script", [True, False])
def test_a_run_is_cancelled_in_a_dialog(team: Team, windows: Windows, worker: None, script: bool) -> None:
    publish(team, SKILL)
    page = windows.open(team.session(roles.AUTHOR), script=script)
    start_onboarding(page, team)
    page.get_by_role("button", name="Cancel run").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("A call that is on its way is not called back")
    dialog.get_by_role("button", name="Keep running").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Cancel run").click()
    dialog.get_by_role("button", name="Cancel run").click()
    look_until(page, page.url, "cancelled this run.")
    assert badge(page) == "Cancelled"


def test_a_failed_run_is_replayed(team: Team, windows: Windows, worker: None) -> None:
    publish(team, "ledger-entry")
    page = windows.open(team.session(roles.AUTHOR))
    begin(page, team, "ledger-entry")
    page.get_by_role("button", name="Start the run").click()
    expect(page.locator("#run-headline")).to_contain_text("Step call-ledger failed: The ledger does not answer.")
    page.get_by_role("button", name="Replay").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Begin at")).to_have_value("call-ledger")
    expect(dialog).to_contain_text("Approvals are not taken over")
    dialog.get_by_role("button", name="Replay run").click()
    expect(page.locator("#run-meta")).to_contain_text("replay of run")
    expect(page.locator("#run-badge")).to_have_text("Failed")
    page.get_by_role("link", name="Runs").first.click()
    expect(page.locator(".rows--runs > li")).to_have_count(2)
