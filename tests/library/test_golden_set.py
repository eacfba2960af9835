"""The golden set of the built-in library is complete, free of contradictions, and written in words of its own."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import TypedDict

import pytest

import registry
from registry.core.bundle import SKILL_MD
from registry.core.format import skill_md

ROOT = Path(registry.__file__).parent
FILE = ROOT / "golden" / "library.json"
MANIFESTS = sorted((ROOT / "library").glob(f"*/{SKILL_MD}"))
SKILLS = {path.parent.name: skill_md.read(path.read_bytes()) for path in MANIFESTS}
POSITIVE, NEAR_MISS, NEGATIVE = CATEGORIES = ("positive", "near-miss", "negative")
KEYS = {"query", "expected", "acceptable", "category", "note"}


class Case(TypedDict, total=False):
    query: str
    expected: list[str]
    acceptable: list[str]
    category: str
    note: str


SET = json.loads(FILE.read_bytes())
CASES: list[Case] = SET["cases"]


def of(category: str) -> list[Case]:
    return [case for case in CASES if case["category"] == category]


def queries(cases: list[Case]) -> list[str]:
    return [case["query"] for case in cases]


def words(text: str) -> str:
    """Return the words of a text in lower case, so that spaces and punctuation make no difference."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def test_cases_have_known_keys_and_categories() -> None:
    assert set(SET) == {"name", "cases"}
    assert [case for case in CASES if not {"query", "expected", "category"} <= set(case) <= KEYS] == []
    assert {case["category"] for case in CASES} == set(CATEGORIES)
    assert [case for case in CASES if not case["query"].strip()] == []


def test_cases_name_only_skills_of_the_library() -> None:
    named = {name for case in CASES for name in (*case["expected"], *case.get("acceptable", ()))}
    assert named == set(SKILLS)


def test_no_case_names_a_skill_twice() -> None:
    named = [Counter((*case["expected"], *case.get("acceptable", ()))) for case in CASES]
    assert [names for names in named if names.total() != len(names)] == []


def test_no_query_occurs_twice() -> None:
    counts = Counter(words(query) or query for query in queries(CASES))
    assert [query for query, count in counts.items() if count > 1] == []


def test_positive_cases_expect_a_skill_and_negative_cases_none() -> None:
    assert queries([case for case in of(POSITIVE) if not case["expected"]]) == []
    assert queries([case for case in of(NEGATIVE) if case["expected"]]) == []


def test_only_a_case_that_expects_a_skill_accepts_another() -> None:
    assert queries([case for case in CASES if case.get("acceptable") and not case["expected"]]) == []


@pytest.mark.parametrize("name", SKILLS)
def test_every_skill_has_eight_positive_cases(name: str) -> None:
    assert len([case for case in of(POSITIVE) if name in case["expected"]]) >= 8


def test_the_set_has_near_misses_of_both_kinds_and_negative_cases() -> None:
    near = of(NEAR_MISS)
    belong_elsewhere = [case for case in near if case["expected"]]
    assert len(near) >= 40
    assert 0 < len(belong_elsewhere) < len(near)
    assert len(of(NEGATIVE)) >= 40


def test_no_query_copies_a_description_or_a_trigger() -> None:
    texts = [
        text
        for skill in SKILLS.values()
        for text in (skill.name, skill.description, *re.split(r"[.:]\s", skill.description), *skill.triggers)
    ]
    copies = {words(text) for text in texts}
    assert [query for query in queries(CASES) if words(query) in copies] == []


def test_the_file_is_sorted_with_one_case_per_line() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    written = [f"    {json.dumps(case, ensure_ascii=False)}," for case in CASES]
    written[-1] = written[-1].removesuffix(",")
    assert lines == ["{", f'  "name": {json.dumps(SET["name"])},', '  "cases": [', *written, "  ]", "}"]
    order = [(CATEGORIES.index(case["category"]), not case["expected"], case["expected"]) for case in CASES]
    assert order == sorted(order)
