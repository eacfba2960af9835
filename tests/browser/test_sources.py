"""Skills from elsewhere: a source is added, watched, searched, imported from, merged with, and left again."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.services.catalog import catalog
from registry.services.skills import skills
from registry.services.sources import source_jobs
from tests.browser import steps
from tests.browser.conftest import Windows
from tests.browser.site import Team
from tests.conftest import skill_bundle
from tests.services.other_site import Elsewhere, elsewhere

_GIFTS = "# Wrap a gift\n\nFold the paper twice.\n\nUse the red ribbon.\n\nAdd a card."


@pytest.fixture
def shop() -> Iterator[Elsewhere]:
    """Another site with three skills."""
    with elsewhere() as made:
        made.skills["gifts"] = skill_bundle("gifts", body=_GIFTS)
        made.skills["labels"] = skill_bundle("labels", files={"assets/sizes.csv": b"size\nA6\n"})
        made.skills["returns"] = skill_bundle("returns")
        yield made


def _work(team: Team, page: Page | None = None) -> None:
    """Run the due jobs, and make the page check them."""
    team.site.do(source_jobs.run_due)
    if page:
        steps.pass_a_second(page)


def _change(shop: Elsewhere, before: str, after: str) -> None:
    text = shop.skills["gifts"][SKILL_MD].decode()
    assert before in text
    shop.skills["gifts"] = shop.skills["gifts"].with_changes({SKILL_MD: text.replace(before, after).encode()})


def _served(team: Team, name: str) -> str:
    return team.site.do(lambda: catalog.load(team.project.pk, name).bundle()[SKILL_MD].decode())


def _row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def _add(page: Page, team: Team, shop: Elsewhere, *, script: bool = True) -> None:
    page.goto(f"{team.base}/sources/")
    page.get_by_label("Address").fill(shop.address)
    page.get_by_label("Kind").select_option("Website with a skill index")
    page.get_by_role("button", name="Add source").click()
    expect(page.get_by_text("Checking the source…")).to_be_visible()
    _work(team, page if script else None)


def test_a_skill_is_imported_edited_merged_and_uninstalled(team: Team, windows: Windows, shop: Elsewhere) -> None:
    page = windows.open(team.session(roles.AUTHOR), clock=True)
    page.goto(f"{team.base}/skills/")
    page.get_by_role("link", name="Import", exact=True).click()
    page.get_by_label("Address").fill("https://github.com/acme/skills")
    expect(page.get_by_text("Looks like a git repository.")).to_be_visible()
    _add(page, team, shop)
    expect(page.get_by_role("link", name="returns", exact=True)).to_be_visible()
    _several(page, team)
    _one(page)
    _edit_here(page, team)
    _merge(page, team, shop)
    _uninstall(page, team)


def _several(page: Page, team: Team) -> None:
    """Ticked, imported, and watched without loading the page again."""
    for name in ("labels", "returns"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    page.get_by_role("button", name="Import…").click()
    expect(steps.heading(page)).to_have_text("Import 2 skills")
    page.get_by_role("button", name="Import 2 skills").click()
    expect(steps.heading(page)).to_have_text("Importing 2 skills")
    expect(page.get_by_text("Waiting to start")).to_be_visible()
    _work(team, page)
    expect(page.get_by_text("2 of 2 skills done")).to_be_visible()
    expect(page.get_by_text("Imported", exact=True)).to_have_count(2)
    page.get_by_role("link", name="Back to the source").click()
    expect(_row(page, "labels")).to_contain_text("Installed")
    expect(_row(page, "gifts")).to_contain_text("Not installed")


def _one(page: Page) -> None:
    """Fetched when somebody looks, and read before it is stored."""
    page.get_by_role("link", name="gifts", exact=True).click()
    expect(page.get_by_text("This creates the new skill gifts.")).to_be_visible()
    expect(page.get_by_text("Use the red ribbon.")).to_be_visible()
    page.get_by_role("button", name="Import gifts").click()
    expect(steps.toast(page, "gifts is published as version 1")).to_be_visible()
    expect(page.get_by_role("complementary", name="About this skill")).to_contain_text(
        "imported just now by Ada Okafor"
    )


def _edit_here(page: Page, team: Team) -> None:
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_role("textbox", name="Instructions").fill(
        _GIFTS.replace("red", "green").replace("Add a card.", "Add a card with the name.")
    )
    steps.publish(page, 2, "Green this year")


def _merge(page: Page, team: Team, shop: Elsewhere) -> None:
    """Both sides changed one line, which is a conflict. The other changes of both sides are merged."""
    _change(shop, "red ribbon", "silver ribbon")
    _change(shop, "twice", "three times")
    page.goto(f"{team.base}/sources/")
    page.get_by_role("main").get_by_role("link").first.click()
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_text("Checking the source…")).to_be_visible()
    _work(team, page)
    expect(page.get_by_text("Reload to see what changed.")).to_be_visible()
    page.get_by_role("link", name="Reload").click()
    expect(_row(page, "gifts")).to_contain_text("Update available")
    expect(_row(page, "gifts")).to_contain_text("Edited here")
    page.goto(f"{team.base}/skills/gifts/")
    page.get_by_role("link", name="See the update").click()
    expect(page.get_by_text("To merge, resolve 1 conflict.")).to_be_visible()
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Resolve 1 conflict between")).to_be_visible()
    assert "green ribbon" in _served(team, "gifts")
    page.get_by_role("group", name="choose one").get_by_role("radio", name="Keep yours").check()
    page.get_by_role("button", name="Merge").click()
    expect(steps.toast(page, "Version 3 of gifts is published")).to_be_visible()
    expect(page.get_by_text("Update available")).to_have_count(0)
    told = _served(team, "gifts")
    assert "three times" in told and "green ribbon" in told and "with the name" in told and "silver" not in told


def _uninstall(page: Page, team: Team) -> None:
    page.get_by_label("More actions").click()
    page.get_by_role("link", name="Uninstall").click()
    expect(steps.heading(page)).to_have_text("Uninstall gifts?")
    expect(page.get_by_role("region", name="Your edits to remove")).to_contain_text("green")
    page.get_by_role("button", name="Uninstall").click()
    expect(steps.toast(page, "gifts uninstalled")).to_be_visible()
    expect(_row(page, "gifts")).to_contain_text("Not installed")
    expect(_row(page, "labels")).to_contain_text("Installed")
    assert team.site.do(catalog.find, team.project.pk, "gifts") is None


def test_a_slow_response_never_replaces_a_newer_one(team: Team, windows: Windows, shop: Elsewhere) -> None:
    page = windows.open(team.session(roles.AUTHOR), clock=True)
    _add(page, team, shop)
    expect(page.get_by_role("link", name="gifts", exact=True)).to_be_visible()
    held: list[Route] = []
    page.route("**/*q=lab*", lambda route: held.append(route))
    search = page.get_by_role("searchbox", name="Search this source")
    with page.expect_request("**/*q=lab*"):
        search.press_sequentially("lab")
    search.fill("gif")
    expect(page.get_by_role("link", name="labels", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="gifts", exact=True)).to_be_visible()
    _noted_as_given_up(windows)
    assert [route.request.failure for route in held] == ["net::ERR_ABORTED"]
    search.fill("g")
    expect(page.get_by_role("link", name="labels", exact=True)).to_be_visible()
    search.fill("nothing of it")
    expect(page.get_by_role("heading", name="No skills match “nothing of it”")).to_be_visible()


def _noted_as_given_up(windows: Windows) -> None:
    """htmx says in the console that it gave up the older request, which is what was hoped for."""
    noted = [said for said in windows.troubles if "htmx:afterRequest" in said or "htmx:sendAbort" in said]
    assert len(noted) == len(windows.troubles) == 2
    windows.troubles.clear()


def test_unreachable_looks_different_from_empty(team: Team, windows: Windows, shop: Elsewhere) -> None:
    page = windows.open(team.session(roles.AUTHOR), narrow=True, clock=True)
    shop.status = 503
    _add(page, team, shop)
    expect(page.get_by_text("status 503")).to_be_visible()
    shop.status = 200
    shop.skills.clear()
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_text("Checking the source…")).to_be_visible()
    _work(team, page)
    expect(page.get_by_role("heading", name="No skills found")).to_be_visible()
    expect(page.get_by_text("status 503")).to_have_count(0)


def test_sources_work_without_scripts(team: Team, windows: Windows, shop: Elsewhere) -> None:
    """Names that are taken are chosen about, a failure is tried again, an update replaces what it shows."""
    by = team.actor(roles.AUTHOR)
    team.site.do(skills.create, team.project, skill_bundle("returns", body="Ours"), by=by)
    page = windows.open(team.session(roles.AUTHOR), script=False)
    _add(page, team, shop, script=False)
    page.get_by_role("link", name="Reload").click()
    for name in ("gifts", "labels", "returns"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    page.get_by_role("button", name="Import…").click()
    page.get_by_role("radio", name="Import under another name").check()
    page.get_by_role("textbox", name="New name").fill("their-returns")
    page.get_by_role("button", name="Import 3 skills").click()
    labels = shop.skills.pop("labels")
    _work(team)
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_text("3 of 3 skills done")).to_be_visible()
    expect(page.get_by_text("Failed", exact=True)).to_have_count(1)
    shop.skills["labels"] = labels
    page.get_by_role("button", name="Retry 1 skill").click()
    _work(team)
    page.goto(page.url)
    expect(page.get_by_text("1 of 1 skill done")).to_be_visible()
    assert "Ours" in _served(team, "returns") and "Follow the steps" in _served(team, "their-returns")
    _change(shop, "twice", "three times")
    page.get_by_role("link", name="Back to the source").click()
    page.get_by_role("button", name="Check again").click()
    _work(team)
    page.goto(f"{team.base}/skills/gifts/")
    page.get_by_role("link", name="See the update").click()
    page.get_by_role("link", name="Fetch and show").click()
    page.get_by_role("button", name="Update gifts").click()
    expect(steps.toast(page, "gifts is updated to version")).to_be_visible()
    assert "three times" in _served(team, "gifts")
