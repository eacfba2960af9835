"""A search among the built-in skills, as somebody types it."""

from pathlib import Path
from typing import Any

import pytest

import registry
from registry.models import Project
from registry.services.catalog import built_in
from registry.services.routing import routing
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]


@pytest.fixture
def demo(project: Project, settings: Any) -> Project:
    settings.AGENT_SKILLS_DIRS = [Path(registry.__file__).parent / "library"]
    built_in.index().refresh()
    return project


FIRST = {
    "my pod keeps restarting": "pod-crash-triage",
    "pods": "pod-crash-triage",
    "how do I reply to an angry customer": "support-reply",
    "expence report": "expense-report",
    "SQL REVIEW": "sql-review",
    "meeting minut": "meeting-minutes",
}


def test_a_search_finds_plurals_typing_errors_and_whole_questions(demo: Project) -> None:
    assert {words: routing.search(demo.pk, demo.revision, words)[0].name for words in FIRST} == FIRST


def test_words_of_the_instructions_are_found(demo: Project) -> None:
    found = {skill.name for skill in routing.search(demo.pk, demo.revision, "refund")}
    assert {"support-reply", "expense-report", "brand-voice"} <= found


@pytest.mark.parametrize("words", ["", "the", "zzz", "xyzzy", "🦆", "?"])
def test_words_that_are_nowhere_find_nothing(demo: Project, words: str) -> None:
    assert routing.search(demo.pk, demo.revision, words) == []
