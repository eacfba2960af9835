"""One Chromium and one server for all browser tests. Each test has its own project and windows."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.browser import chromium, run_states
from tests.browser.site import Site, Team, running
from tests.faults.sites import shared_template

_HERE = "tests/browser/"
PATIENCE = 60_000  # milliseconds
WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 360, "height": 740}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(_HERE):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if chromium.path() is None:
        said = "Browser tests need Chromium. Install chromium-headless-shell or chromium."
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(said)
        sys.__stderr__.write(f"\n{said}\n")
        pytest.skip(said)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started = chromium.launch(playwright)
        yield started
        started.close()


@pytest.fixture(scope="package")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Iterator[Site]:
    template = shared_template(tmp_path_factory.getbasetemp())
    with django_db_blocker.unblock(), running(tmp_path_factory.mktemp("site"), template=template) as started:
        yield started


@pytest.fixture
def team(site: Site) -> Team:
    return site.team()


@pytest.fixture
def run_worker(site: Site) -> Callable[[], None]:
    """Return a function that carries all runs until each has ended or waits for a person."""
    return lambda: site.do(run_states.carry)


class Windows:
    """Windows of several people, and the errors in their consoles."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self.browser = browser
        self.site = site
        self.troubles: list[str] = []
        self.contexts: list[BrowserContext] = []

    def open(
        self, session: str = "", *, script: bool = True, narrow: bool = False, clock: bool = False, **more: Any
    ) -> Page:
        """Open a window. With `clock`, `steps.pass_a_second` works in it."""
        context = self.browser.new_context(
            base_url=self.site.address,
            java_script_enabled=script,
            viewport=NARROW if narrow else WIDE,
            reduced_motion="reduce",
            **more,
        )
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        if session:
            context.add_cookies([{"name": "sessionid", "value": session, "url": self.site.address}])
        if clock:
            context.clock.install()
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.troubles.append(str(error.error)))
        return context.new_page()

    def _heard(self, message: ConsoleMessage) -> None:
        """Ignore responses above 400, which browsers log: an error that a page shows is not a fault of it."""
        refusal = message.text.startswith("Failed to load resource") and any(
            f"status of {status}" in message.text for status in (409, 422)
        )
        if message.type in ("error", "warning") and not refusal:
            self.troubles.append(f"{message.location.get('url')}: {message.text}")

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@pytest.fixture
def windows(browser: Browser, site: Site) -> Iterator[Windows]:
    """Fail a test with an error in a console, such as a broken script or a violation of the CSP."""
    opened = Windows(browser, site)
    yield opened
    opened.close()
    assert opened.troubles == []
