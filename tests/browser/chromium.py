"""The Chromium of this machine, launched in the same way for tests and screenshots."""

import shutil

from playwright.sync_api import Browser, Playwright

# The headless shell needs half of the CPU time, so it comes first.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # A page lives too briefly to repay the optimising compiler and its threads. They take a tenth of the CPU time.
    "--js-flags=--no-opt,--single-threaded",
]


def path() -> str | None:
    """Return the path of the browser, or None if it is not installed."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=path(), args=_ARGUMENTS)
