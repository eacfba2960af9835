"""Sign in, write, publish, upload, restore: the same for everybody, with scripts, without them, and on a phone."""

import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from registry.core import roles
from registry.services import permissions
from registry.services.people import accounts
from registry.services.skills import skills
from tests.browser import steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.conftest import skill_bundle


@dataclass(frozen=True)
class Way:
    script: bool = True
    narrow: bool = False


WAYS = [
    pytest.param(Way(), id="wide"),
    pytest.param(Way(script=False), id="without-scripts"),
    pytest.param(Way(narrow=True), id="360-px"),
]


@pytest.fixture
def page(team: Team, windows: Windows, way: Way) -> Page:
    return windows.open(team.session(roles.AUTHOR), script=way.script, narrow=way.narrow)


@pytest.mark.parametrize("way", WAYS)
def test_the_first_sign_in_leads_to_a_published_skill(team: Team, windows: Windows, way: Way) -> None:
    person = team.person(roles.OWNER)
    secret = team.site.do(accounts.make_sign_in_link, person, by=permissions.operator())
    page = windows.open(script=way.script, narrow=way.narrow, clock=way.script)
    page.goto(f"/sign-in/{secret}/")
    expect(steps.heading(page)).to_have_text("Sign in as Ines Marchetti")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("main").get_by_role("link", name=team.project.name).click()
    page.get_by_role("link", name="New skill").click()
    steps.write(page, "gift-wrapping")
    page.get_by_text("Reference", exact=True).click()
    if way.script:
        steps.pass_a_second(page)
        expect(page.get_by_role("region", name="Preview").get_by_role("heading")).to_have_text("gift-wrapping")
        expect(page.get_by_role("complementary", name="Checks")).to_contain_text("No findings")
    steps.publish(page, 1, "How the shop does it")
    expect(steps.heading(page)).to_have_text("gift-wrapping")
    page.get_by_role("link", name="Versions").click()
    expect(page.get_by_text("How the shop does it")).to_be_visible()


@pytest.mark.parametrize("way", WAYS)
def test_a_new_password_works_for_the_next_sign_in(team: Team, page: Page, way: Way) -> None:
    username = team.person(roles.AUTHOR).username
    page.goto("/account/")
    page.get_by_label("New password", exact=True).fill("paper and twine")
    page.get_by_label("New password again").fill("paper and twine")
    page.get_by_role("button", name="Set password").click()
    expect(steps.toast(page, "password")).to_be_visible()
    page.get_by_role("button", name="Your account").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill("paper and string")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("Wrong username or password.")
    page.get_by_label("Password").fill("paper and twine")
    page.get_by_role("button", name="Sign in").click()
    expect(steps.heading(page)).to_have_text("Projects")


@pytest.mark.parametrize("way", WAYS)
def test_a_zip_made_on_a_mac_is_previewed_and_published(team: Team, page: Page, way: Way) -> None:
    content = steps.mac_zip("gift-wrapping", {"references/paper.md": b"# Paper\n", "assets/list.csv": b"a,b\n1,2\n"})
    page.goto(f"{team.base}/upload/")
    steps.choose_file(page, "gift-wrapping.zip", content, script=way.script)
    files = page.get_by_role("region", name="Files").get_by_role("listitem")
    expect(files).to_have_text([re.compile(path) for path in ("SKILL.md", "assets/list.csv", "references/paper.md")])
    expect(page.get_by_text("Nothing is published until you confirm")).to_be_visible()
    page.get_by_role("button", name="Publish gift-wrapping").click()
    expect(steps.toast(page, "gift-wrapping is live")).to_be_visible()
    page.get_by_role("link", name="Files").click()
    expect(page.get_by_role("main").get_by_role("link", name="paper.md", exact=True)).to_be_visible()


@pytest.mark.parametrize("way", WAYS)
def test_an_invalid_upload_is_refused_on_the_upload_page(team: Team, page: Page, way: Way) -> None:
    page.goto(f"{team.base}/upload/")
    steps.choose_file(page, "broken.zip", b"PK\3\4 and no more", script=way.script)
    expect(page.get_by_role("alert").filter(has_text="Nothing was saved")).to_be_visible()
    page.goto(f"{team.base}/skills/")
    expect(page.get_by_role("navigation", name="Source").get_by_role("link", name="Project")).to_contain_text("0")


@pytest.mark.parametrize("way", WAYS)
def test_an_old_version_is_restored_as_the_newest(team: Team, page: Page, way: Way) -> None:
    by = team.actor(roles.AUTHOR)
    first = team.site.do(skills.create, team.project, skill_bundle(body="# First\n\nFold it twice."), by=by)
    second = skill_bundle(body="# Second\n\nFold it three times.")
    team.site.do(skills.save, team.project, "greeting", second, base=first.version.digest, by=by)
    page.goto(f"{team.base}/skills/greeting/versions/")
    page.get_by_role("link", name="Compare with 1").click()
    expect(page.get_by_text("three times").first).to_be_visible()
    page.get_by_role("link", name="Versions").click()
    page.get_by_role("button", name="Restore version 1").click()
    expect(steps.toast(page, "Version 3 is live, with the content of version 1.")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Agents get this")).to_contain_text("Version 3")
    page.get_by_role("link", name="Instructions").click()
    expect(page.get_by_role("heading", name="First")).to_be_visible()


def test_copying_the_setup_of_a_client_copies_the_exact_text(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.VIEWER), permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{team.base}/connect/claude-code/")
    line = page.locator(".copyline").first
    line.get_by_role("button", name="Copy").click()
    expect(line.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == line.locator("pre").text_content()
