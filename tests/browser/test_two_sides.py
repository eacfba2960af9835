"""Two sides of one skill: a bundled one that changes underneath, and two people who write at once."""

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


def test_a_bundled_skill_is_customised_and_brought_up_to_date(team: Team, windows: Windows) -> None:
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
    steps.look_until(page, f"{team.base}/skills/{name}/", "changed since you made it yours")
    page.get_by_role("link", name="See what changed").click()
    expect(page.get_by_text("Nothing of yours is lost")).to_be_visible()
    page.get_by_role("button", name="Bring yours up to date").click()
    expect(steps.heading(page)).to_have_text(name)
    expect(page.get_by_text("changed since you made it yours")).to_have_count(0)
    told = _served(team, name)
    assert "three times" in told and "green ribbon" in told and "red ribbon" not in told


def _served(team: Team, name: str) -> str:
    return team.site.do(lambda: catalog.load(team.project.pk, name).bundle()[SKILL_MD].decode())


_SHARED = (
    "# Shift handover\n\nTell who is on call.\n\nName the open cases.\n\nSay what broke.\n\nLeave the keys at the desk."
)


def test_two_people_write_at_once_and_nothing_is_lost(team: Team, windows: Windows) -> None:
    """One place where both differ is decided; what only one of them touched is there in any case."""
    by = team.actor(roles.AUTHOR)
    team.site.do(skills.create, team.project, skill_bundle("handover", body=_SHARED), by=by)
    ada = windows.open(team.session(roles.AUTHOR))
    tomas = windows.open(team.session(roles.REVIEWER))
    for page in (ada, tomas):
        page.goto(f"{team.base}/skills/handover/edit/")
    _write(ada, _SHARED.replace("who is on call", "who is on call, with the number").replace("the desk", "the door"))
    _write(tomas, _SHARED.replace("the open cases", "the open cases, oldest first").replace("the desk", "the safe"))
    steps.publish(tomas, 2, "Oldest first")

    ada.get_by_role("button", name="Publish version 2").click()
    ada.get_by_role("dialog").get_by_role("button", name="Publish version 2").click()
    expect(steps.heading(ada)).to_have_text("Two edits of handover")
    expect(ada.get_by_text("1 place to decide")).to_be_visible()
    choice = ada.get_by_role("group", name="choose one")
    expect(choice).to_contain_text("the desk")
    expect(choice).to_contain_text("the door")
    expect(choice.get_by_role("radio", name="Take yours")).to_be_checked()
    choice.get_by_role("radio", name="Take Tomás Ferreira’s").check()
    ada.get_by_role("button", name="Publish version 3").click()
    expect(steps.toast(ada, "Version 3 of handover is live")).to_be_visible()
    told = _served(team, "handover")
    assert "with the number" in told and "oldest first" in told and "the safe" in told and "the door" not in told


def _write(page: Page, text: str) -> None:
    """Types, and waits until the page says that the draft is kept."""
    page.get_by_role("textbox", name="Instructions").fill(text)
    expect(page.locator("#draft-state")).to_contain_text("Draft kept")


def test_what_is_not_decided_stays_in_the_draft_and_agents_notice_nothing(team: Team, windows: Windows) -> None:
    by = team.actor(roles.AUTHOR)
    made = team.site.do(skills.create, team.project, skill_bundle("handover", body=_SHARED), by=by).version
    page = windows.open(team.session(roles.REVIEWER))
    page.goto(f"{team.base}/skills/handover/edit/")
    _write(page, _SHARED.replace("the desk", "the safe"))
    theirs = skill_bundle("handover", body=_SHARED.replace("the desk", "the door"))
    team.site.do(skills.save, team.project, "handover", theirs, base=made.digest, by=by)
    page.goto(f"{team.base}/skills/handover/edit/conflict/")
    page.get_by_role("button", name="Keep as draft").click()
    expect(steps.toast(page, "Your choices are in the draft")).to_be_visible()
    expect(page.get_by_role("textbox", name="Instructions")).to_have_value(_SHARED.replace("the desk", "the safe"))
    assert "the door" in _served(team, "handover")
