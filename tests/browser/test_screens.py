"""Every page, wide and narrow, light and dark: accessible, no horizontal scrolling, no console errors."""

from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse
from playwright.sync_api import Browser, Page

from registry.core import roles
from registry.web.urls import urlpatterns
from tests.browser import world as worlds
from tests.browser.accessibility import EVERYTHING, ONLY_COLOURS, load_axe, main_headings, overflowing, violations
from tests.browser.conftest import NARROW, WIDE, Windows
from tests.browser.screens import NOT_PAGES, ONLY_POSTED, SCREENS, Screen
from tests.browser.site import Site
from tests.browser.world import World


@pytest.fixture(scope="package")
def world(site: Site) -> World:
    return worlds.build(site)


@pytest.fixture(scope="package")
def everywhere(browser: Browser, site: Site, world: World) -> Iterator[Windows]:
    """Open windows that stay open from page to page, so that styles and scripts load once."""
    opened = Windows(browser, site)
    yield opened
    opened.close()


@pytest.fixture(scope="package")
def owner(everywhere: Windows, world: World) -> Page:
    return everywhere.open(world.team.session(roles.OWNER))


@pytest.fixture(scope="package")
def stranger(everywhere: Windows) -> Page:
    return everywhere.open()


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.name)
def test_page_is_accessible_and_fits(
    screen: Screen, world: World, everywhere: Windows, owner: Page, stranger: Page
) -> None:
    page = owner if screen.signed_in else stranger
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)
    path = screen.path(world)
    assert resolve(path.partition("?")[0]).url_name == screen.route
    answer = page.goto(path)
    assert answer is not None and answer.status == 200
    assert main_headings(page) == 1
    assert page.title().endswith(" · Skillsite")
    load_axe(page)
    assert violations(page, EVERYTHING) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, ONLY_COLOURS) == [], "in the dark"
    page.set_viewport_size(NARROW)
    assert overflowing(page) == []
    assert violations(page, EVERYTHING) == [], "in the dark at 360 px"
    assert everywhere.troubles == []


def _names(patterns: list[URLPattern | URLResolver]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _names(pattern.url_patterns)
        elif pattern.name:
            yield pattern.name


def test_every_address_is_in_the_table_or_excused() -> None:
    known = {screen.route for screen in SCREENS} | NOT_PAGES.keys() | ONLY_POSTED
    assert set(_names(urlpatterns)) - known == set()


_SAMPLES = {"slug": "demo", "name": "parcel-sizes", "version": "1", "digest": "sha256:0"}
_SAMPLES |= dict.fromkeys(
    (
        "session",
        "member",
        "invitation",
        "number",
        "token",
        "notification",
        "webhook",
        "source_id",
        "job_id",
        "suppression",
        "run",
        "question",
    ),
    "1",
)


def test_addresses_for_forms_show_nothing_on_get(world: World, owner: Page) -> None:
    for name in ONLY_POSTED:
        ((_, parameters),) = get_resolver().reverse_dict.getlist(name)[0][0]
        address = reverse(name, kwargs={each: _SAMPLES[each] for each in parameters})
        assert owner.request.get(address).status == 405, address
