"""The gallery in docs/screens.md shows every screenshot and no missing one."""

import re

from tests.browser.screens import SCREENS
from tests.browser.screenshots import PICTURES
from tests.faults.sites import ROOT


def test_the_gallery_shows_every_screenshot() -> None:
    shown = re.findall(r"\(screenshots/([a-z-]+)\.png\)", (ROOT / "docs" / "screens.md").read_text())
    assert sorted(shown) == sorted(picture.name for picture in PICTURES)


def test_every_screenshot_shows_an_existing_page() -> None:
    assert {picture.screen for picture in PICTURES} <= {screen.name for screen in SCREENS}
