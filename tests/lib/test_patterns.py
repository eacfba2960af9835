"""A lazy pattern behaves like a compiled one, and each of the project compiles."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

from registry import core
from registry.lib.patterns import _LazyPattern, lazy


def test_it_finds_what_a_compiled_pattern_finds() -> None:
    pattern = lazy(r"b+", re.IGNORECASE)
    for _ in range(2):
        assert [match[0] for match in pattern.finditer("abBa")] == ["bB"]
    assert pattern.pattern == "b+"
    assert pattern.sub("-", "abBa") == "a-a"


def test_it_is_compiled_at_the_first_use() -> None:
    pattern = lazy("(")
    with pytest.raises(re.error):
        pattern.search("")


def patterns(value: object) -> Iterator[_LazyPattern]:
    if isinstance(value, _LazyPattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from patterns(each)


def test_every_pattern_compiles() -> None:
    modules = [importlib.import_module(each.name) for each in pkgutil.walk_packages(core.__path__, "registry.core.")]
    found = [pattern for module in modules for pattern in patterns(tuple(vars(module).values()))]
    assert len(found) > 300
    for pattern in found:
        assert re.compile(pattern.pattern, pattern.flags)
