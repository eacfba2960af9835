"""Laws of expressions: random ones evaluate like a simple model, and only our error escapes, at a bounded cost."""

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.workflows import comparisons, copies, expression_tokens, expressions, references
from registry.core.workflows.expressions import MOST_CHARACTERS, MOST_DEPTH, ExpressionError, parse
from registry.core.workflows.references import Path, Unreadable
from tests import cpu, effort
from tests.core.workflows.json_values import json_values

law = settings(max_examples=effort.examples(300))

# The model: an expression is (operator, operand, …), ("value", constant) or ("reference", text).
STATE: dict[str, Any] = {
    "vars.zero": 0, "vars.one": 1, "vars.list": [1, "a", True, None], "vars.object": {"a": 1, "true": [1]},
    "inputs.text": "Abc", "item": "a", "item.0": None, "vars.missing": None, "vars.list[-1]": None, "vars.yes": True,
}  # fmt: skip
ORDERS = ("<", "<=", ">", ">=")
LEVELS = {"or": 0, "and": 1, "not": 2, **dict.fromkeys((*ORDERS, "==", "!=", "in", "not in"), 3)}

texts = st.text(st.sampled_from("aAb '\"\\\n é=#"), max_size=3)
constants = st.sampled_from([None, True, False, 0, 1, -1, 1.0, 0.5, -2.5e-3, 10**20, "", "a"]) | texts
leaves = st.tuples(st.just("value"), constants) | st.tuples(st.just("reference"), st.sampled_from(sorted(STATE)))
Model = tuple[Any, ...]


def _extend(inner: st.SearchStrategy[Model]) -> st.SearchStrategy[Model]:
    binary = st.sampled_from([*LEVELS, "=="]).filter(lambda operator: operator != "not")
    return (
        st.tuples(binary, inner, inner)
        | st.tuples(st.sampled_from(["not", "len", "lower"]), inner)
        | st.lists(inner, max_size=3).map(lambda items: ("list", *items))
    )


models = st.recursive(leaves, _extend, max_leaves=12)


def typed(value: Any) -> Any:
    """Return a value that Python compares as expressions do."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number", Fraction(value)
    if isinstance(value, list):
        return "list", tuple(map(typed, value))
    if isinstance(value, dict):
        return "object", frozenset((key, typed(item)) for key, item in value.items())
    return type(value), value


def expected(model: Model) -> Any:
    operator, *operands = model
    if operator == "value":
        return operands[0]
    if operator == "reference":
        return STATE[operands[0]]
    values = [expected(operand) for operand in operands]
    first, last = (values[0], values[-1]) if values else (None, None)
    match operator:
        case "list":
            return values
        case "or":
            return first if first else last
        case "and":
            return last if first else first
        case "not":
            return not first
        case "len":
            return 0 if first is None else len(first) if isinstance(first, (str, list, dict)) else None
        case "lower":
            return first.lower() if isinstance(first, str) else first
        case "==" | "!=":
            return (typed(first) == typed(last)) is (operator == "==")
        case "in" | "not in":
            found = first in last if isinstance(first, str) and isinstance(last, (str, dict)) else False
            if isinstance(last, list):
                found = typed(first) in map(typed, last)
            return found is (operator == "in")
    return _ordered(typed(first), typed(last), operator)


def _ordered(left: Any, right: Any, operator: str) -> bool:
    if left[0] != right[0] or left[0] not in ("number", str):
        return False
    return (left[1] < right[1] and "<" in operator) or (left[1] > right[1] and ">" in operator) or (
        left[1] == right[1] and "=" in operator
    )  # fmt: skip


def render(model: Model, least: int, draw: Any) -> str:
    """Return the text of a model. It has parentheses where its operators need them, and sometimes where they do not."""
    operator, *operands = model
    space = draw(st.sampled_from(["", " ", "\n\t"]))
    if operator == "value":
        return constant(operands[0], draw)
    if operator == "reference":
        return str(operands[0])
    if operator == "list":
        return f"[{space}" + f"{space},".join(render(each, 0, draw) for each in operands) + "]"
    if operator in ("len", "lower"):
        return f"{operator}{space}({render(operands[0], 0, draw)}{space})"
    level = LEVELS[operator]
    if operator == "not":
        text = f"not {space}{render(operands[0], 2, draw)}"
    else:
        lefts = level + (operator not in ("or", "and"))
        text = f"{render(operands[0], lefts, draw)} {operator} {space}{render(operands[1], level + 1, draw)}"
    return f"({text}{space})" if level < least or draw(st.integers(0, 9)) == 0 else text


def constant(value: Any, draw: Any) -> str:
    if value is None:
        return draw(st.sampled_from(["null", "none"]))  # type: ignore[no-any-return]
    if not isinstance(value, str):
        return json.dumps(value)
    quote = draw(st.sampled_from("'\""))
    return quote + value.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote


def read(path: Path) -> Any:
    text = references.show(path)
    known = {references.show(references.parse(text, ("item",)) or ()): value for text, value in STATE.items()}
    if text not in known or text == "vars.missing":
        raise Unreadable(text)
    return known[text]


@law
@given(models, st.data())
def test_an_expression_evaluates_like_the_model(model: Model, data: st.DataObject) -> None:
    text = render(model, 0, data.draw)
    if len(text) <= MOST_CHARACTERS:
        assert typed(parse(text, ("item",)).evaluate(read)) == typed(expected(model)), text


@law
@given(models, st.data())
def test_no_character_is_ignored(model: Model, data: st.DataObject) -> None:
    """Text that belongs to no token is an error, wherever it is. A tokenizer that drops it would change the meaning."""
    text = render(model, 0, data.draw)
    tokens = list(expression_tokens.tokens(text, ("item",)))
    starts = [token.column - 1 for token in tokens]
    start = data.draw(st.sampled_from(starts))
    wrong = data.draw(st.sampled_from("#@;~?\\^&|+%$:{}`´“\N{NO-BREAK SPACE}éß\0\ud800"))
    with pytest.raises(ExpressionError) as error:
        parse(text[:start] + wrong + text[start:], ("item",))
    assert error.value.column <= start + 1


pieces = st.sampled_from(
    ["vars", "inputs", ".", "a", "0", "-1", "[", "]", "(", ")", ",", "'", '"', "\\", "==", "=", "!=", "<", ">=", "and",
     "or", "not", "in", "true", "null", "len(", "lower(", " ", "\n", "1e5", "1e999", "'x'", "vars.a", "inputs.*",
     "item"]
)  # fmt: skip
fuzz = st.lists(pieces, max_size=25).map("".join) | st.lists(pieces, max_size=15).map(" ".join) | st.text(max_size=60)


@settings(max_examples=effort.examples(1_000))
@given(fuzz, json_values)
def test_only_our_error_escapes(text: str, value: Any) -> None:
    try:
        expression = parse(text, ("item",))
    except ExpressionError as error:
        assert 1 <= error.column <= len(text) + 1
        assert str(error).isprintable()
    else:
        result = expression.evaluate(lambda path: value, {"item": value})
        json.dumps(result, allow_nan=False)


@settings(max_examples=effort.examples(1_000))
@given(fuzz)
def test_every_character_is_in_a_token_or_white_space(text: str) -> None:
    try:
        tokens = list(expression_tokens.tokens(text, ("item",)))
    except ExpressionError:
        return
    position = 0
    for token in tokens:
        assert text[position : token.column - 1].strip(" \t\r\n") == ""
        position = token.column - 1 + len(token.text)
        assert text[token.column - 1 : position] == token.text
    assert position == len(text)


@law
@given(json_values, json_values)
def test_comparisons_are_consistent_for_all_values(left: Any, right: Any) -> None:
    def holds(text: str) -> bool:
        result = parse(text, ("a", "b")).evaluate(read, {"a": left, "b": right})
        assert type(result) is bool
        return result

    assert holds("a == b") is (typed(left) == typed(right))
    assert holds("a == a")
    assert holds("a in [b]") is holds("a == b") is holds("b == a") is not holds("a != b")
    assert holds("a in b") is not holds("a not in b")
    assert [holds("a < b"), holds("a <= b")] == [holds("b > a"), holds("b >= a")]
    assert not (holds("a < b") and holds("a >= b"))


@pytest.mark.parametrize(
    "nested",
    [
        lambda depth: "(" * depth + "1" + ")" * depth,
        lambda depth: "[" * depth + "1" + "]" * depth,
        lambda depth: "lower(" * depth + "1" + ")" * depth,
        lambda depth: "not(1==0 or 1 and[1]==(" * (depth // 2) + "1" + "))" * (depth // 2),
    ],
)
def test_deep_nesting_is_refused(nested: Any) -> None:
    parse(nested(MOST_DEPTH)).evaluate(read)
    for depth in (MOST_DEPTH + 3, 200):
        text = nested(depth)[:MOST_CHARACTERS]
        with pytest.raises(ExpressionError, match="More than 50 parentheses or brackets are open here"):
            parse(text)


@pytest.mark.parametrize(
    "many", ["not " * 498 + "1", "1 or " * 399 + "1", "1<2 and " * 249 + "1", "[" + "1," * 990 + "1]"]
)
def test_long_expressions_are_not_deep(many: str) -> None:
    assert parse(many).evaluate(read)


def test_long_expressions_are_refused() -> None:
    assert parse("1" + " " * (MOST_CHARACTERS - 1)).evaluate(read) == 1
    for text in ("1" + " " * MOST_CHARACTERS, "(" * 10_000_000):
        with pytest.raises(ExpressionError, match=r"characters\. 2,000 are allowed\. Compute a part of it in a step"):
            cpu.within(0.01, lambda text=text: parse(text))  # type: ignore[misc]


@pytest.mark.parametrize(
    "part", ["'", "\\'", "'\\", "1e", "1.", "vars.a['", "vars['\\'", "a", "not", "(", "[", "<", "-", "é"]
)
def test_hostile_expressions_cost_little(part: str) -> None:
    with pytest.raises(ExpressionError):
        cpu.within(0.05, lambda: parse((part * MOST_CHARACTERS)[: MOST_CHARACTERS - 1] + "#"))


LARGE: dict[str, Any] = {
    "list": [0] * 400_000, "other": [0] * 399_999 + [1], "nested": [[0] * 100] * 4_000, "text": "a" * 9_000_000,
    "same": "a" * 8_999_999 + "b", "part": "a" * 4_000_000 + "b", "object": dict.fromkeys(map(str, range(200_000)), 0),
}  # fmt: skip

EXPENSIVE = [
    "0 in " + " or 0 in ".join(["[vars.list == vars.other]"] * 40),
    " or ".join(["1 in vars.list"] * 100),
    " or ".join(["vars.list == vars.other"] * 74),
    " or ".join(["vars.list in vars.nested"] * 60) + " or vars.nested != vars.nested or vars.nested != vars.nested",
    " or ".join(["vars.part in vars.text"] * 75),
    "[" + ",".join(["lower(vars.text)"] * 100) + "]",
    "[" + ",".join(["vars.text"] * 100) + "]",
    "[" + ",".join(["vars.object"] * 100) + "]",
    "vars.list == [] or vars.list",
    " or ".join(["lower(vars.text) == 1"] * 60),
    " or ".join(["vars.text == vars.same"] * 60),
    " or ".join(["vars.object != vars.object"] * 60),
]


@pytest.mark.parametrize("text", EXPENSIVE)
def test_work_on_huge_values_is_bounded(text: str) -> None:
    expression = parse(text)

    def evaluate() -> ExpressionError | None:
        try:
            expression.evaluate(lambda path: LARGE[path[1]])
        except ExpressionError as error:
            return error
        return None

    error = cpu.within(2, evaluate)
    assert error is not None
    assert error.column == 0
    assert "takes more than 1,000,000 steps" in error.message or "refer to it less often" in error.message


def test_large_values_can_be_compared() -> None:
    for text in (
        "vars.list != vars.other",
        "not (1 in vars.list)",
        "not (vars.part in vars.text)",
        "'7' in vars.object",
    ):
        assert parse(text).evaluate(lambda path: LARGE[path[1]]) is True
    assert len(LARGE["list"]) < comparisons.MOST_WORK
    assert len(LARGE["list"]) > copies.MOST_VALUES


def test_deep_values_can_be_compared() -> None:
    left: Any = 1
    right: Any = True
    for _ in range(50_000):
        left, right = [left], {"a": right}
    values = {"left": left, "right": right}
    assert parse("vars.left != vars.right and vars.left == vars.left").evaluate(lambda path: values[path[1]]) is True
    with pytest.raises(ExpressionError, match="more than 100 levels"):
        parse("vars.left").evaluate(lambda path: left)


def test_an_expression_is_parsed_once() -> None:
    assert parse("vars.once", ["b", "a"]) is parse("vars.once", ("a", "b"))
    assert parse("vars.once", ()) is not parse("vars.once", ("a",))
    assert expressions.parse("1 == 1") == parse("1 == 1")
