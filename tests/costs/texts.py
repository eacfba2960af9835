"""Hostile texts for diffs, patches and merges."""

from collections.abc import Callable, Mapping

from registry.core.limits import DEFAULT
from registry.core.routing import golden_files
from registry.core.text import merge_bundles, patch
from registry.web.render import comparison
from tests.costs.shape import KB, MB, Shape, repeated

Sides = tuple[Mapping[str, bytes], Mapping[str, bytes]]


def _compare(sides: Sides) -> object:
    return comparison.compare(*sides, limits=DEFAULT)


def _compare_whole(sides: Sides) -> object:
    return comparison.compare(*sides, limits=DEFAULT, whole=True)


def _files(text: str, part: int = 500 * KB) -> dict[str, bytes]:
    return {f"{start:09}.md": text[start : start + part].encode() for start in range(0, len(text), part)}


def _blank(size: int) -> Sides:
    return {}, _files("\n" * size)


def _blank_changed(size: int) -> Sides:
    return _files("\n" * size), _files("\n" * (size - 1) + "a")


def _two_lines(size: int) -> Sides:
    return _files(repeated("a\nb\n", size)), _files(repeated("b\na\na\n", size))


def _interleaved_lines(size: int) -> tuple[str, str]:
    """Return texts in which each search for unique lines finds one pair, which makes the next line unique."""
    numbers = range(size // 20)
    before = "".join(f"{number + 1}\n{number}\n<{number}\n" for number in numbers)
    return before, before.replace("<", ">")


def _interleaved(size: int) -> Sides:
    before, after = _interleaved_lines(size)
    return _files(before), _files(after)


def _changed_words(size: int) -> Sides:
    """Return pairs of similar lines with words in another order."""
    lines = size // 200
    before = "".join(f"{number} {'a b ' * 48}\n" for number in range(lines))
    after = "".join(f"{number} {'b a a ' * 32}\n" for number in range(lines))
    return _files(before), _files(after)


def _long_lines(size: int) -> Sides:
    return _files(repeated("a.", size) + "x"), _files(repeated("a.", size) + "y")


def _many_files(size: int) -> Sides:
    count = min(999, size // 1_000)
    before = {f"{number}.md": repeated("a\nb\n", size // count).encode() for number in range(count)}
    after = {path: content.replace(b"a\nb\na", b"b\na") for path, content in before.items()}
    return before, after


def _equal_lines(size: int) -> tuple[str, str]:
    """Return a text of equal lines, and a patch whose lines almost fit everywhere."""
    lines = size // 2
    return "a\n" * lines, f"@@ -{lines},{lines // 4} +1,1 @@\n" + " a\n" * (lines // 4) + "-b\n"


def _apply(texts: tuple[str, str]) -> object:
    return patch.apply_patch(*texts)


def _merge_sides(size: int) -> tuple[Mapping[str, bytes], ...]:
    base, theirs = _interleaved_lines(size)
    return _files(base), _files(theirs), _files(base.replace("1", "2"))


def _merge_blank(size: int) -> tuple[Mapping[str, bytes], ...]:
    return _files("\n" * size), _files("a" + "\n" * size), _files("\n" * size + "b")


def _merge(sides: tuple[Mapping[str, bytes], ...]) -> object:
    merged = merge_bundles.merge(*sides)
    return comparison.three_way(merged.open)


def _hidden(size: int) -> Sides:
    line = "\u200b\u200d" * 80 + "\n"
    return {}, _files(line * (size // len(line.encode())), 160 * KB)


def _golden(unit: str, start: str = "") -> Callable[[int], str]:
    return lambda size: start + repeated(unit, size)


GOLDEN = tuple(
    Shape(f"golden file of {name}", _golden(unit, start), golden_files.read, golden_files.FILE_BYTES - KB, light=light)
    for name, unit, start, light in (
        ("empty lines", "\n", "", True),
        ("tabs", "\t", "a", True),
        ("commas", ",", "a", True),
        ("names", "a,", "a\t", False),
        ("questions", "a\tb\n", "", False),
        ("lines of JSON", "\n1", "{}", False),
        ("quotes", '"', "a,", False),
        ("open lists", "[", "", True),
    )
)
SHAPES = (
    *GOLDEN,
    Shape("blank lines compared with nothing", _blank, _compare, 10 * MB, light=True),
    Shape("one change in blank lines", _blank_changed, _compare_whole, 10 * MB, small=20 * KB),
    Shape("two lines over and over", _two_lines, _compare, 10 * MB, small=20 * KB),
    Shape("interleaved lines", _interleaved, _compare, MB, small=80 * KB),
    Shape("words in another order", _changed_words, _compare, 10 * MB, quick=True),
    Shape("long lines", _long_lines, _compare, 10 * MB, small=20 * KB),
    Shape("hidden characters in a comparison", _hidden, _compare, 4 * MB, quick=True),
    Shape("many changed files", _many_files, _compare, 10 * MB),
    Shape("a patch of equal lines", _equal_lines, _apply, 500 * KB, small=20 * KB, quick=True),
    Shape("a merge of interleaved lines", _merge_sides, _merge, 10 * MB),
    Shape("a merge of blank lines", _merge_blank, _merge, 10 * MB, small=20 * KB),
)
