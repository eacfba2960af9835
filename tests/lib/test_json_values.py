"""Values of a JSON text are counted without parsing it."""

import json

import pytest

from registry.lib.json_values import has_more_values


@pytest.mark.parametrize(("text", "values"), [
    ("3", 0), ("{}", 1), ('"a, [b] {c}"', 1), ("[1, 2, 3]", 3), ('{"a": "b"}', 3), (r'["\",", "\\"]', 4), ('["a', 2),
    ("[[[[", 4), (json.dumps({"a": [{"b": 1}]}), 5),
])  # fmt: skip
def test_strings_lists_objects_and_separators_are_counted(text: str, values: int) -> None:
    assert not has_more_values(text, values)
    assert values == 0 or has_more_values(text, values - 1)
