"""Expressions: their values, and errors that name the column and the fix."""

import ast
from pathlib import Path as File
from typing import Any

import pytest

from registry.core.workflows import expressions, references
from registry.core.workflows.expressions import ExpressionError, parse, truthy
from registry.core.workflows.references import Path, Unreadable

STATE: dict[str, Any] = {
    "vars": {
        "score": 0,
        "low": -2,
        "ratio": 0.5,
        "kind": "Invoice",
        "items": [{"id": 7, "tags": ["a", "b"]}, {"id": 8, "tags": []}],
        "found": {"text.template": 1, "a b": 2},
        "flag": True,
        "null": None,
        "empty": [],
    },
    "inputs": {"name": "Ann", "in": 3},
}


def read(path: Path) -> Any:
    if path[0] not in STATE:
        raise Unreadable(f"Nothing is in {path[0]}.")
    return references.walk(STATE[path[0]], path[1:], path[:1])


def value(text: str, **local_values: Any) -> Any:
    return parse(text, local_values).evaluate(read, local_values)


VALUES = [
    # References
    ("vars.score", 0),
    ("vars.items.0.id", 7),
    ("vars.items[1].id", 8),
    ("vars.items.-1.id", 8),
    ("vars.items[-2].tags[0]", "a"),
    ("vars.found['text.template']", 1),
    ('vars.found["a b"]', 2),
    ("inputs.*", STATE["inputs"]),
    ("inputs.in", 3),
    # What cannot be read is null
    ("vars.missing", None),
    ("vars.missing.deeper == null", True),
    ("vars.items.5", None),
    ("vars.score.x", None),
    ("outputs.x == none", True),
    ("vars.missing > 1", False),
    ("vars.missing or 'default'", "default"),
    # Constants
    ("'it\\'s'", "it's"),
    ('"say \\"hi\\"\\n\\t\\\\"', 'say "hi"\n\t\\'),
    ("'a # b = c'", "a # b = c"),
    ("''", ""),
    ("-1", -1),
    ("0", 0),
    ("-0.5", -0.5),
    ("1e3", 1000.0),
    ("2.5E-1", 0.25),
    ("-1e+2", -100.0),
    ("true", True),
    ("false", False),
    ("null", None),
    ("none", None),
    ("[]", []),
    ("[1, 'a', [true, null], vars.score]", [1, "a", [True, None], 0]),
    # A minus sign
    ("vars.score > -1", True),
    ("vars.score>-1", True),
    ("vars.low > -1", False),
    ("vars.low == -2", True),
    ("vars.low in [-1,-2]", True),
    # Comparisons
    ("1 == 1.0", True),
    ("1 != 1.0", False),
    ("true == 1", False),
    ("false == 0", False),
    ("false == null", False),
    ("0 == null", False),
    ("'' == null", False),
    ("'1' == 1", False),
    ("[1, true] == [1.0, true]", True),
    ("[1] == [true]", False),
    ("[[true]] == [[1]]", False),
    ("[1] == [1, 1]", False),
    ("vars.items == vars.items", True),
    ("vars.items.0 == vars.items.1", False),
    ("vars.empty == []", True),
    ("inputs.* == vars.found", False),
    ("1 < 2", True),
    ("2 <= 2.0", True),
    ("2 >= 2.5", False),
    ("'a' < 'b'", True),
    ("'b' <= 'a'", False),
    ("'a' < 1", False),
    ("'a' >= 1", False),
    ("1 < '2'", False),
    ("true > 0", False),
    ("true > false", False),
    ("null < 1", False),
    ("null >= null", False),
    ("[1] < [2]", False),
    ("inputs.* < 1", False),
    # Membership
    ("1 in 5", False),
    ("1 not in 5", True),
    ("1 in null", False),
    ("1 not in null", True),
    ("1 in true", False),
    ("1 in [1.0]", True),
    ("1 in [true]", False),
    ("null in [null]", True),
    ("[1] in [[1]]", True),
    ("'a' in ['b', 'a']", True),
    ("'oi' in vars.kind", True),
    ("'' in vars.kind", True),
    ("1 in '1'", False),
    ("null in 'null'", False),
    ("['a'] in 'a'", False),
    ("'a b' in vars.found", True),
    ("2 in vars.found", False),
    ("vars.items in vars.found", False),
    ("'x' not in ['y'] and 'y' in ['y']", True),
    # Precedence
    ("true or false and false", True),
    ("(true or false) and false", False),
    ("not true or true", True),
    ("not (true or true)", False),
    ("not 1 == 2", True),
    ("not 1 in [2]", True),
    ("not true and false", False),
    ("1 == 2 or 3 == 3 and 1 == 1", True),
    ("false == (1 == 2)", True),
    ("not not 5", True),
    ("not not not 5", False),
    ("not ''", True),
    # `and` and `or` return an operand
    ("vars.score or vars.empty or 'x' or 'y'", "x"),
    ("0 or ''", ""),
    ("1 and 'a'", "a"),
    ("1 and 0 and 'a'", 0),
    # Functions
    ("len(vars.items) == 2", True),
    ("len (vars.kind)", 7),
    ("len(vars.found)", 2),
    ("len(vars.missing)", 0),
    ("len(5)", None),
    ("len(true) > 0", False),
    ("lower(vars.kind) in ['invoice']", True),
    ("lower(5)", 5),
    ("lower(vars.missing)", None),
    # White space
    (" \t\r\n1\n==\n1 ", True),
    ("not(1)or(2)", 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_an_expression_has_a_value(text: str, expected: Any) -> None:
    result = value(text)
    assert result == expected
    assert type(result) is type(expected)


ERRORS = [
    # Characters
    ("vars.a = 1", 8, "“=” cannot be used here. Write == to compare."),
    ("vars.a === 1", 10, "Write == to compare."),
    ("vars.a => 1", 8, "Write == to compare."),
    ("!vars.a", 1, "Write != to compare, or the word not."),
    ("vars.a && vars.b", 8, "Write the word and."),
    ("vars.a || vars.b", 8, "Write the word or."),
    ("vars.a + 1", 8, "do not calculate"),
    ("vars.a * 2", 8, "do not calculate"),
    ("vars.a - 1", 8, "A minus sign must be directly before the digits"),
    ("-vars.a", 1, "A minus sign must be directly before the digits"),
    ("- 1", 1, "A minus sign must be directly before the digits"),
    ("--1", 1, "A minus sign"),
    ("3-1", 2, "do not calculate"),
    ("+1", 1, "do not calculate"),
    ("vars.a == “x”", 11, "straight quotes"),
    ("vars.a == `x`", 11, "straight quotes"),
    ("{{vars.a}}", 1, "Write a reference without other characters"),
    ("${vars.a}", 1, "“$” cannot be used here"),
    ("vars.a; vars.b", 7, "“;” cannot be used here"),
    ("vars.a # comment", 8, "“#” cannot be used here"),
    ("vars.a\N{NO-BREAK SPACE}== 1", 7, "“U+00A0” cannot be used here"),
    ("1 == \0", 6, "“U+0000” cannot be used here"),
    ("1 == \ud800", 6, "“U+D800” cannot be used here"),
    ("1 == ٣", 6, "“٣” cannot be used here"),
    ("vars.a == 1\\", 12, "“\\” cannot be used here"),
    ("vars.a : 1", 8, "“:” cannot be used here"),
    # Text
    ("vars.a == 'x", 11, "has no end. Close it with '"),
    ('"', 1, 'has no end. Close it with "'),
    ("'a\\'", 1, "has no end"),
    ("'a' == 'b\\d'", 10, "“\\d” is not an escape. Write \\\\ for a backslash."),
    ("'a''b'", 4, "is not expected here"),
    ("'a'b", 4, "“b” is unknown"),
    # Numbers
    ("007", 1, "“007” is not a number"),
    ("-01", 1, "is not a number"),
    ("1.", 1, "is not a number"),
    ("1.2.3", 1, "is not a number"),
    ("1e", 1, "is not a number"),
    ("1e+", 1, "is not a number"),
    ("0x10", 1, "is not a number"),
    ("1_000", 1, "is not a number"),
    ("5apples", 1, "is not a number"),
    ("1in[1]", 1, "“1in” is not a number"),
    ("[1, 1e999]", 5, "“1e999” is too large"),
    ("-1e999", 1, "is too large"),
    (".5", 1, "a number such as 0.5"),
    # Names
    ("vars.a == high", 11, "“high” is unknown. Write text in quotes"),
    ("high", 1, "References start with one of inputs, vars, outputs, frame, working, output, extensions."),
    ("trace.steps", 1, "“trace” is unknown"),
    ("item.x", 1, "“item” is unknown"),
    ("True", 1, "“True” is unknown. Write true in small letters."),
    ("1 AND 2", 3, "Write and in small letters."),
    ("vars.a is null", 8, "“is” is unknown"),
    ("not-1", 1, "“not-1” is unknown"),
    ("vars", 1, "“vars” alone is not a reference. Write vars.NAME for one of its values, or vars.* for all"),
    ("len(inputs)", 5, "inputs.* for all of them"),
    ("vars.", 5, "“vars” cannot go on with “.”"),
    ("vars..a", 5, "cannot go on with “.”"),
    ("vars.a.", 7, "“vars.a” cannot go on with “.”"),
    ("vars.a.*", 7, "cannot go on with “.”"),
    ("vars.*.a", 7, "cannot go on with “.”"),
    ("vars.*a", 7, "cannot go on with “a”"),
    ("vars.items[x]", 11, "cannot go on with “[”. Write a name, an index, or quoted text in brackets"),
    ("vars.items[0", 11, "cannot go on with “[”"),
    ("vars.items[vars.i]", 11, "cannot go on with “[”"),
    ("vars.a['\\d']", 7, "cannot go on with “[”"),
    ("vars.größe", 8, "cannot go on with “ö”"),
    ("vars.a['x']b", 12, "cannot go on with “b”"),
    ("vars." + "a" * 1_000, 1, "A reference has at most 1,000 characters."),
    # Grammar
    ("", 1, "The expression is empty. Write a condition such as vars.total > 3."),
    (" \n", 1, "The expression is empty."),
    ("1 <", 4, "A value is missing before the end."),
    ("== 1", 1, "A value is missing before “==”"),
    ("1 == == 1", 6, "A value is missing before “==”"),
    ("1 and", 6, "A value is missing before the end."),
    ("or 1", 1, "A value is missing before “or”"),
    ("not", 4, "A value is missing before the end."),
    ("1 == not true", 6, "A value is missing before “not”. Put it in parentheses."),
    ("1 not 2", 3, "“not” is not expected here"),
    ("1 not", 3, "“not” is not expected here"),
    ("1 in not [1]", 6, "A value is missing before “not”"),
    ("vars.a vars.b", 8, "“vars.b” is not expected here. Write an operator before it"),
    ("1 2", 3, "“2” is not expected here"),
    ("1 < 2 < 3", 7, "“<” follows another comparison. Join them with and"),
    ("(1 == 1 == true)", 9, "“==” follows another comparison"),
    ("1 in [1] not in [true]", 10, "“not in” follows another comparison"),
    ("()", 2, "A value is missing before “)”"),
    ("(1", 3, "“)” is missing at the end."),
    ("((1)", 5, "“)” is missing at the end."),
    ("1)", 2, "“)” is not expected here"),
    ("(1]", 3, "“]” is not expected here. Write an operator such as and, or, == or in, or “)”."),
    ("[1, 2", 6, "“]” is missing at the end."),
    ("[1,]", 4, "A value is missing before “]”"),
    ("[,1]", 2, "A value is missing before “,”"),
    ("[1 2]", 4, "“2” is not expected here"),
    ("1, 2", 2, "“,” is not expected here"),
    # Functions
    ("size(vars.a)", 1, "“size” is not a function. The functions are len, lower."),
    ("vars(1)", 1, "“vars” is not a function"),
    ("eval('1')", 1, "“eval” is not a function"),
    ("__import__('os')", 1, "“__import__” is not a function"),
    ("vars.a.lower()", 13, "“(” is not expected here"),
    ("len", 1, "“len” is unknown"),
    ("len()", 5, "A value is missing before “)”"),
    ("len(1, 2)", 6, "“len” takes one value."),
    ("len(1", 6, "“)” is missing at the end."),
]


@pytest.mark.parametrize(("text", "column", "message"), ERRORS)
def test_an_error_names_the_column_and_the_fix(text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse(text)
    assert error.value.column == column
    assert message in error.value.message
    assert str(error.value) == f"Column {column}: {error.value.message}"
    assert len(str(error.value)) < 300


def test_local_names_are_known_where_they_are_given() -> None:
    assert value("item.id == index", item={"id": 3}, index=3) is True
    assert value("item", item=[1]) == [1]
    assert value("item.x.y", item=5) is None
    assert value("output.x", output={"x": "local"}) == "local"
    with pytest.raises(ExpressionError, match="References start with one of index, item, inputs"):
        parse("other == 1", ("item", "index"))


def test_a_local_name_without_a_value_is_null() -> None:
    assert parse("item.id", ("item",)).evaluate(read) is None


def test_references_are_listed_in_order_and_once() -> None:
    expression = parse(
        "vars.b[0] or not (item in [inputs.a, vars.b.0]) and len(vars.*) > 0 or 'vars.c' == 1", ("item",)
    )
    assert expression.references == (("vars", "b", "0"), ("item",), ("inputs", "a"), ("vars",))
    assert parse("1").references == ()


@pytest.mark.parametrize(("text", "expected"), [("inputs.a or inputs.b", ["a"]), ("not inputs.a and inputs.b", ["a"])])
def test_only_what_decides_is_read(text: str, expected: list[str]) -> None:
    reads: list[str] = []
    parse(text).evaluate(lambda path: reads.append(path[1]) or True)  # type: ignore[func-returns-value]
    assert reads == expected


def test_other_errors_of_a_read_are_not_hidden() -> None:
    with pytest.raises(KeyError):
        parse("vars.a or 1").evaluate(lambda path: {}[path])


def test_text_that_was_read_is_not_an_expression() -> None:
    assert parse("vars.a").evaluate(lambda path: "vars.secret == 1") == "vars.secret == 1"


def test_a_result_shares_nothing_with_the_state_or_the_expression() -> None:
    assert value("vars.items") is not STATE["vars"]["items"]
    value("vars.items").clear()
    value("[1]").append(2)
    assert len(STATE["vars"]["items"]) == 2
    assert value("[1]") == [1]


@pytest.mark.parametrize("empty", [None, False, 0, 0.0, "", [], {}])
def test_what_is_empty_is_not_true(empty: Any) -> None:
    assert truthy(empty) is False


@pytest.mark.parametrize("full", [True, -1, 0.1, "false", " ", [0], {"a": None}])
def test_what_is_not_empty_is_true(full: Any) -> None:
    assert truthy(full) is True


def test_a_keyword_may_be_a_part_of_a_reference() -> None:
    assert sorted(expressions.KEYWORDS) == ["and", "false", "in", "none", "not", "null", "or", "true"]
    for keyword in expressions.KEYWORDS:
        assert parse(f"vars.{keyword} == vars['{keyword}']").references == (("vars", keyword),)


def test_no_code_of_python_is_run() -> None:
    """No name and no attribute of the source could run text as code or reach into objects."""
    folder = File(expressions.__file__).parent
    forbidden = {"eval", "exec", "compile", "__import__", "getattr", "globals", "ast", "importlib", "literal_eval"}
    for name in ("expressions", "expression_nodes", "expression_tokens", "comparisons", "references"):
        nodes = list(ast.walk(ast.parse((folder / f"{name}.py").read_text())))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        imported = {alias.name for node in imports for alias in node.names}
        assert (names | imported) & forbidden == set()
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        assert {attribute for attribute in attributes if attribute.startswith("__")} <= {"__init__"}
