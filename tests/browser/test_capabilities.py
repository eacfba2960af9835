"""Capabilities in a browser: an owner registers one while findings appear, finds it again, and removes it."""

from playwright.sync_api import expect

from registry.core import roles
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.core.workflows.definitions import text


def test_an_owner_registers_finds_and_removes_a_capability(windows: Windows, team: Team) -> None:
    page = windows.open(team.session(roles.OWNER))
    page.goto(f"{team.base}/capabilities/")
    page.get_by_role("link", name="Register a capability").click()
    page.get_by_role("link", name="Built-in function").click()
    checks = page.get_by_role("complementary", name="Checks")
    expect(checks).to_contain_text("It can be registered")
    definition = page.get_by_role("textbox", name="Definition")
    definition.fill(text("our.echo", safetty="{}"))
    expect(checks).to_contain_text("Did you mean safety?")
    definition.fill(text("our.echo", safety="{requires_confirmation: true}"))
    expect(checks).to_contain_text("It can be registered")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name="our.echo")).to_be_visible()
    expect(page.get_by_text("Reviewers approve each call with exactly its input.")).to_be_visible()
    page.get_by_role("link", name="Capabilities").first.click()
    page.get_by_label("Search capabilities").fill("our")
    expect(page.get_by_text("1 of ")).to_be_visible()
    page.get_by_role("link", name="our.echo").click()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove capability").click()
    expect(page.get_by_text("our.echo removed.")).to_be_visible()


def test_a_capability_is_registered_without_scripts(windows: Windows, team: Team) -> None:
    page = windows.open(team.session(roles.OWNER), script=False)
    page.goto(f"{team.base}/new-capability/")
    page.get_by_role("textbox", name="Definition").fill(text("our.echo", safetty="{}"))
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("Did you mean safety?")).to_be_visible()
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_text("Did you mean safety?")).to_be_visible()
    page.get_by_role("textbox", name="Definition").fill(text("our.echo"))
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", name="our.echo")).to_be_visible()
