"""Built-in capabilities for text, patterns and comparisons of texts."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.workflows.values import Json
from tests import effort
from tests.core.workflows.builtins.calls import call, refused


def fill(template: str, **variables: Json) -> str:
    text: str = call("text.template", template=template, variables=variables)["text"]
    return text


def test_a_template_inserts_values_by_path() -> None:
    assert fill("Dear {{ customer.name }},", customer={"name": "Anna"}) == "Dear Anna,"
    assert fill("{{items.1}}", items=["a", "b"]) == "b"
    assert fill("{{a}}{{a}}", a="x") == "xx"


def test_what_is_not_text_is_inserted_as_json() -> None:
    assert fill("{{a}} {{b}} {{c}} {{d}}", a=1.5, b=True, c=None, d={"é": [1]}) == '1.5 true null {"é": [1]}'


def test_inserted_text_is_not_read_as_a_template() -> None:
    assert fill("{{a}}", a="{{b}}", b="secret") == "{{b}}"
    assert fill("{a} }{ {{a}}", a="{") == "{a} }{ {"


@pytest.mark.parametrize(
    "template", ["{{name}}", "{{a.missing}}", "{{a.b.c}}", "{{list.2}}", "{{list.-1}}", "{{list.x}}"]
)
def test_a_missing_variable_is_named(template: str) -> None:
    message = refused("text.template", template=template, variables={"a": {"b": 1}, "list": [1, 2]})
    assert f"uses {template}, but the variables have no “{template.strip('{}')}”" in message


@pytest.mark.parametrize("template", ["{{", "}}", "{{a", "a}}", "{{a}}}}", "{{a{{b}}"])
def test_braces_without_a_partner_are_refused(template: str) -> None:
    assert "braces without a partner" in refused("text.template", template=template, variables={"a": 1, "b": 2})


@pytest.mark.parametrize("template", ["{{}}", "{{ }}", "{{.}}", "{{a.}}", "{{a..b}}"])
def test_a_place_without_a_path_is_refused(template: str) -> None:
    assert "is not a path" in refused("text.template", template=template, variables={"a": 1})


def test_a_template_that_grows_too_large_is_refused() -> None:
    assert "larger than 1 MiB" in refused("text.template", template="{{a}}" * 9_000, variables={"a": "x" * 500_000})
    assert "10,001 places" in refused("text.template", template="{{a}}" * 10_001, variables={"a": ""})


@settings(max_examples=effort.examples(50))
@given(st.text("abc{ }", max_size=20).filter(lambda text: "{{" not in text and "}}" not in text), st.text(max_size=20))
def test_text_around_places_stays_as_it_is(around: str, value: str) -> None:
    if not around.endswith("{") and not around.startswith("}"):
        assert fill(f"{around}{{{{v}}}}{around}", v=value) == f"{around}{value}{around}"


def test_small_changes_of_text() -> None:
    assert call("text.trim", text=" a \n")["text"] == "a"
    assert call("text.trim", text="--a-", characters="-")["text"] == "a"
    assert call("text.normalise", text="e\u0301  x \n\n y ")["text"] == "é x\n\ny"
    assert call("text.normalise", text="a\n\n b", one_line=True)["text"] == "a b"
    assert call("text.lines", text="a\r\nb\n\n") == {"lines": ["a", "b", ""], "count": 3}
    assert call("text.lines", text="a\n \nb", skip_empty=True) == {"lines": ["a", "b"], "count": 2}
    assert call("text.truncate", text="one two three", characters=9) == {"text": "one two…", "truncated": True}
    assert call("text.truncate", text="one", characters=9) == {"text": "one", "truncated": False}
    assert call("text.measure", text="one two\nthree") == {"characters": 13, "words": 3, "lines": 2}
    assert call("text.measure", text="") == {"characters": 0, "words": 0, "lines": 0}
    assert call("text.contains", text="A Bee", words=["bee", "sea"]) == {"found": ["bee"], "any": True, "all": False}


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("lower", "über uns"),
        ("upper", "ÜBER UNS"),
        ("title", "Über Uns"),
        ("sentence", "Über uns"),
        ("slug", "uber-uns"),
    ],
)
def test_the_case_of_text(case: str, text: str) -> None:
    assert call("text.case", text="über uns", case=case) == {"text": text}


def test_wrong_options_for_text_are_refused() -> None:
    assert "one of lower, upper" in refused("text.case", text="a", case="camel")
    assert "at least 1" in refused("text.truncate", text="a", characters=0)
    assert "more than 100,000 lines" in refused("text.lines", text="\n" * 100_001)
    assert "up to 100 texts" in refused("text.contains", text="a", words=[""])
    assert "up to 100 texts" in refused("text.contains", text="a", words=[1])
    assert "half of a character" in refused("hash.sha256", text="\ud800")
    assert "100,000 to be compared" in refused("compare.texts", left="a" * 100_001, right="")


def test_a_table_in_markdown_cannot_be_broken_by_its_cells() -> None:
    rows = [{"name": "a|b\nc", "n": 1}, {"n": None}]
    assert call("text.markdown.table", rows=rows)["text"] == "| name | n |\n| --- | --- |\n| a\\|b c | 1 |\n|  |  |\n"
    assert "no columns" in refused("text.markdown.table", rows=[])
    assert "must be an object" in refused("text.markdown.table", rows=[[1]])


def test_the_digest_is_that_of_utf_8() -> None:
    assert call("hash.sha256", text="é") == {"digest": hashlib.sha256("é".encode()).hexdigest()}


def test_a_pattern_matches_extracts_and_replaces() -> None:
    found = call("text.match", text="Order 12 of Anna", pattern="Order (?P<number>[0-9]+)( x)?")
    assert found == {"matched": True, "text": "Order 12", "groups": ["12", None], "named": {"number": "12"}}
    assert call("text.match", text="order", pattern="Order")["matched"] is False
    assert call("text.match", text="order", pattern="Order", ignore_case=True)["matched"] is True
    assert call("text.extract", text="#1 #22 #1", pattern="#([0-9]+)") == {"items": ["1", "22", "1"], "count": 3}
    assert call("text.extract", text="#1 #22 #1", pattern="#[0-9]+", unique=True)["items"] == ["#1", "#22"]
    assert call("text.replace", text="a.b.c", search=".", replacement="-") == {"text": "a-b-c", "count": 2}
    replaced = call("text.replace", text="a1b22", search="[0-9]+", replacement=r"\1", pattern=True)
    assert replaced == {"text": r"a\1b\1", "count": 2}


def test_patterns_that_do_not_say_what_to_do_are_refused() -> None:
    assert "more than one group" in refused("text.extract", text="a", pattern="(a)(b)")
    assert "“search” is empty" in refused("text.replace", text="a", search="", replacement="b")
    assert "repeats a group" in refused("text.match", text="a", pattern="(a+)+")
    assert "larger than 1 MiB" in refused("text.replace", text="a" * 5_000, search="a", replacement="b" * 1_000)
    assert "larger than 1 MiB" in refused(
        "text.replace", text="a" * 5_000, search="a", replacement="b" * 1_000, pattern=True
    )


def test_texts_are_compared_by_words() -> None:
    compared = call("compare.texts", left="The big dog barks.", right="The small dog barks.")
    assert compared["changes"] == [{"removed": "big", "added": "small"}]
    assert (compared["equal"], compared["words_removed"], compared["words_added"]) == (False, 1, 1)
    assert compared["similarity"] == 0.8
    assert call("compare.texts", left="a  b", right="a\nb")["equal"] is True
    assert call("compare.texts", left="", right="")["similarity"] == 1.0
    assert call("compare.texts", left="a", right="")["similarity"] == 0.0
