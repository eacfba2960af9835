"""The design system: template tags, charts, colours, and rules for all templates."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django import forms
from django.conf import settings as site
from django.http import Http404, HttpRequest
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import RequestFactory
from django_htmx.middleware import HtmxDetails
from hypothesis import given
from hypothesis import settings as law
from hypothesis import strategies as st

from registry.templatetags import ui
from registry.web import htmx, humanize
from registry.web.render.sparkline import bar_heights, seal_cells, trend
from registry.web.render.styleguide import styleguide
from tests import effort

NOW = datetime(2026, 11, 16, 14, 0, tzinfo=UTC)
TEMPLATES = Path(site.BASE_DIR) / "templates"
CSS = Path(site.BASE_DIR) / "static" / "css"
SPRITE = set(re.findall(r'id="i-([a-z]+)"', (TEMPLATES / "shell" / "sprite.html").read_text()))

digests = st.text("0123456789abcdef", min_size=64, max_size=64)
counts = st.lists(st.integers(0, 10**9), max_size=60)


def draw(source: str, **context: object) -> str:
    return Template("{% load ui %}" + source).render(Context(context))


# -- Seal --------------------------------------------------------------------------------------------------


def test_a_seal_is_fifteen_bits_down_the_columns_and_mirrored():
    # 4f9c is 01001 11110 01110 0: left column, second column, middle column, and an unused bit.
    left = {(0, 1), (0, 4)} | {(1, 0), (1, 1), (1, 2), (1, 3)} | {(2, 1), (2, 2), (2, 3)}
    right = {(4, 1), (4, 4)} | {(3, 0), (3, 1), (3, 2), (3, 3)}
    assert set(seal_cells("sha256:4f9c21ab77e0")) == left | right


def test_a_seal_of_all_or_no_bits_is_full_or_empty():
    assert len(seal_cells("f" * 64)) == 25
    assert seal_cells("0" * 64) == []


@given(digests)
@law(max_examples=effort.examples(50))
def test_every_seal_is_symmetric_and_depends_on_fifteen_bits(digest):
    cells = seal_cells(digest)
    assert set(cells) == {(4 - column, row) for column, row in cells}
    other = f"{int(digest[:4], 16) ^ 1:04x}{digest[4:]}"
    assert seal_cells(other) == cells


@pytest.mark.parametrize("digest", ["4f9c", "sha256:", "zz9c21ab77e0", "4F9C21AB77E0", "sha512:4f9c21ab77e0"])
def test_an_invalid_digest_has_no_seal(digest):
    with pytest.raises(ValueError, match="12 or more hex digits"):
        seal_cells(digest)


def test_a_seal_shows_twelve_digits_and_is_empty_without_a_digest():
    assert draw("{% seal d %}", d="sha256:4f9c21ab77e0ffff").endswith("</svg>4f9c21ab77e0</span>")
    assert draw("{% seal d %}", d="") == ""


# -- Numbers, sizes, times ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "plain", "change"),
    [(0, "0", "0"), (72, "72", "+72"), (-38, "−38", "−38"), (1_234_567, "1,234,567", "+1,234,567")],
)
def test_numbers_have_commas_and_changes_a_sign(value, plain, change):
    assert (humanize.number(value), humanize.signed(value)) == (plain, change)


@pytest.mark.parametrize(
    ("value", "noun", "said"),
    [
        (0, "file", "0 files"),
        (1, "file", "1 file"),
        (1204, "file", "1,204 files"),
        (2, "match,matches", "2 matches"),
    ],
)
def test_a_count_agrees_with_its_noun(value, noun, said):
    assert humanize.counted(value, noun) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"),
        (14_336, "14 KiB"), (10_188, "9.9 KiB"), (10_189, "10 KiB"), (1_048_063, "1,023 KiB"),
        (1_048_575, "1 MiB"), (8_598_323, "8.2 MiB"), (50 * 1024**2, "50 MiB"), (3 * 1024**4, "3,072 GiB"),
    ],
)  # fmt: skip
def test_sizes_are_short_and_never_reach_the_next_unit(size, said):
    assert humanize.filesize(size) == said


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("There is no skill 'tea-round' in this project.", "There is no skill “tea-round” in this project."),
        ("\"it's\" has no version '1'.", "“it's” has no version “1”."),
        ("The project's skill isn't theirs.", "The project's skill isn't theirs."),
    ],
)
def test_straight_quotes_become_curly(told, said):
    assert ui.curly(told) == said


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(hours=23, minutes=59), "23 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=13, hours=23), "13 days ago"),
        (timedelta(days=14), "2 weeks ago"),
        (timedelta(days=29, hours=23), "4 weeks ago"),
        (timedelta(days=30), "17 Oct"),
        (timedelta(days=63), "14 Sep"),
        (timedelta(days=365), "16 Nov 2025"),
        (-timedelta(seconds=30), "in less than a minute"),
        (-timedelta(hours=5), "in 5 hours"),
        (-timedelta(days=6, hours=23, minutes=59, seconds=58), "in 7 days"),
        (-timedelta(days=6, hours=11), "in 6 days"),
        (-timedelta(hours=23, minutes=59, seconds=59), "in 1 day"),
        (-timedelta(minutes=59, seconds=59), "in 1 hour"),
        (-timedelta(days=30), "16 Dec"),
        (-timedelta(days=60), "15 Jan 2027"),
    ],
)
def test_times_are_relative_up_to_a_month_and_then_a_date(ago, said):
    assert humanize.relative(NOW - ago, NOW) == said


def test_the_markup_has_the_exact_time_in_utc():
    moment = datetime(2026, 11, 16, 12, 0, tzinfo=UTC).astimezone()
    html = draw("{{ moment|reltime:now }}", moment=moment, now=NOW)
    assert html == '<time datetime="2026-11-16T12:00:00Z" title="16 Nov 2026, 12:00 UTC">2 hours ago</time>'


def test_no_time_is_empty_and_an_age_counts_up():
    assert draw("{{ moment|reltime }}", moment=None) == ""
    assert ">6 days old<" in draw("{{ moment|age:now }}", moment=NOW - timedelta(days=6), now=NOW)


# -- Charts ------------------------------------------------------------------------------------------------


@given(counts)
@law(max_examples=effort.examples(50))
def test_bars_keep_their_order_and_fit_the_chart(values):
    heights = bar_heights(values)
    assert all((height == 0) == (value == 0) for height, value in zip(heights, values, strict=True))
    assert all(0 <= height <= 17 for height in heights)
    assert max(heights, default=0) == (17 if any(values) else 0)
    ranked = sorted(zip(values, heights, strict=True))
    assert [height for _, height in ranked] == sorted(heights)


@pytest.mark.parametrize(
    ("values", "said", "bars"),
    [
        ([], "No loads in the last 0 days", ""),
        ([0] * 30, "No loads in the last 30 days", ""),
        ([1, 0, 0], "1 load in the last 3 days", "M1 19v-17"),
        ([5, 5, 5], "15 loads in the last 3 days, steady", "M1 19v-17M4 19v-17M7 19v-17"),
        ([1, 10**9], "1,000,000,001 loads in the last 2 days", "M1 19v-1M4 19v-17"),
    ],
)
def test_a_sparkline_has_a_text_for_screen_readers(values, said, bars):
    html = draw("{% sparkline values %}", values=values)
    assert f'aria-label="{said}"' in html
    assert f'<path d="{bars}"/>' in html


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([], ""),
        ([4, 4], ""),
        ([1, 1, 1], ""),
        ([9, 1, 1], "falling"),
        ([1, 1, 9], "rising"),
        ([5, 9, 5], "steady"),
    ],
)
def test_a_trend_compares_the_last_third_with_the_first(values, word):
    assert trend(values) == word


@pytest.mark.parametrize(
    ("value", "expected", "unexpected"),
    [
        (0, ["0 tokens", "of 5,000 recommended", 'meter-a" width="0"'], ["meter-tick"]),
        (5000, ["of 5,000 recommended", 'meter-a" width="100"'], ["Long"]),
        (5001, ["Long, 1 over the recommended length", "meter-warn", 'meter-tick" x="62.5"'], ["of 5,000 recommended"]),
        (8000, ["Long, 3,000 over the recommended length", 'meter-warn" width="100"'], ["Too long"]),
        (8001, ["Too long, split it", "meter-danger"], ["over the recommended length"]),
    ],
)
def test_the_text_of_a_meter_changes_with_its_colour(value, expected, unexpected):
    html = draw("{% meter value 5000 8000 %}", value=value)
    assert all(part in html for part in expected)
    assert not any(part in html for part in unexpected)


def test_a_stacked_meter_over_its_limit_stays_inside_the_bar():
    html = draw("{% stacked_meter parts limit=100 %}", parts=[("Project", 150), ("Built-in", 50)])
    assert 'x="0" width="75"' in html
    assert 'x="75" width="25"' in html
    assert "200 of 100 tokens: 150 Project, 50 Built-in" in html


def test_a_meter_without_a_limit_is_empty():
    assert 'width="0"' in draw("{% meter_bar 5 0 %}")


# -- Icons, people, texts ----------------------------------------------------------------------------------


def test_people_are_round_and_agents_are_square():
    person = SimpleNamespace(display_name="Ada Okafor", initials="AO")
    agent = SimpleNamespace(name="travel-desk")
    assert draw("{% avatar who %}", who=person) == '<span class="avatar" aria-hidden="true">AO</span>'
    assert "avatar--agent" in draw("{% avatar who %}", who=agent)
    assert "AO" in draw("{% avatar 'Ada Okafor' small=True %}")
    assert draw("{% who agent %}", agent=agent).endswith("Agent travel-desk</span>")
    assert draw("{% who person %}", person=person).endswith("</span>Ada Okafor</span>")


@pytest.mark.parametrize(
    "source",
    [
        "{% badge evil %}",
        "{% icon 'x' evil %}",
        "{% avatar evil %}",
        "{% who evil %}",
        "{% copy_button evil %}",
        "{% notice label=evil %}{{ evil }}{% endnotice %}",
        "{% notice 'warn' url=evil action=evil %}{% endnotice %}",
        "{% sparkline values label=evil %}",
    ],
)
def test_user_text_is_escaped_everywhere(source):
    html = draw(source, evil="<script>\"'", values=[1])
    assert "<script" not in html
    assert "\"'" not in html


@pytest.mark.parametrize(
    "source",
    ["{% source_badge 'elsewhere' %}", "{% proposal_badge 'maybe' %}", "{% notice 'pink' %}{% endnotice %}"],
)
def test_an_unknown_state_raises_an_error(source):
    with pytest.raises(KeyError):
        draw(source)


def test_findings_show_severity_place_and_fix():
    row = SimpleNamespace(severity="warning", message="Long.", fix="Split it.", file="SKILL.md", line=42)
    html = draw("{% findings rows %}", rows=[row])
    assert "<b>Warning.</b> Long." in html
    assert "SKILL.md, line 42" in html
    assert "Split it." in html
    assert "No findings, all 5 files read" in draw("{% findings rows empty='No findings, all 5 files read' %}", rows=[])


# -- Forms -------------------------------------------------------------------------------------------------


class SampleForm(forms.Form):
    name = forms.CharField(help_text="Small letters.")
    kind = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect)
    about = forms.CharField(widget=forms.Textarea)
    where = forms.ChoiceField(choices=[("a", "A")])
    tell = forms.BooleanField(required=False)
    key = forms.CharField(widget=forms.HiddenInput)


def test_a_field_with_an_error_names_it_and_the_summary_links_to_it():
    form = SampleForm({})
    html = draw("{% error_summary form %}{% for bound in form %}{% field bound %}{% endfor %}", form=form)
    for described in re.findall(r'aria-describedby="([^"]+)"', html):
        assert all(f'id="{part}"' in html for part in described.split())
    assert 'href="#id_name"' in html
    assert 'aria-invalid="true"' in html
    assert html.count('<a href="#') == 5


def test_a_form_without_errors_has_no_summary():
    assert draw("{% error_summary form %}", form=SampleForm()).strip() == ""


# -- One URL, two renderings -------------------------------------------------------------------------------


def ask(**headers: str) -> HttpRequest:
    request = RequestFactory().get("/", headers={name.replace("_", "-"): text for name, text in headers.items()})
    request.htmx = HtmxDetails(request)  # type: ignore[attr-defined]
    request.user = SimpleNamespace(is_staff=False, is_authenticated=False)  # type: ignore[assignment]
    return request


@pytest.mark.parametrize(
    ("headers", "whole"),
    [
        ({}, True),
        ({"HX_Request": "true"}, False),
        ({"HX_Request": "true", "HX_Boosted": "true"}, True),
        ({"HX_Request": "true", "HX_History_Restore_Request": "true"}, True),
        ({"HX_Boosted": "true"}, True),
    ],
)
def test_only_a_plain_htmx_request_gets_the_fragment(headers, whole):
    context = {"rows": [], "empty": "none found"}
    answer = htmx.render(ask(**headers), "errors/404.html", context, partial="components/findings.html", status=422)
    assert answer.status_code == 422
    assert "HX-Request" in answer["Vary"]
    assert (b"<!doctype html>" in answer.content) is whole
    assert (b"none found" in answer.content) is not whole


def test_without_a_fragment_every_request_gets_the_page():
    assert b"<!doctype html>" in htmx.render(ask(HX_Request="true"), "errors/404.html").content


# -- Pages -------------------------------------------------------------------------------------------------


def test_the_style_guide_is_for_staff_only():
    with pytest.raises(Http404):
        styleguide(ask())


def test_the_style_guide_shows_every_component_and_obeys_the_content_policy():
    request = ask()
    request.user.is_staff = True
    html = styleguide(request).content.decode()
    assert html.count("<h1>") == 1
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|<script(?![^>]*\ssrc=)|https?://(?!www\.w3\.org)", html)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert all(target in ids for target in re.findall(r'href="#([^"]+)"', html))


@pytest.mark.parametrize("status", [400, 403, 404, 413, 500])
def test_an_error_page_renders_without_context(status):
    html = render_to_string(f"errors/{status}.html")
    assert f"Status {status}" in html
    assert html.count("<h1>") == 1


def test_an_error_page_shows_the_error_message():
    assert "1,204 files. 1,000 are allowed." in render_to_string(
        "errors/413.html", {"message": "This zip contains 1,204 files. 1,000 are allowed."}
    )


def test_the_sidebar_shows_the_current_page_the_count_and_the_role():
    item = {
        "label": "Proposals",
        "url": "/p/",
        "icon": "proposals",
        "current": True,
        "count": 3,
        "count_label": "waiting for you",
        "yours": True,
    }
    person = SimpleNamespace(display_name="Ada Okafor", initials="AO")
    shell = {"user": person, "nav": [item], "more": [], "role": "reviewer", "theme": "dark", "projects": []}
    html = render_to_string("shell/sidebar.html", {"shell": shell})
    assert 'aria-current="page"' in html
    assert re.search(r'nav-count--yours">3<span class="vh"> waiting for you', html)
    assert "Reviewer" in html
    assert re.search(r'value="dark" aria-pressed="true"', html)


# -- Source files -----------------------------------------------------------------------------------------


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
