"""The editor and the skill list with JavaScript: saving while typing, shortcuts, drag and drop."""

import re

from playwright.sync_api import Page, Request, Route, expect

from registry.core import roles
from registry.models import Upload
from registry.services.people import projects
from registry.services.skills import skills
from tests.browser import accessibility, steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.conftest import skill_bundle
from tests.faults.sites import wait_for


def test_a_draft_survives_a_closed_tab(team: Team, windows: Windows) -> None:
    """Closing the tab sends the typed text, and nobody else sees it."""
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/new/")
    steps.write(page, "gift-wrapping", instructions="# Half\n\nFold the paper")
    page.close(run_before_unload=True)
    again = page.context.new_page()
    steps.look_until(again, f"{team.base}/skills/", "You have a draft of a new skill")
    again.get_by_role("link", name="Continue editing").click()
    expect(again.get_by_role("textbox", name="Instructions")).to_have_value("# Half\n\nFold the paper")
    expect(again.get_by_label("Name", exact=True)).to_have_value("gift-wrapping")
    other = windows.open(team.session(roles.REVIEWER))
    other.goto(f"{team.base}/new/")
    expect(other.get_by_label("Name", exact=True)).to_have_value("")
    other.goto(f"{team.base}/skills/?q=gift-wrapping")
    expect(other.get_by_role("searchbox")).to_have_value("gift-wrapping")
    expect(other.get_by_role("link", name="gift-wrapping")).to_have_count(0)


def test_publishing_waits_for_a_save_in_progress(team: Team, windows: Windows) -> None:
    """On a slow connection the response of the last save is missing when somebody publishes."""
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/new/")
    held: list[Route] = []
    page.route(lambda _: True, lambda route: held.append(route) if _saves(route.request) else route.continue_())
    with page.expect_request(_saves):
        steps.write(page, "gift-wrapping", instructions="# Wrap\n\nFold the paper")
    page.get_by_role("button", name="Publish version 1").click()
    answer = held[0].fetch()
    page.get_by_role("dialog").get_by_role("button", name="Publish version 1").click()
    held[0].fulfill(response=answer)
    expect(steps.toast(page, "Version 1 of")).to_be_visible()


def _saves(request: Request) -> bool:
    return request.method == "POST" and request.headers.get("hx-request") == "true"


def test_checks_update_while_typing_and_link_to_the_line(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR), clock=True)
    page.goto(f"{team.base}/new/")
    steps.write(page, "Gift Wrapping", instructions="# Half\n\nSee [the list](references/none.md).")
    steps.pass_a_second(page)
    checks = page.get_by_role("complementary", name="Checks")
    expect(checks).to_contain_text("references/none.md")
    expect(page.locator("#name-note")).to_contain_text("gift-wrapping")
    checks.get_by_role("listitem").filter(has_text="references/none.md").get_by_role("link").click()
    expect(page.get_by_role("textbox", name="Instructions")).to_be_focused()
    page.get_by_role("button", name="Publish version 1").click()
    expect(page.get_by_role("dialog")).to_contain_text("Fix 1 finding first")
    page.get_by_role("dialog").get_by_role("button", name="Publish version 1").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    expect(page.get_by_role("textbox", name="Instructions")).to_have_value(
        "# Half\n\nSee [the list](references/none.md)."
    )


def test_typing_the_start_of_a_suggested_tag_does_not_choose_it(team: Team, windows: Windows) -> None:
    """`gift` is a tag of the project, and somebody types a longer tag."""
    tagged = skill_bundle("gift-cards", tags=["gift"])
    team.site.do(skills.create, team.project, tagged, by=team.actor(roles.AUTHOR))
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/new/")
    entry = page.get_by_label("Tags")
    entry.press_sequentially("gift-wrapping")
    entry.press("Enter")
    expect(page.get_by_role("button", name="Remove tag gift-wrapping")).to_be_visible()
    chosen = """(field) => {
        field.value = "gift";
        field.dispatchEvent(new InputEvent("input", { inputType: "insertReplacementText", bubbles: true }));
    }"""
    entry.evaluate(chosen)
    expect(page.locator("input[name=tags]")).to_have_value("gift-wrapping, gift")


def test_a_second_click_on_a_formatting_button_reverts_it(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR), clock=True)
    page.goto(f"{team.base}/new/")
    field = page.get_by_role("textbox", name="Instructions")
    field.fill("Fold it twice")
    field.press("ControlOrMeta+a")
    for tool, written in [
        ("Bold", "**Fold it twice**"),
        ("Italic", "***Fold it twice***"),
        ("Bold", "*Fold it twice*"),
        ("Italic", "Fold it twice"),
        ("Numbered list", "1. Fold it twice"),
        ("List", "- Fold it twice"),
        ("List", "Fold it twice"),
    ]:
        page.get_by_role("button", name=tool, exact=True).click()
        expect(field).to_have_value(written)
    field.fill("The sizes:")
    page.get_by_role("button", name="Table", exact=True).click()
    steps.pass_a_second(page)
    expect(page.get_by_role("region", name="Preview").get_by_role("table")).to_be_visible()
    field.press("ControlOrMeta+Enter")
    field.press("ControlOrMeta+Enter")
    expect(page.get_by_label("What changed")).to_be_focused()


def test_enter_continues_and_ends_a_list(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/new/")
    field = page.get_by_role("textbox", name="Instructions")

    def typed(words: str) -> None:
        for place, line in enumerate(words.split("\n")):
            if place:
                page.keyboard.press("Enter")
            page.keyboard.type(line)

    field.focus()
    typed("- Fold\nPress\n\nThen:\n\n9. Wrap\nTie")
    expect(field).to_have_value("- Fold\n- Press\nThen:\n\n9. Wrap\n10. Tie")
    page.keyboard.press("Enter")
    page.keyboard.press("ControlOrMeta+z")
    expect(field).to_have_value("- Fold\n- Press\nThen:\n\n9. Wrap\n10. Tie")
    composed = """(field) => {
        const key = new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true });
        return field.dispatchEvent(key);
    }"""
    assert field.evaluate(composed), "the key is that of the input method"
    page.keyboard.press("Shift+Enter")
    typed("plain\nlines")
    expect(field).to_have_value("- Fold\n- Press\nThen:\n\n9. Wrap\n10. Tie\nplain\nlines")
    field.fill("```\n- code")
    page.keyboard.press("Enter")
    expect(field).to_have_value("```\n- code\n")


def _open_with_many_names(page: Page, team: Team) -> None:
    """Open the editor as if the project had more skills than a page contains names."""

    def with_more(route: Route) -> None:
        answer = route.fetch()
        more = f'<datalist id="known-names" data-more="{team.base}/names">'
        route.fulfill(response=answer, body=answer.text().replace('<datalist id="known-names">', more))

    page.route("**/new/", with_more, times=1)
    page.goto(f"{team.base}/new/")


def test_names_are_fetched_while_typing(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR))
    _open_with_many_names(page, team)
    team.site.do(skills.create, team.project, skill_bundle("gift-cards"), by=team.actor(roles.AUTHOR))
    page.get_by_label("Requires").press_sequentially("gift")
    expect(page.locator("#known-names > option")).to_have_count(1)
    expect(page.locator("#known-names > option")).to_have_attribute("value", "gift-cards")


def test_the_sign_in_page_is_never_inserted_into_the_editor(team: Team, windows: Windows) -> None:
    """The session ends while somebody types: neither the names nor the checks are replaced."""
    page = windows.open(team.session(roles.AUTHOR))
    _open_with_many_names(page, team)
    page.context.clear_cookies(name="sessionid")
    with page.expect_response(re.compile("/sign-in/")):
        page.get_by_label("Requires").press_sequentially("gift")
    expect(page.get_by_role("alert")).to_contain_text("You are signed out.")
    expect(page.get_by_role("complementary", name="Checks")).to_be_visible()
    expect(page.locator("#known-names > option").first).to_be_attached()
    assert page.locator("#known-names > :not(option)").count() == 0
    windows.troubles.clear()  # the browser logs the error that the page shows


def test_the_shortcut_opens_the_reason_of_a_proposal(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.VIEWER))
    page.goto(f"{team.base}/new/")
    page.get_by_role("textbox", name="Instructions").press("ControlOrMeta+Enter")
    expect(page.get_by_label("Why")).to_be_focused()


def test_the_current_tab_of_a_narrow_window_is_in_view(team: Team, windows: Windows) -> None:
    team.site.do(skills.create, team.project, skill_bundle("gift-cards"), by=team.actor(roles.AUTHOR))
    page = windows.open(team.session(roles.VIEWER), narrow=True)
    page.goto(f"{team.base}/skills/gift-cards/usage/")
    expect(page.get_by_role("link", name="Usage")).to_be_in_viewport(ratio=0.9)


def test_the_filters_of_the_audit_log_are_in_one_row(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.OWNER))
    page.goto(f"{team.base}/audit/?actor=nobody")
    expect(page.get_by_role("search").get_by_role("link", name="Clear filters")).to_be_visible()
    middles = (
        page.get_by_role("search")
        .locator(".toolbar-scroll > *")
        .evaluate_all(
            "(all) => all.map((each) => each.getBoundingClientRect()).map((box) => (box.top + box.bottom) >> 1)"
        )
    )
    assert len(middles) == 7
    assert max(middles) - min(middles) <= 1


def test_the_404_page_fits_a_long_project_name(team: Team, windows: Windows) -> None:
    name = "The department of interdepartmental coordination and paperwork"
    team.site.do(projects.describe, team.project, name=name, description="", by=team.actor(roles.OWNER))
    page = windows.open(team.session(roles.OWNER), narrow=True)
    page.goto(f"{team.base}/skills/not-there/")
    expect(page.get_by_role("link", name=name)).to_be_in_viewport(ratio=1)
    assert accessibility.overflowing(page) == []
    windows.troubles.clear()  # the browser logs the expected 404


def test_switching_to_code_and_back_loses_nothing(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/new/")
    steps.write(page, "gift-wrapping")
    page.get_by_role("button", name="Code", exact=True).click()
    raw = page.get_by_role("textbox", name="SKILL.md")
    raw.fill(raw.input_value().replace("name: gift-wrapping", "name: gift-wrapping # ours\nx-shop: Kobe"))
    page.get_by_role("button", name="Form", exact=True).click()
    page.get_by_label("Description").fill("Wraps a gift. Use when somebody orders a gift.")
    page.get_by_role("button", name="Code", exact=True).click()
    expect(raw).to_have_value(
        '---\nname: gift-wrapping # ours\nx-shop: Kobe\ndescription: "Wraps a gift. Use when somebody orders a gift."\n'
        'metadata:\n  kind: "tool"\n---\n\n# gift-wrapping\n\nFold the paper twice.\n'
    )


def test_files_are_dropped_into_a_draft(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/new/")
    steps.write(page, "gift-wrapping")
    _drop(page, "[data-drop]", "paper.md", "# Paper\n")
    files = page.get_by_role("region", name="Files")
    expect(files.get_by_role("listitem")).to_contain_text("references/paper.md")
    with page.expect_navigation():
        files.get_by_role("button", name="Remove references/paper.md").click()
    expect(files.get_by_role("listitem")).to_have_count(0)
    _drop(page, "[data-drop]", "twine.md", "# Twine\n")
    expect(files.get_by_role("listitem")).to_contain_text("references/twine.md")
    steps.publish(page, 1, "With twine")


def test_leaving_the_preview_of_a_dropped_file_discards_it(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/upload/")
    _drop(page, "[data-dropzone]", "SKILL.md", "---\nname: twine\ndescription: Ties. Use when tying.\n---\nTie it.\n")
    expect(page.get_by_role("button", name="Publish twine")).to_be_visible()
    waiting = Upload.objects.filter(project=team.project)
    assert team.site.do(waiting.all().exists)
    page.get_by_role("link", name="Upload", exact=True).click()
    wait_for(lambda: not team.site.do(waiting.all().exists))


def _drop(page: Page, zone: str, name: str, text: str) -> None:
    """Simulate dropping a file on the zone."""
    page.evaluate(
        """([zone, name, text]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], name, { type: "text/markdown" }));
            const target = document.querySelector(zone);
            for (const kind of ["dragover", "drop"]) {
                target.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
            }
        }""",
        [zone, name, text],
    )


def test_searching_updates_the_list_and_the_address(team: Team, windows: Windows) -> None:
    by = team.actor(roles.AUTHOR)
    for name in ("gift-wrapping", "gift-cards", "returns"):
        team.site.do(skills.create, team.project, skill_bundle(name), by=by)
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/skills/?source=project")
    rows = page.get_by_role("table").get_by_role("row").filter(has=page.get_by_role("cell"))
    expect(rows).to_have_count(3)
    page.keyboard.press("/")
    page.keyboard.type("gift")
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile(r"\?(?=.*q=gift)(?=.*source=project)"))
    page.keyboard.type(" card")
    expect(page).to_have_url(re.compile(r"[?&]q=gift(\+|%20)card(&|$)"))
    expect(rows.first).to_contain_text("gift-cards")
    page.reload()
    expect(page.get_by_role("searchbox")).to_have_value("gift card")
    expect(rows.first).to_contain_text("gift-cards")
    page.go_back()
    expect(rows).to_have_count(2)


def test_live_regions_stay_in_the_page_and_change_their_text(team: Team, windows: Windows) -> None:
    """Some screen readers ignore a live region that is replaced."""
    here = "(region) => [region.isConnected, document.querySelectorAll(`#${region.id}`).length, region.role]"
    page = windows.open(team.session(roles.AUTHOR), clock=True)
    page.goto(f"{team.base}/skills/")
    count = page.locator("#match-count").element_handle()
    assert count is not None
    page.get_by_label("Search skills").press_sequentially("xylophone quartet")
    expect(page.locator("#match-count")).to_have_text("0 skills match")
    assert count.evaluate(here) == [True, 1, "status"]
    page.goto(f"{team.base}/new/")
    state = page.locator("#draft-state").element_handle()
    assert state is not None
    steps.write(page, "gift-wrapping")
    steps.pass_a_second(page)
    expect(page.locator("#draft-state")).to_contain_text("Draft saved")
    assert state.evaluate(here) == [True, 1, "status"]
    page.goto(f"{team.base}/sources/")
    guess = page.locator("#guess").element_handle()
    assert guess is not None
    page.get_by_label("Address").fill("https://github.com/a/b")
    expect(page.locator("#guess")).to_contain_text("a git repository")
    assert guess.evaluate(here) == [True, 1, "status"]


def test_selected_skills_are_switched_off_together(team: Team, windows: Windows) -> None:
    by = team.actor(roles.AUTHOR)
    for name in ("gift-wrapping", "returns"):
        team.site.do(skills.create, team.project, skill_bundle(name), by=by)
    page = windows.open(team.session(roles.AUTHOR))
    page.goto(f"{team.base}/skills/?source=project")
    bar = page.get_by_role("group", name="Change the selected skills")
    expect(bar).to_be_hidden()
    page.get_by_role("checkbox", name="Select all on this page").check()
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Switch off").click()
    expect(page.get_by_role("row").filter(has_text="Switched off")).to_have_count(2)
