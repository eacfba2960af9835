"""Accessibility checks with axe-core, and a check for horizontal scrolling."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# `preload` would fetch styles of other hosts. We have none.
_OPTIONS: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
# Icons are half of the elements of a page. No rule applies to those that are hidden from assistive technology.
_CONTEXT = {"exclude": [['svg[aria-hidden="true"]']]}
EVERYTHING: dict[str, Any] = {**_OPTIONS, "rules": {"target-size": {"enabled": True}}}
ONLY_COLOURS: dict[str, Any] = {**_OPTIONS, "runOnly": ["color-contrast", "link-in-text-block"]}


def load_axe(page: Page) -> None:
    page.evaluate(AXE_SCRIPT)


def violations(page: Page, options: dict[str, Any]) -> list[str]:
    """Return the serious and critical violations with their elements."""
    found = page.evaluate(
        "([context, options]) => axe.run(context, options).then((result) => result.violations)", [_CONTEXT, options]
    )
    return [
        f"{each['id']}: {node['target'][0]} ({node['failureSummary']})"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def overflowing(page: Page) -> list[str]:
    """Return the elements that are wider than the page, if the page scrolls horizontally."""
    found: list[str] = page.evaluate(
        """() => {
            if (document.scrollingElement.scrollWidth <= innerWidth) return [];
            const right = (element) => Math.ceil(element.getBoundingClientRect().right);
            const out = [...document.body.querySelectorAll("*")].filter((element) => right(element) > innerWidth);
            return out.slice(0, 5).map((element) => `${element.tagName} ${element.className} to ${right(element)}`);
        }"""
    )
    return found or (["the page"] if page.evaluate("document.scrollingElement.scrollWidth > innerWidth") else [])
