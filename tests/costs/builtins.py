"""Hostile inputs of built-in capabilities: the largest that they take, and those that make them work hard."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.failures import StepFailed
from tests.core.workflows.builtins.calls import World
from tests.costs.shape import KB, MB, Shape, repeated

_Inputs = dict[str, Any]

# Id, name of the input that grows, what is repeated in it, and the other inputs.
_TEXTS: tuple[tuple[str, str, str, _Inputs], ...] = (
    ("text.template", "template", "{{a}}", {"variables": {"a": "b"}}),
    ("text.template", "template", "{", {}),
    ("text.template", "template", "{{", {}),
    ("text.normalise", "text", "ﷺ ", {}),
    ("text.normalise", "text", "e\u0301\u0323", {}),
    ("text.case", "text", "ǰ", {"case": "upper"}),
    ("text.case", "text", "a-", {"case": "slug"}),
    ("text.lines", "text", "\n", {}),
    ("text.truncate", "text", "\u0301", {"characters": 500_000}),
    ("text.measure", "text", "a ", {}),
    ("text.contains", "text", "a", {"words": ["a" * 500 + "b"] * 100}),
    ("text.replace", "text", "a", {"search": "a", "replacement": "b" * 1_000}),
    ("text.match", "text", "a", {"pattern": "a+b"}),
    ("text.match", "text", "a", {"pattern": "(?i)[a-zß]+k\\d"}),
    ("text.match", "text", "aA", {"pattern": "(?i)[äöüß]*" * 2 + "[a-z]+k"}),
    ("text.match", "text", "ab", {"pattern": "".join(f"(?:{chr(97 + n)}?|b)" for n in range(20)) + "y"}),
    ("text.extract", "text", "a\n", {"pattern": "(?:a|b|c)+d"}),
    ("text.extract", "text", "12,", {"pattern": "(?:\\d+,)*x"}),
    ("text.extract", "text", "a", {"pattern": "a?"}),
    ("text.extract", "text", 'a"\\', {"pattern": r'"(?:[^"\\]|\\.)*"'}),
    ("data.split", "text", ",", {"tidy": False}),
    ("json.parse", "text", "[", {}),
    ("json.parse", "text", '{"":', {}),
    ("csv.parse", "text", "a,", {}),
    ("csv.parse", "text", "\n", {}),
    ("csv.parse", "text", '"', {}),
    ("csv.parse", "text", "a\n", {}),
    ("number.calculate", "expression", "(", {}),
    ("number.calculate", "expression", "9*", {}),
    ("compare.texts", "left", "a b ", {"right": "b a " * 25_000}),
    ("date.parse", "text", "2", {}),
    ("hash.sha256", "text", "é", {}),
    ("security.secrets.detect", "text", "sk-ant-a-", {}),
    ("security.secrets.detect", "text", "-----BEGIN PRIVATE KEY-----\n", {}),
    ("security.pii.detect", "text", "2222 ", {}),
    ("security.pii.detect", "text", "DE89 ", {}),
    ("security.pii.detect", "text", "::1 ", {}),
    ("security.pii.detect", "text", "1.1.1.1 ", {}),
    ("security.pii.detect", "text", "a@a.", {}),
    ("security.pii.detect", "text", "44051401359 ", {}),
    ("security.pii.detect", "text", "+1", {}),
    ("policy.words.gate", "text", "a", {"forbidden_words": ["a" * 25 + "b" + "a" * 25] * 100}),
)
# The same with a list, and an item.
_LISTS: tuple[tuple[str, str, Any, _Inputs], ...] = (
    ("data.map", "items", 1, {"template": "{{item}}" * 10}),
    ("data.map", "items", {"a": "b" * 40}, {"fields": {str(number): "a" for number in range(100)}}),
    ("data.filter", "items", {"a": 1}, {"where": "item.a > 0 and item.a != 2"}),
    ("data.filter", "items", "a" * 40, {"where": " or ".join(["item == 'b'"] * 100)}),
    ("data.sort", "items", {"a": [1]}, {"by": "a"}),
    ("data.group", "items", [1], {}),
    ("data.unique", "items", [1], {}),
    ("data.join", "items", 1, {"separator": "-" * 100}),
    ("data.flatten", "items", [], {}),
    ("data.statistics", "items", 1.5, {}),
    ("data.echo", "value", [], {}),
    ("data.echo", "value", {"a": None}, {}),
    ("compare.values", "left", {"a": 1}, {"right": [{"a": 2}] * 100_000}),
    ("json.render", "value", 1, {"indent": True}),
    ("csv.render", "rows", {"a": '"'}, {}),
    ("text.markdown.table", "rows", {"a": "|"}, {}),
)


def _read(id_: str) -> Callable[[_Inputs], object]:
    def read(inputs: _Inputs) -> object:
        with suppress(StepFailed):
            return BUILTINS[id_].run(inputs, World())
        return None

    return read


def _text(name: str, unit: str, others: _Inputs) -> Callable[[int], _Inputs]:
    return lambda size: {**others, name: repeated(unit, size // (1 if unit.isascii() else 2))}


def _list(name: str, item: Any, others: _Inputs) -> Callable[[int], _Inputs]:
    return lambda size: {**others, name: [item] * (size // (len(str(item)) + 1))}


def _shapes() -> Iterator[Shape]:
    for id_, name, unit, others in _TEXTS:
        patterned = "pattern" in others
        for largest in (190 * KB, 7 * KB) if patterned else (MB, 450 * KB):
            title = f"{id_} {unit!r} {str(others)[:60]!r} {largest}"
            yield Shape(title, _text(name, unit, others), _read(id_), largest, quick=True, light=largest == MB)
    for id_, name, item, others in _LISTS:
        for largest in (MB, 190 * KB):
            title = f"{id_} {str(item)[:60]!r} {str(others)[:60]!r} {largest}"
            yield Shape(title, _list(name, item, others), _read(id_), largest, quick=True, light=largest > 190 * KB)


SHAPES = tuple(_shapes())
