"""The routing gate: a lost question is shown while somebody types or deletes a skill, and stops a version."""

from playwright.sync_api import expect

from registry.core import roles
from registry.models import Project
from registry.services.permissions import operator
from tests.browser import accessibility, steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.services.routing.gated import DESCRIPTIONS, ELSEWHERE, QUESTIONS, gated_project

LOST = QUESTIONS["desk"][0]


def _prepare(project: Project) -> None:
    gated_project(project, operator())


def test_a_bad_description_is_seen_refused_and_mended(team: Team, windows: Windows) -> None:
    team.site.do(_prepare, team.project)
    page = windows.open(team.session(roles.AUTHOR), clock=True)
    page.goto(f"{team.base}/skills/desk/edit/")
    checks, description = page.get_by_role("complementary", name="Checks"), page.get_by_label("Description")
    description.fill(ELSEWHERE)
    steps.pass_a_second(page)
    expect(checks).to_contain_text("4 questions worse")
    expect(checks.get_by_role("row").filter(has_text=LOST)).to_contain_text("should find desk")
    accessibility.load_axe(page)
    assert accessibility.violations(page, {}) + accessibility.overflowing(page) == []

    page.get_by_role("button", name="Publish version 2").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Publish anyway, because")).to_have_value("")
    dialog.get_by_role("button", name="Publish version 2").click()
    expect(page.get_by_role("alert").first).to_contain_text("the routing gate refuses it")

    description.fill(f"{DESCRIPTIONS['desk']} Letters too.")
    steps.pass_a_second(page)
    expect(checks).to_contain_text("No question gets better or worse")
    steps.publish(page, 2)


def test_the_gate_is_passed_with_a_reason_and_without_a_script(team: Team, windows: Windows) -> None:
    team.site.do(_prepare, team.project)
    page = windows.open(team.session(roles.AUTHOR), script=False, narrow=True)
    page.goto(f"{team.base}/skills/desk/edit/")
    page.get_by_label("Description").fill(ELSEWHERE)
    page.get_by_role("button", name="Save draft").last.click()
    expect(page.get_by_role("complementary", name="Checks")).to_contain_text(LOST)
    page.get_by_role("button", name="Publish version 2").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Publish anyway, because").fill("Another team answers these now.")
    dialog.get_by_role("button", name="Publish version 2").click()
    expect(steps.toast(page, "Version 2 of")).to_be_visible()


def test_the_dialog_that_deletes_a_skill_shows_the_lost_questions(team: Team, windows: Windows) -> None:
    team.site.do(_prepare, team.project)
    page = windows.open(team.session(roles.AUTHOR), narrow=True)
    page.goto(f"{team.base}/skills/desk/")
    page.get_by_label("More actions").click()
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("4 questions lose their skill. 10 test questions checked.")
    expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    accessibility.load_axe(page)
    assert accessibility.violations(page, {}) + accessibility.overflowing(page) == []
    dialog.get_by_role("button", name="Delete").click()
    expect(steps.toast(page, "desk is deleted.")).to_be_visible()


def test_without_a_script_the_dialog_leads_to_a_page_with_the_lost_questions(team: Team, windows: Windows) -> None:
    team.site.do(_prepare, team.project)
    page = windows.open(team.session(roles.AUTHOR), script=False)
    page.goto(f"{team.base}/skills/desk/")
    page.get_by_label("More actions").click()
    page.get_by_role("button", name="Switch off for agents").click()
    page.get_by_role("link", name="See what this does to your test questions").click()
    expect(page.get_by_role("row").filter(has_text=LOST)).to_contain_text("no longer counted")
    page.get_by_role("button", name="Switch off").click()
    expect(steps.toast(page, "desk is switched off.")).to_be_visible()
