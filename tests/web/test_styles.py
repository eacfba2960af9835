"""Style sheets, icons and contrast."""

import re
from pathlib import Path

import pytest
from django.conf import settings as site

from registry.templatetags import ui

TEMPLATES = Path(site.BASE_DIR) / "templates"
CSS = Path(site.BASE_DIR) / "static" / "css"
SPRITE = set(re.findall(r'id="i-([a-z]+)"', (TEMPLATES / "shell" / "sprite.html").read_text()))


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_no_template_breaks_the_content_policy_or_names_a_missing_icon(path):
    text = path.read_text()
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|hx-on|<script(?![^>]*\ssrc=)|javascript:", text)
    named = re.findall(r"""{%\s*icon ["']([a-z]+)""", text) + re.findall(r"""icon=["']([a-z]+)""", text)
    assert set(named) <= SPRITE


def test_the_tags_name_only_existing_icons():
    named = {entry[-1] for table in (ui._PROPOSAL_STATES, ui._SEVERITIES) for entry in table.values()}
    named |= set(ui._SOURCE_ICONS.values())
    assert named | set(ui._NOTICE_ICONS.values()) <= SPRITE


@pytest.mark.parametrize("path", sorted(CSS.glob("*.css")), ids=lambda path: path.stem)
def test_component_css_uses_existing_roles_and_no_raw_colours(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    tokens = (CSS / "tokens.css").read_text()
    assert set(re.findall(r"var\((--[a-z0-9-]+)", text)) <= set(
        re.findall(r"^\s*(--[a-z0-9-]+):", tokens, re.MULTILINE)
    )
    if path.stem != "tokens":
        assert not re.search(r"#[0-9a-f]{3,8}\b|rgba?\(|hsl|--(neutral|accent|ok|warn|danger)-\d", text)
        assert "url(" not in text


def test_the_base_page_links_every_style_sheet():
    linked = set(re.findall(r"css/([a-z]+)\.css", (TEMPLATES / "base.html").read_text()))
    assert linked == {path.stem for path in CSS.glob("*.css")} - {"styleguide"}


# -- Contrast ----------------------------------------------------------------------------------------------


def palette(theme: int) -> dict[str, str]:
    """Return every colour token, for light (0) or dark (1)."""
    text = (CSS / "tokens.css").read_text()
    pairs = re.findall(r"(--[a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", text)
    found = {name: pair[theme] for name, *pair in pairs}
    for role, scale in re.findall(r"(--[a-z-]+): var\((--[a-z0-9-]+)\);", text):
        if scale in found:
            found[role] = found[scale]
    return found


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


_GROUNDS = ["surface", "surface-sunken", "surface-hover", "surface-raised"]
_WASHES = [f"{hue}-wash" for hue in ("accent", "ok", "warn", "danger")]
_PAIRS = [
    *((text, ground, 4.5) for text in ("text", "text-ink", "text-muted") for ground in [*_GROUNDS, *_WASHES]),
    *((text, "surface-selected", 4.5) for text in ("text", "text-ink", "text-muted")),
    *(("text-faint", ground, 4.5) for ground in _GROUNDS),
    *((f"{hue}-text", ground, 4.5) for hue in ("accent", "ok", "warn", "danger")
      for ground in ["surface", "surface-sunken", "surface-raised", f"{hue}-wash", f"{hue}-tint"]),
    *(("on-solid", f"{hue}-solid", 4.5) for hue in ("accent", "danger")),
    *(("on-solid", f"{hue}-solid-hover", 4.5) for hue in ("accent", "danger")),
    *(("text-ink", mark, 4.5) for mark in ("accent-mark", "ok-mark", "danger-mark")),
    *(("line-control", ground, 3.0) for ground in ("surface", "surface-raised")),
    *(("accent-solid", ground, 3.0) for ground in [*_GROUNDS, *_WASHES, "surface-selected"]),
]  # fmt: skip


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_pair_of_colours_in_use_has_enough_contrast(theme):
    colours = palette(theme)
    weak = [
        (front, back, round(contrast(colours[f"--{front}"], colours[f"--{back}"]), 2))
        for front, back, least in _PAIRS
        if contrast(colours[f"--{front}"], colours[f"--{back}"]) < least
    ]
    assert weak == []
