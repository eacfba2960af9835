"""The gallery in docs shows what `make screenshots` takes, and nothing that is gone."""

import re

from tests.browser.screens import SCREENS
from tests.browser.screenshots import PICTURES
from tests.faults.sites import ROOT


def test_the_gallery_shows_every_picture_that_is_taken() -> None:
    shown = re.findall(r"\(screenshots/([a-z-]+)\.png\)", (ROOT / "docs" / "screens.md").read_text())
    assert sorted(shown) == sorted(picture.name for picture in PICTURES)


def test_every_picture_is_of_a_screen_there_is() -> None:
    assert {picture.screen for picture in PICTURES} <= {screen.name for screen in SCREENS}
