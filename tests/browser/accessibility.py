"""Asks axe-core what stands in the way of people on a page."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

COLOURS = ["color-contrast", "link-in-text-block"]
# Styles of other hosts are what `preload` would fetch, and there are none.
_OPTIONS: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
EVERYTHING: dict[str, Any] = {**_OPTIONS, "rules": {"target-size": {"enabled": True}}}
ONLY_COLOURS: dict[str, Any] = {**_OPTIONS, "runOnly": COLOURS}
ALL_BUT_COLOURS: dict[str, Any] = {
    **_OPTIONS,
    "rules": {"target-size": {"enabled": True}, **{rule: {"enabled": False} for rule in COLOURS}},
}


def bring_axe(page: Page) -> None:
    page.evaluate(AXE_SCRIPT)


def barriers(page: Page, options: dict[str, Any]) -> list[str]:
    """What axe calls serious or critical, with where it is."""
    found = page.evaluate("(options) => axe.run(options).then((result) => result.violations)", options)
    return [
        f"{each['id']}: {node['target'][0]} ({node['failureSummary']})"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def sideways(page: Page) -> list[str]:
    """What sticks out of a page that can be scrolled sideways; nothing where it cannot."""
    found: list[str] = page.evaluate(
        """() => {
            if (document.scrollingElement.scrollWidth <= innerWidth) return [];
            const right = (element) => Math.ceil(element.getBoundingClientRect().right);
            const out = [...document.body.querySelectorAll("*")].filter((element) => right(element) > innerWidth);
            return out.slice(0, 5).map((element) => `${element.tagName} ${element.className} to ${right(element)}`);
        }"""
    )
    return found or (["the page"] if page.evaluate("document.scrollingElement.scrollWidth > innerWidth") else [])
