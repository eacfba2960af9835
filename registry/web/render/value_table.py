"""JSON values as tables for people: hidden characters are marked, and long values fold."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from django.utils.safestring import SafeString

from registry.core.workflows.value_rows import ValueRow, value_rows
from registry.core.workflows.values import Json, canonical, type_of
from registry.web.render import marked_text
from registry.web.render.marked_text import Boxes

MOST_ROWS = 300
SHOWN_CHARS = 20_000  # of one value
_ALL_CHARS = 200_000
_FOLDED_CHARS, _FOLDED_LINES = 1_500, 20
_START_CHARS = 120
_NOTHING = SafeString("")
_EMPTY = {"string": "empty text", "object": "empty object", "array": "empty list", "null": "nothing"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A value. `start` is its first line if it is folded, and `missing` counts the characters that are not shown."""

    type: str
    html: SafeString
    start: SafeString = _NOTHING
    is_empty: bool = False
    chars: int = 0
    missing: int = 0

    @property
    def is_text(self) -> bool:
        return self.type == "string" and not self.is_empty


@dataclass(frozen=True, slots=True)
class TableRow:
    path: SafeString
    cell: Cell


@dataclass(frozen=True, slots=True)
class ValueTable:
    """`is_whole` is False if there are more rows or characters than a page shows."""

    rows: tuple[TableRow, ...]
    is_whole: bool = True


@dataclass(slots=True)
class Drawing:
    """Draw values that share the limits of a page."""

    boxes: Boxes = field(default_factory=Boxes)
    chars: int = _ALL_CHARS

    def table(self, value: Json, *, without: Iterable[str] = ()) -> ValueTable:
        """Return a table of a value. `without` are keys of an object that are shown elsewhere."""
        if isinstance(value, dict):
            left_out = set(without)
            value = {key: item for key, item in value.items() if key not in left_out}
            if not value:
                return ValueTable(())
        rows = list(islice(value_rows(value), MOST_ROWS + 1))
        drawn = tuple(TableRow(self.text(row.path), self.cell(row)) for row in rows[:MOST_ROWS])
        return ValueTable(drawn, len(rows) <= MOST_ROWS and not any(row.cell.missing for row in drawn))

    def text(self, text: str) -> SafeString:
        return marked_text.inline(text, self.boxes)

    def cell(self, row: ValueRow) -> Cell:
        type_ = type_of(row.value)
        if row.value is None or row.value in ("", [], {}):
            return Cell(type_, SafeString(_EMPTY[type_]), is_empty=True)
        text = row.value if isinstance(row.value, str) else canonical(row.value)
        room = min(SHOWN_CHARS, self.chars)
        shown = text[:room]
        self.chars -= len(shown)
        html = marked_text.words(shown) if "\n" in shown else self.text(shown)
        is_long = len(shown) > _FOLDED_CHARS or shown.count("\n") >= _FOLDED_LINES
        start = self.text(shown[:_START_CHARS].split("\n", 1)[0]) if is_long else _NOTHING
        return Cell(type_, html, start, chars=len(text), missing=len(text) - len(shown))
