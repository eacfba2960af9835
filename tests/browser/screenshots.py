"""Take a screenshot of each page of the demo. `make screenshots` writes them to docs/screenshots.

python -m tests.browser.screenshots [name of a picture …]
"""

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import django
from playwright.sync_api import Browser, Page, sync_playwright

from tests import environment  # noqa: F401 - the settings, which come with the site, find a directory of their own
from tests.browser import chromium

if TYPE_CHECKING:
    from tests.browser.world import World

_TARGET = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
_WIDE, _NARROW = {"width": 1440, "height": 900}, {"width": 360, "height": 780}


def _nothing(page: Page) -> None:
    """Leave the page as it opens."""


def _publishing(page: Page) -> None:
    page.get_by_role("button", name="Publish version").click()
    page.get_by_label("What changed").fill("How we note down calls")


@dataclass(frozen=True)
class Picture:
    """A screenshot of a page in `screens`, wide and light by default."""

    name: str
    screen: str
    dark: bool = False
    narrow: bool = False
    prepare: Callable[[Page], None] = _nothing


def _plain(*names: str) -> list[Picture]:
    return [Picture(name, name) for name in names]


PICTURES = [
    *_plain("skills", "skill", "skill-source", "skill-files", "skill-usage", "skill-versions", "skill-compare"),
    *_plain("skill-workflow"),
    *_plain("skill-upstream", "skill-compare-bundled", "skill-conflict", "skill-edit", "skill-edit-raw"),
    *_plain(
        "upload",
        "upload-preview",
        "catalog",
        "proposals",
        "proposal",
        "audit",
        "security",
        "scan",
        "agents",
        "agent",
        "tokens",
    ),
    *_plain("sources", "source", "source-import", "source-job", "source-uninstall"),
    *_plain("webhooks", "inbox", "connect", "members", "settings", "account", "projects", "sign-in", "styleguide"),
    *_plain(
        "routing-questions", "routing-import", "routing-results", "routing-health", "routing-log", "routing-settings"
    ),
    *_plain("runs", "run-waiting", "run-failed", "skill-run", "waiting"),
    *_plain("capabilities", "capability", "capability-change"),
    Picture("question", "run-question-call"),
    Picture("question-again", "run-question-again"),
    Picture("question-doubt-dark", "run-question-doubt", dark=True),
    Picture("run-timeline", "run-timeline-waiting"),
    Picture("run-waiting-dark", "run-waiting", dark=True),
    Picture("run-waiting-narrow", "run-waiting", narrow=True),
    Picture("routing", "routing-answer"),
    Picture("routing-dark", "routing-answer", dark=True),
    Picture("routing-narrow", "routing-answer", narrow=True),
    Picture("routing-results-narrow", "routing-results", narrow=True),
    Picture("source-preview", "source-entry"),
    Picture("source-conflict", "source-entry-taken"),
    Picture("source-merge", "source-entry-merge"),
    Picture("source-merge-dark", "source-entry-merge", dark=True),
    Picture("source-unreachable", "source-unreachable"),
    Picture("source-narrow", "source", narrow=True),
    Picture("skill-imported", "skill-imported"),
    Picture("skill-table", "skill-file-page-table"),
    Picture("skill-new", "skill-new"),
    Picture("publish", "skill-new", prepare=_publishing),
    Picture("skills-dark", "skills", dark=True),
    Picture("skill-dark", "skill-upstream-changed", dark=True),
    Picture("skill-new-dark", "skill-new", dark=True),
    Picture("skill-compare-dark", "skill-compare", dark=True),
    Picture("proposal-dark", "proposal", dark=True),
    Picture("skills-narrow", "skills", narrow=True),
    Picture("skill-narrow", "skill", narrow=True),
    Picture("skill-new-narrow", "skill-new", narrow=True),
    Picture("skill-conflict-narrow", "skill-conflict", narrow=True),
    Picture("proposal-narrow", "proposal", narrow=True),
]


def main(wanted: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "skillsite.settings")
    django.setup()
    from tests.browser import site, world

    _TARGET.mkdir(parents=True, exist_ok=True)
    chosen = [picture for picture in PICTURES if not wanted or picture.name in wanted]
    with (
        tempfile.TemporaryDirectory() as directory,
        sync_playwright() as playwright,
        site.running(Path(directory) / "site", PUBLIC_URL="https://skills.example.com", HTTPS="0") as running,
    ):
        browser = chromium.launch(playwright)
        built = world.build(running)
        for picture in chosen:
            _take(picture, built, browser)
        browser.close()
    sys.stdout.write(f"{len(chosen)} pictures are in {_TARGET.relative_to(Path.cwd())}.\n")


def _take(picture: Picture, world: "World", browser: Browser) -> None:
    from registry.core import roles
    from tests.browser.screens import SCREENS

    (screen,) = [each for each in SCREENS if each.name == picture.screen]
    context = browser.new_context(
        base_url=world.team.site.address,
        viewport=_NARROW if picture.narrow else _WIDE,
        device_scale_factor=2 if picture.narrow else 1,
        color_scheme="dark" if picture.dark else "light",
        reduced_motion="reduce",
    )
    if screen.signed_in:
        session = world.team.session(roles.OWNER)
        context.add_cookies([{"name": "sessionid", "value": session, "url": world.team.site.address}])
    page = context.new_page()
    page.goto(screen.path(world), wait_until="networkidle")
    picture.prepare(page)
    page.screenshot(path=_TARGET / f"{picture.name}.png", animations="disabled")
    context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
