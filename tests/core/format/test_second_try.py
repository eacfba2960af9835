"""The tolerant second try for a colon in an unquoted value."""

import pytest

from registry.core.errors import InvalidSkill
from tests.core.format.headers import cap, doc, refusal


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("description: Use when: somebody asks\n", "Use when: somebody asks"),
        ("description: Use this for:\n", "Use this for:"),
        ("description: It's: fine # said so\n", "It's: fine"),
        ("description: Use when\n  they ask: now\n\n  and later\n", "Use when they ask: now\nand later"),
        ("description: a:\tb\n", "a:\tb"),
        ("description: see https://a.b/c: it helps\r\n", "see https://a.b/c: it helps"),
    ],
)
def test_a_colon_in_an_unquoted_description_is_tolerated_with_a_warning(header: str, value: str) -> None:
    document = doc(f"name: x\n{header}license: MIT\n")
    assert document.fields == {"name": "x", "description": value, "license": "MIT"}
    assert [(w.rule, w.line) for w in document.warnings] == [("frontmatter-tolerant", 3)]
    assert "double quotes" in document.warnings[0].fix


def test_the_second_try_parses_everything_else_like_the_first() -> None:
    document = doc(
        "name: x\ndescription: a: b\nnote: |\n  c: d: e\ntags:\n  - one\n  - two: three: four\n"
        "metadata:\n  k: v: w\n  q: 'x: y'\n"
    )
    assert document.fields == {
        "name": "x",
        "description": "a: b",
        "note": "c: d: e\n",
        "tags": ("one", {"two": "three: four"}),
        "metadata": {"k": "v: w", "q": "x: y"},
    }
    assert [w.line for w in document.warnings] == [3, 8, 10]


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        ("description: a: b\nname: x\nname: y\n", "yaml-duplicate-key"),
        ("description: a: b\ndescription: c: d\n", "yaml-duplicate-key"),
        ("description: a: b\nname: !own x\n", "yaml-tag"),
        ("description: a: b\nname: 'open\n", "yaml-colon"),
        ("description: a: b\nname: @x\n", "yaml-colon"),
        ("description: [a] b: c\n", "yaml-syntax"),
        ("description: a\n  so b: c # comment\n  d\n", "yaml-colon"),
        ("name: x\n description: a key with a space before it\n", "yaml-colon"),
    ],
)
def test_the_second_try_is_as_strict_as_the_first(header: str, rule: str) -> None:
    assert refusal(f"---\n{header}---\n")[0] == rule


def test_the_second_try_enforces_the_limits() -> None:
    error = cap("---\ndescription: a: b\nx: " + "[" * 30 + "]" * 30 + "\n---\n")
    assert error.findings[0].rule == "yaml-depth"


def test_a_duplicate_key_gets_no_second_try() -> None:
    with pytest.raises(InvalidSkill) as caught:
        doc("name: x\nname: y\ndescription: a: b\n")
    assert caught.value.findings[0].rule == "yaml-duplicate-key"
