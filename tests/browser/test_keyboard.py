"""Keyboard only: the focus is always visible, and everything that opens can be closed."""

import re

from playwright.sync_api import Page, expect

from registry.core import roles
from registry.services.skills import skills
from tests.browser import steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.conftest import skill_bundle


def _focused(page: Page) -> str:
    """Return the text of the focused link or button, or the label of the focused field."""
    label: str = page.evaluate(
        """() => {
            const element = document.activeElement;
            const label = element.labels?.[0]?.textContent ?? element.getAttribute("aria-label") ?? element.textContent;
            return label.trim().replace(/\\s+/g, " ");
        }"""
    )
    return label


def _focus_is_visible(page: Page) -> bool:
    """Return whether the focus has a visible outline of at least two pixels."""
    visible: bool = page.evaluate(
        """() => {
            const ring = (element) => {
                if (!element) return false;
                const style = getComputedStyle(element);
                const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
                return outlined || style.boxShadow !== "none";
            };
            const element = document.activeElement;
            return ring(element) || ring(element.closest("label")) || ring(element.parentElement);
        }"""
    )
    return visible


def _tab_to(page: Page, words: str) -> None:
    """Press Tab until the focus reaches the words, and check that every stop is visible."""
    for _ in range(80):
        page.keyboard.press("Tab")
        assert _focus_is_visible(page), f"The focus on {_focused(page)!r} cannot be seen."
        if re.search(words, _focused(page)):
            return
    raise AssertionError(f"{words!r} is not reached with Tab.")


def test_a_skill_is_written_and_published_by_keyboard(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/skills/")
    page.keyboard.press("Tab")
    assert _focused(page) == "Skip to content"
    expect(page.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    _tab_to(page, "New skill")
    page.keyboard.press("Enter")
    expect(steps.heading(page)).to_have_text("New skill")
    page.wait_for_load_state()  # until a page is loaded, Chromium repeats a jump, which takes the focus from the name
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    _tab_to(page, "^Name")
    page.keyboard.type("gift-wrapping")
    _tab_to(page, "^Description")
    page.keyboard.type("Wraps a gift the way the shop does. Use when somebody orders a gift.")
    _tab_to(page, "^How-to")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("radio", name="Reference")).to_be_checked()
    _tab_to(page, "^Tags")
    page.keyboard.type("gifts,paper,")
    expect(page.get_by_role("button", name="Remove tag paper")).to_be_visible()
    _tab_to(page, "^Instructions$")
    page.keyboard.type("Fold the paper ")
    page.keyboard.press("Control+b")
    page.keyboard.type("twice")
    page.keyboard.press("Control+Enter")
    note = page.get_by_label("What changed")
    expect(note).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Control+Enter")
    expect(note).to_be_focused()
    page.keyboard.type("First version")
    page.keyboard.press("Enter")
    expect(steps.toast(page, "Version 1 of gift-wrapping is live")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("twice")).to_have_css("font-weight", re.compile("[67]00"))


def test_escape_closes_menus_and_dialogs_and_returns_the_focus(team: Team, windows: Windows) -> None:
    team.site.do(skills.create, team.project, skill_bundle(), by=team.actor(roles.AUTHOR))
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/skills/greeting/")
    menu = page.get_by_label("More actions")
    menu.focus()
    page.keyboard.press("Enter")
    _tab_to(page, "^Delete$")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Delete greeting?")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert _focused(page) == "Delete"
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Delete")).to_be_hidden()
    assert _focused(page) == "More actions"


def test_the_account_popover_opens_and_closes_by_keyboard(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/skills/")
    account = page.get_by_role("button", name="Your account")
    account.focus()
    page.keyboard.press("Enter")
    _tab_to(page, "^Dark$")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    expect(account).to_be_focused()


def test_ctrl_k_opens_the_search_from_every_page_of_a_project(team: Team, windows: Windows) -> None:
    team.site.do(skills.create, team.project, skill_bundle(), by=team.actor(roles.AUTHOR))
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/skills/greeting/")
    page.keyboard.press("Control+k")
    search = page.get_by_role("searchbox", name="Search skills")
    expect(search).to_be_focused()
    page.keyboard.type("greetings")
    expect(page.locator(".skill-link mark")).to_have_text("greeting")
    page.get_by_role("link", name="greeting").focus()
    page.keyboard.press("Control+k")
    expect(search).to_be_focused()


def test_a_question_is_tried_and_saved_by_keyboard(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/routing/")
    _tab_to(page, "What would somebody ask")
    page.keyboard.type("Which planet is the largest?")
    page.keyboard.press("Enter")
    expect(page.locator("#verdict-title")).to_be_visible()
    _tab_to(page, "[Nn]o skill is right")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved as a test question.")).to_be_visible()
    page.keyboard.press("Tab")
    assert _focused(page) == "Change it"
