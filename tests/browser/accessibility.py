"""Accessibility checks with axe-core, and checks of headings and horizontal scrolling."""

from typing import Any

from axe_playwright_python.base import AXE_FILE_NAME
from playwright.sync_api import Page

# `preload` would fetch styles of other hosts. We have none.
_OPTIONS: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
# Icons are half of the elements of a page. No rule applies to those that are hidden from assistive technology.
_CONTEXT = {"exclude": [['svg[aria-hidden="true"]']]}
EVERYTHING: dict[str, Any] = {**_OPTIONS, "rules": {"target-size": {"enabled": True}}}
ONLY_COLOURS: dict[str, Any] = {**_OPTIONS, "runOnly": ["color-contrast", "link-in-text-block"]}


# axe parses the same few colours thousands of times per page, which takes a fifth of its time.
_PARSE_EACH_COLOUR_ONCE = """() => {
    const { prototype } = axe.commons.color.Color;
    const parse = prototype.parseString;
    const parsed = new Map();
    prototype.parseString = function (text) {
        if (!parsed.has(text)) {
            parse.call(this, text);
            const { r, g, b, alpha } = this;
            parsed.set(text, { r, g, b, alpha });
        }
        return Object.assign(this, parsed.get(text));
    };
}"""


def load_axe(page: Page) -> None:
    """Load axe from the site, from which the browser caches it. `tests.browser.settings` serves it."""
    page.add_script_tag(url=f"/static/{AXE_FILE_NAME}")
    page.evaluate(_PARSE_EACH_COLOUR_ONCE)


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
            const named = out.map((element) => `${element.tagName} ${element.className} to ${right(element)}`);
            return named.length ? named.slice(0, 5) : ["the page"];
        }"""
    )
    return found


def main_headings(page: Page) -> int:
    """Return the number of headings of level 1 that are shown. This is quicker than a locator, which needs a script."""
    number: int = page.evaluate(
        """() => [...document.querySelectorAll('h1, [role="heading"][aria-level="1"]')].filter(
            (each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest('[aria-hidden="true"]')
        ).length"""
    )
    return number
