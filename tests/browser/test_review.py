"""A proposal between an agent at the API and a reviewer in a browser, and the review queue by keyboard."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.services import permissions
from registry.services.agents import agents, tokens
from registry.services.people import accounts
from registry.services.skills import skills
from tests.browser import steps
from tests.browser.conftest import PATIENCE, Windows
from tests.browser.site import Team
from tests.conftest import skill_bundle, skill_text

_STANDING = "# Wrap a gift\n\nFold the paper twice.\n\nUse the red ribbon."
_PROPOSED = _STANDING.replace("twice", "nine times")
_REVISED = _STANDING.replace("twice", "three times")
_APPROVED = _REVISED.replace("red ribbon", "red ribbon, 40 cm of it")


class Bot:
    """An agent that talks to the site over HTTP with its token."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None, *, status: int = 200) -> dict[str, Any]:
        answer = self.http.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def propose(self, body: str, why: str) -> dict[str, Any]:
        return self.ask(
            "POST", "/proposals", {**_proposal_body(body), "skill": "gifts", "justification": why}, status=201
        )

    def outcome(self, proposal: int) -> dict[str, Any]:
        return self.ask("GET", f"/proposals/{proposal}")

    def state(self, proposal: int) -> str:
        return str(self.outcome(proposal)["state"])

    def text(self) -> str:
        return self.http.get(f"/skills/gifts/files/{SKILL_MD}?download=1").raise_for_status().content.decode()


@pytest.fixture
def bot(team: Team) -> Iterator[Bot]:
    """Return an agent, and create the skill that it proposes changes to."""
    site, by = team.site, permissions.operator()
    site.do(skills.create, team.project, skill_bundle("gifts", body=_STANDING), by=team.actor(roles.AUTHOR))
    agent = site.do(agents.ensure, team.project, "wrapper", by=by)
    secret = site.do(tokens.create_token, team.project, agent=agent, scopes=(roles.READ, roles.PROPOSE), by=by)
    with httpx.Client(
        base_url=f"{site.address}/api/v1{team.base}",
        headers={"Authorization": f"Bearer {secret}"},
        trust_env=False,
        timeout=PATIENCE / 1000,
    ) as http:
        yield Bot(http)


def _proposal_body(body: str) -> dict[str, Any]:
    return {"skill_md": skill_text("gifts", body=body)}


def _rows(page: Page) -> Locator:
    return page.locator("[data-rows] > [data-row]")


def _sign_in(team: Team, windows: Windows) -> Page:
    secret = team.site.do(accounts.make_sign_in_link, team.person(roles.REVIEWER), by=permissions.operator())
    page = windows.open()
    page.goto(f"/sign-in/{secret}/")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("main").get_by_role("link", name=team.project.name).click()
    return page


def _open_from_queue(page: Page, why: str) -> None:
    page.get_by_role("link", name=re.compile("^Proposals")).first.click()
    expect(_rows(page)).to_have_count(1)
    expect(_rows(page)).to_contain_text("Agent wrapper")
    _rows(page).get_by_role("link", name=why).click()
    expect(steps.heading(page)).to_have_text(why)


def test_a_proposal_is_revised_edited_approved_and_loaded_as_approved(team: Team, windows: Windows, bot: Bot) -> None:
    before = bot.ask("GET", "/skills/gifts")
    number = bot.propose(_PROPOSED, "Two folds tear.")["id"]
    page = _sign_in(team, windows)
    _open_from_queue(page, "Two folds tear")
    expect(page.locator("#change")).to_contain_text("nine times")
    page.locator("#decide").get_by_role("button", name="Request changes").click()
    asking = page.get_by_role("dialog", name=f"Request changes to proposal {number}?")
    asking.get_by_label("What should change").fill("Nine folds do not fit. Take three.")
    asking.get_by_role("button", name="Request changes").click()
    expect(steps.toast(page, "Changes requested.")).to_be_visible()
    expect(page.locator("#approve-button")).to_have_count(0)

    told = bot.outcome(number)
    assert told["state"] == "changes-requested"
    assert (told["decision"]["action"], told["decision"]["by"]) == ("request-changes", "Tomás Ferreira")
    assert told["decision"]["comment"] == "Nine folds do not fit. Take three."
    why = "Three folds hold."
    revised = bot.ask("PUT", f"/proposals/{number}", {**_proposal_body(_REVISED), "justification": why})
    assert (revised["id"], revised["state"], revised["revision"]) == (number, "open", 2)

    _open_from_queue(page, "Three folds hold")
    shown = _edit_and_approve(page)
    assert bot.text() == skill_text("gifts", body=_STANDING), "What is only shown has reached an agent."
    assert bot.ask("GET", "/skills/gifts") == before
    page.locator("#decide").get_by_role("button", name="Approve and publish").click()
    expect(steps.toast(page, "Version 2 of gifts is live")).to_be_visible()
    expect(page.locator("#decide")).to_contain_text("with their own edit")

    _is_loaded_as_approved(bot, number, shown, proposed=revised["result_digest"])


def _edit_and_approve(page: Page) -> str:
    """Edit a proposal up to the approve button. Return the digest shown next to it."""
    page.locator("#decide").get_by_role("link", name="Edit and approve").click()
    field = page.get_by_role("textbox", name=SKILL_MD)
    expect(field).to_have_value(skill_text("gifts", body=_REVISED))
    decide = page.locator("#decide").get_by_role("button", name="Approve and publish")
    expect(decide).to_have_count(0)
    field.fill(skill_text("gifts", body=_APPROVED))
    page.get_by_label("Comment").fill("With the length, so that nobody measures.")
    page.get_by_role("button", name="See the result").click()
    expect(page.get_by_role("region", name="Your changes")).to_contain_text("40 cm of it")
    expect(decide).to_be_visible()
    return page.locator("input[name=seen]").input_value()


def _is_loaded_as_approved(bot: Bot, number: int, shown: str, *, proposed: str) -> None:
    approved = skill_bundle("gifts", body=_APPROVED)
    loaded = bot.ask("GET", "/skills/gifts")
    assert bot.text() == approved[SKILL_MD].decode()
    assert loaded["digest"] == approved.digest == shown != proposed
    assert (loaded["version"], loaded["instructions"].strip()) == ("2", _APPROVED)
    approval = loaded["approval"]
    assert (approval["by"], approval["digest"], approval["proposal"]) == ("Tomás Ferreira", shown, number)
    told = bot.outcome(number)
    assert (told["state"], told["decision"]["comment"]) == ("approved", "With the length, so that nobody measures.")
    assert told["approved"] == {"version": "2", "digest": shown, "proposed_digest": proposed, "edited": True}


def test_a_conflict_is_resolved_and_the_result_is_reviewed_again(team: Team, windows: Windows, bot: Bot) -> None:
    number = bot.propose(_PROPOSED.replace("red ribbon", "green ribbon"), "Two folds tear.")["id"]
    saved = skill_bundle("gifts", body=_STANDING.replace("twice", "once"))
    base = skill_bundle("gifts", body=_STANDING).digest
    team.site.do(skills.save, team.project, "gifts", saved, base=base, by=team.actor(roles.AUTHOR))
    clash = bot.outcome(number)["rebase"]["conflicts"][0]["places"][0]
    assert (clash["base"], clash["now"]) == ("Fold the paper twice.\n", "Fold the paper once.\n")

    page = windows.open(team.session(roles.REVIEWER), script=False)
    page.goto(f"{team.base}/proposals/{number}/")
    expect(page.locator("#approve-button")).to_have_count(0)
    page.get_by_role("link", name="Resolve the conflict").click()
    for side, words in (("Based on", "twice"), ("Now", "once"), ("Proposed", "nine times")):
        expect(page.locator(".threeway section").filter(has_text=side)).to_contain_text(words)
    page.get_by_role("button", name="Update to version 2").click()
    expect(page.get_by_role("alert")).to_contain_text("1 place needs a choice")
    page.get_by_label("Keep the current text").check()
    page.get_by_role("button", name="Update to version 2").click()
    expect(steps.toast(page, "Updated as revision 2. Review it again")).to_be_visible()
    expect(page.locator("#change")).to_contain_text("green ribbon")
    expect(page.locator("#change")).not_to_contain_text("nine times")
    assert bot.text() == saved[SKILL_MD].decode()
    page.locator("#approve-button").click()
    page.get_by_role("button", name="Approve and publish").click()
    expect(steps.toast(page, "Version 3 of gifts is live")).to_be_visible()
    joined = _STANDING.replace("twice", "once").replace("red ribbon", "green ribbon")
    assert bot.text() == skill_text("gifts", body=joined)


_REASONS = ("First reason", "Second reason", "Third reason")


@pytest.fixture
def waiting(bot: Bot) -> list[int]:
    """Create three proposals, oldest first."""
    return [bot.propose(f"{_STANDING}\n\n{why} holds.", why)["id"] for why in _REASONS]


@pytest.fixture
def queue(team: Team, windows: Windows, waiting: list[int]) -> Page:
    page = windows.open(team.session(roles.REVIEWER))
    page.goto(f"{team.base}/proposals/")
    expect(_rows(page)).to_have_count(3)
    return page


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def _wait_for(page: Page, why: str) -> None:
    """Wait for the page. The script for keyboard shortcuts starts after the heading appears."""
    expect(steps.heading(page)).to_have_text(why)
    page.wait_for_load_state("load")


def test_the_queue_works_by_keyboard_and_no_key_decides(queue: Page, bot: Bot, waiting: list[int]) -> None:
    page, links = queue, [_rows(queue).nth(place).locator(".row-title a") for place in range(3)]
    for keys, place in (("j", 0), ("j", 1), ("jj", 2), ("k", 1), ("kk", 0), ("j", 1)):
        _press(page, *keys)
        expect(links[place]).to_be_focused()
    _press(page, "Enter")
    _wait_for(page, "Second reason")
    for keys, why in (("n", "Third reason"), ("np", "Second reason"), ("p", "First reason"), ("pn", "Second reason")):
        _press(page, *keys)
        _wait_for(page, why)
    for key, dialog, field in (("a", "Approve", "#f-approve"), ("r", "Reject", "#f-reject")):
        asked = page.get_by_role("dialog", name=f"{dialog} proposal {waiting[1]}?")
        _press(page, key)
        expect(asked).to_be_visible()
        expect(page.locator(field)).to_be_focused()
        _press(page, *"narp", "Enter", "Control+Enter")
        expect(page.locator(field)).to_have_value(re.compile("^narp\n+$"))
        _press(page, "Escape")
        expect(asked).to_be_hidden()
        expect(page.locator(":popover-open, textarea:focus")).to_have_count(0)
    expect(steps.heading(page)).to_have_text("Second reason")
    _press(page, "q")
    expect(_rows(page)).to_have_count(3)
    assert [bot.state(number) for number in waiting] == ["open"] * 3


def test_the_dialog_rejects_only_its_own_proposal(queue: Page, bot: Bot, waiting: list[int]) -> None:
    page = queue
    _press(page, "j", "j", "Enter")
    _wait_for(page, "Second reason")
    expect(page.locator("#reject-button")).to_be_visible()
    _press(page, "r")
    expect(page.locator("#f-reject")).to_be_focused()
    page.keyboard.type("No paper holds that.")
    _press(page, "Tab")
    expect(page.get_by_role("button", name="Keep it open")).to_be_focused()
    _press(page, "Tab")
    expect(page.get_by_role("button", name="Reject proposal")).to_be_focused()
    assert bot.state(waiting[1]) == "open"
    _press(page, "Enter")
    expect(steps.toast(page, "Proposal rejected")).to_be_visible()
    assert [bot.state(number) for number in waiting] == ["open", "rejected", "open"]
    assert bot.outcome(waiting[1])["decision"]["comment"] == "No paper holds that."


def test_a_rejection_needs_a_reason(queue: Page, bot: Bot, waiting: list[int]) -> None:
    page = queue
    _press(page, "j", "Enter")
    _wait_for(page, "First reason")
    _press(page, "r")
    page.get_by_role("button", name="Reject proposal").click()
    expect(steps.heading(page)).to_have_text(f"Reject proposal {waiting[0]}?")
    expect(page.get_by_text("Give a reason. The proposer sees it")).to_be_visible()
    assert bot.state(waiting[0]) == "open"
