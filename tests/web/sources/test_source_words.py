"""The kind of a source, guessed from its address."""

import pytest
from django.test import Client

from registry.web.sources import source_words
from tests.web.sources.pages import HOSTILE, SOURCES, text


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("https://github.com/acme/skills", "git"),
        ("https://example.org/a/b.git", "git"),
        ("https://github.com/acme", "well-known"),
        ("https://example.org/skill.ZIP?x=1", "url"),
        ("https://example.org/SKILL.md", "url"),
        ("https://clawhub.example/", "clawhub"),
        ("https://example.org", "well-known"),
        ("example.org", ""),
        ("ftp://example.org/a.git", ""),
        ("https://[", ""),
        ("", ""),
    ],
)
def test_the_kind_is_guessed_from_the_address(address: str, kind: str) -> None:
    assert source_words.guess_kind(address) == kind


def test_the_form_shows_the_detected_kind(page: Client) -> None:
    ask = {"headers": {"HX-Request": "true"}}
    assert "a git repository" in text(page.get(SOURCES, {"address": "https://github.com/a/b"}, **ask))
    assert "Looks like" not in text(page.get(SOURCES, {"address": HOSTILE}, **ask))
