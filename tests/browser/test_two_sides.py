"""Merges: a customised skill with a changed built-in skill, and two people who edit at the same time."""

from playwright.sync_api import Page, expect

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.services.catalog import catalog
from registry.services.skills import skills
from tests.browser import steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.conftest import on_disk, skill_bundle

_BEFORE = "# Wrap a gift\n\nFold the paper twice.\n\nUse the red ribbon.\n\nAdd a card."


def test_a_customised_skill_merges_changes_of_the_built_in_skill(team: Team, windows: Windows) -> None:
    name = f"wrapping-for-{team.project.slug}"
    on_disk(team.site.library, name, body=_BEFORE)
    page = windows.open(team.session(roles.AUTHOR))
    steps.look_until(page, f"{team.base}/skills/?q={name}", f"Does what {name} does")
    page.goto(f"{team.base}/skills/{name}/")
    page.get_by_role("button", name="Customise").click()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_role("textbox", name="Instructions").fill(_BEFORE.replace("red", "green"))
    steps.publish(page, 2, "Green this year")
    on_disk(team.site.library, name, body=_BEFORE.replace("twice", "three times"))
    steps.look_until(page, f"{team.base}/skills/{name}/", "changed since you customised it")
    page.get_by_role("link", name="See what changed").click()
    expect(page.get_by_text("Your changes are kept")).to_be_visible()
    page.get_by_role("button", name="Update your version").click()
    expect(steps.heading(page)).to_have_text(name)
    expect(page.get_by_text("changed since you customised it")).to_have_count(0)
    served = _served(team, name)
    assert "three times" in served and "green ribbon" in served and "red ribbon" not in served


def _served(team: Team, name: str) -> str:
    return team.site.do(lambda: catalog.load(team.project.pk, name).bundle()[SKILL_MD].decode())


_SHARED = (
    "# Shift handover\n\nTell who is on call.\n\nName the open cases.\n\nSay what broke.\n\nLeave the keys at the desk."
)


def test_two_people_edit_at_the_same_time_and_both_changes_are_merged(team: Team, windows: Windows) -> None:
    """The one conflict needs a choice; all other changes of both are merged."""
    by = team.actor(roles.AUTHOR)
    team.site.do(skills.create, team.project, skill_bundle("handover", body=_SHARED), by=by)
    ada = windows.open(team.session(roles.AUTHOR), clock=True)
    tomas = windows.open(team.session(roles.REVIEWER), clock=True)
    for page in (ada, tomas):
        page.goto(f"{team.base}/skills/handover/edit/")
    _write(ada, _SHARED.replace("who is on call", "who is on call, with the number").replace("the desk", "the door"))
    _write(tomas, _SHARED.replace("the open cases", "the open cases, oldest first").replace("the desk", "the safe"))
    steps.publish(tomas, 2, "Oldest first")

    ada.get_by_role("button", name="Publish version 2").click()
    ada.get_by_role("dialog").get_by_role("button", name="Publish version 2").click()
    expect(steps.heading(ada)).to_have_text("Merge changes to handover")
    expect(ada.get_by_text("Both sides changed this line. Everything else merges automatically.")).to_be_visible()
    choice = ada.get_by_role("group", name="choose one")
    expect(choice).to_contain_text("the desk")
    expect(choice).to_contain_text("the door")
    expect(choice.get_by_role("radio", name="Keep yours")).to_be_checked()
    choice.get_by_role("radio", name="Use Tomás Ferreira’s text").check()
    ada.get_by_role("button", name="Publish version 3").click()
    expect(steps.toast(ada, "Version 3 of handover is live")).to_be_visible()
    served = _served(team, "handover")
    assert all(words in served for words in ("with the number", "oldest first", "the safe"))
    assert "the door" not in served


def _write(page: Page, text: str) -> None:
    """Type, and wait until the draft is saved."""
    page.get_by_role("textbox", name="Instructions").fill(text)
    steps.pass_a_second(page)
    expect(page.locator("#draft-state")).to_contain_text("Draft saved")


def test_a_conflict_without_a_choice_keeps_the_draft_and_the_live_version(team: Team, windows: Windows) -> None:
    by = team.actor(roles.AUTHOR)
    made = team.site.do(skills.create, team.project, skill_bundle("handover", body=_SHARED), by=by).version
    page = windows.open(team.session(roles.REVIEWER), clock=True)
    page.goto(f"{team.base}/skills/handover/edit/")
    _write(page, _SHARED.replace("the desk", "the safe"))
    theirs = skill_bundle("handover", body=_SHARED.replace("the desk", "the door"))
    team.site.do(skills.save, team.project, "handover", theirs, base=made.digest, by=by)
    page.goto(f"{team.base}/skills/handover/edit/conflict/")
    page.get_by_role("button", name="Save draft").click()
    expect(steps.toast(page, "Your choices are saved in the draft")).to_be_visible()
    expect(page.get_by_role("textbox", name="Instructions")).to_have_value(_SHARED.replace("the desk", "the safe"))
    assert "the door" in _served(team, "handover")
