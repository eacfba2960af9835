"""Templates follow the Content-Security-Policy: no inline styles, no inline scripts, no other hosts."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

ROOT = Path(settings.BASE_DIR) / "templates"
TEMPLATES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(ROOT.rglob("*.html"))}

_REMARKS = re.compile(r"{#.*?#}|{%\s*comment.*?endcomment\s*%}", re.DOTALL)
_POST = re.compile(r"<form\b[^>]*method\s*=\s*[\"']?post.*?</form>", re.DOTALL | re.IGNORECASE)
_FORBIDDEN = {
    "a style attribute": re.compile(r"<[^>]*\sstyle\s*=", re.IGNORECASE),
    "a style element": re.compile(r"<style\b", re.IGNORECASE),
    "a script without src": re.compile(r"<script\b(?![^>]*\ssrc\s*=)", re.IGNORECASE),
    "a handler attribute": re.compile(r"<[^>]*\s(?:on[a-z]+|hx-on[:-][^\s=]*)\s*=", re.IGNORECASE),
    "a javascript address": re.compile(r"javascript:", re.IGNORECASE),
    "something loaded from elsewhere": re.compile(r"<(?:script|img|link|iframe)\b[^>]*(?:src|href)\s*=\s*[\"']https?:"),
    "text marked safe": re.compile(r"\|\s*safe\b|{%\s*autoescape off"),
    "a base element": re.compile(r"<base\b", re.IGNORECASE),
}


@pytest.mark.parametrize("what", _FORBIDDEN)
def test_no_template_contains_forbidden_markup(what: str) -> None:
    assert [name for name, text in TEMPLATES.items() if _FORBIDDEN[what].search(_REMARKS.sub("", text))] == []


def test_every_template_compiles() -> None:
    for name in TEMPLATES:
        get_template(name)


def test_every_post_form_has_a_csrf_token() -> None:
    forms = [(name, form) for name, text in TEMPLATES.items() for form in _POST.findall(text)]
    assert forms
    assert [name for name, form in forms if "csrf_token" not in form] == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a style attribute", '<p class="a" style="color:red">'),
        ("a style element", "<style>p {}</style>"),
        ("a script without src", '<script type="module">alert(1)</script>'),
        ("a handler attribute", '<button type="button" onclick="x()">'),
        ("a handler attribute", '<div hx-on:click="x()">'),
        ("a javascript address", '<a href="JavaScript:x()">'),
        ("something loaded from elsewhere", '<img alt="" src="https://example.org/a.png">'),
        ("text marked safe", "{{ body|safe }}"),
        ("a base element", '<base href="/">'),
    ],
)
def test_the_patterns_match_forbidden_markup(what: str, text: str) -> None:
    assert _FORBIDDEN[what].search(text)
