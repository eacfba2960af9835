"""The inbox in a browser: reading lowers the count, and email settings are saved."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from registry.core import roles
from registry.core.text import edits
from registry.services import permissions
from registry.services.agents import agents
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills
from tests.browser import steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.conftest import skill_bundle, skill_text

_REASONS = ("First reason", "Second reason", "Third reason")


@pytest.fixture
def notified(team: Team) -> list[int]:
    """Create three proposals that a reviewer is notified of, oldest first."""
    site = team.site
    team.person(roles.REVIEWER)
    site.do(skills.create, team.project, skill_bundle("gifts"), by=team.actor(roles.AUTHOR))
    agent = site.do(agents.ensure, team.project, "wrapper", by=permissions.operator())
    bot = permissions.agent(agent, frozenset({roles.PROPOSE}))

    def propose(why: str) -> int:
        change = edits.parse(skill_md=skill_text("gifts", body=why))
        return proposals.propose(team.project, Suggestion("gifts", change, why), by=bot).proposal.pk

    return [site.do(propose, why) for why in _REASONS]


def _unread(page: Page) -> Locator:
    return page.get_by_role("link", name=re.compile("^Inbox")).first


@pytest.mark.parametrize("script", [True, False], ids=["with scripts", "without"])
def test_reading_lowers_the_count_and_email_settings_are_saved(
    team: Team, windows: Windows, notified: list[int], script: bool
) -> None:
    page = windows.open(team.session(roles.REVIEWER), script=script)
    page.goto(f"{team.base}/proposals/{notified[0]}/")
    expect(_unread(page)).to_contain_text("2 unread")
    _unread(page).click()
    expect(page.get_by_role("main")).not_to_contain_text("First reason")
    page.get_by_role("button", name="Mark as read").last.click()
    expect(_unread(page)).to_contain_text("1 unread")
    page.get_by_role("button", name="Mark all as read").click()
    expect(steps.toast(page, "1 notification marked as read.")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("You have read everything")
    expect(_unread(page)).not_to_contain_text("unread")

    page.get_by_role("link", name="Choose what you get by email").click()
    mail = page.get_by_role("region", name="Email")
    mail.get_by_label("Email me about").select_option("Everything in my inbox")
    mail.get_by_label("Address").fill("tomas@example.org")
    mail.get_by_role("button", name="Save email").click()
    expect(steps.toast(page, "We sent a link to tomas@example.org.")).to_be_visible()
    expect(mail).to_contain_text("tomas@example.org is not confirmed yet.")
    expect(mail.get_by_label("Email me about")).to_have_value("everything")
