"""The confusion table of an evaluation as a heat map: the skills that are confused most, with shades."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from registry.core.routing.metrics import Confused

NOTHING, OTHER = "", "\0other"  # no skill, and all skills that are not shown
_SHADES = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. `shade` is from 0 (empty) to 4 (the largest number of the table)."""

    count: int
    shade: int
    right: bool


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a row or a column. `short` is its number, for the narrow columns."""

    label: str
    short: str


@dataclass(frozen=True, slots=True)
class Row:
    name: Name
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The table. Names of rows are expected, names of columns were picked; `hidden` skills are summed up as others."""

    columns: tuple[Name, ...]
    rows: tuple[Row, ...]
    hidden: int


def heat_map(confused: Iterable[Confused], *, most: int) -> HeatMap:
    """Return the `most` skills that are confused most often. Equal ones are in the order of their names."""
    pairs = list(confused)
    names = _worst_first(pairs)
    shown = sorted(names[:most])
    counts: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        # Right answers of hidden skills would look like confusion among the others.
        if pair.expected != pair.picked or pair.expected in (*shown, NOTHING):
            counts[_place(pair.expected, shown), _place(pair.picked, shown)] += pair.count
    rest = [OTHER] if any(OTHER in pair for pair in counts) else []
    lines = [*shown, NOTHING, *rest]
    named = {line: _name(line, place) for place, line in enumerate(lines, 1)}
    top = max(counts.values(), default=0)
    rows = tuple(Row(named[line], tuple(_cell(line, column, counts, top) for column in lines)) for line in lines)
    return HeatMap(tuple(named.values()), rows, max(0, len(names) - most))


def _name(line: str, place: int) -> Name:
    return {NOTHING: Name("no skill", "–"), OTHER: Name("others", "+")}.get(line, Name(line, str(place)))


def _worst_first(pairs: Sequence[Confused]) -> list[str]:
    wrong: Counter[str] = Counter()
    for pair in pairs:
        for name in {pair.expected, pair.picked} - {NOTHING}:
            wrong[name] += pair.count if pair.expected != pair.picked else 0
    return sorted(wrong, key=lambda name: (-wrong[name], name))


def _place(name: str, shown: Sequence[str]) -> str:
    return name if name == NOTHING or name in shown else OTHER


def _cell(line: str, column: str, counts: Counter[tuple[str, str]], top: int) -> Cell:
    count = counts[line, column]
    shade = max(1, round(_SHADES * count / top)) if count else 0
    return Cell(count, shade, line == column and line != OTHER)
