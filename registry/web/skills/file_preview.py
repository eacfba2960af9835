"""One file of a bundle as a person looks at it: laid out, as a table, as a picture, or line by line."""

import csv
import io
from dataclasses import dataclass
from pathlib import PurePosixPath

from django.conf import settings
from django.utils.safestring import SafeString

from registry.core import content_types
from registry.core.bundle import FileEntry
from registry.core.errors import NotText, TooLarge
from registry.web.render import markdown, marked_text
from registry.web.render.marked_text import Line
from registry.web.skills.skill_page import SkillPage

_ROWS, _COLUMNS, _CELL_CHARS = 200, 40, 300
_TABLES = {".csv": ",", ".tsv": "\t"}
_PROSE = {".md", ".markdown"}
_ICONS = {
    ".md": "file", ".csv": "table", ".tsv": "table", ".py": "code", ".sh": "terminal", ".json": "braces",
    ".yaml": "braces", ".yml": "braces", ".toml": "braces",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    head: list[SafeString]
    rows: list[list[SafeString]]
    total: int
    columns: int


@dataclass(frozen=True, slots=True)
class Preview:
    """`kind` is prose, table, image, text or none; `both` says that it can be looked at line by line as well."""

    kind: str
    both: bool = False
    html: SafeString | None = None
    table: Table | None = None
    lines: tuple[Line, ...] = ()
    hidden: str = ""
    why_not: str = ""


def icon(path: str) -> str:
    return "image" if content_types.is_image(path) else _ICONS.get(PurePosixPath(path).suffix.lower(), "file")


def look(page: SkillPage, entry: FileEntry, *, source: bool) -> Preview:
    """`source` asks for the exact text where there is another way to look at it."""
    if content_types.is_image(entry.path):
        return Preview("image")
    try:
        text = page.there.read_text(entry.path, settings.LIMITS)
    except (NotText, TooLarge) as error:
        return Preview("none", why_not=error.message)
    suffix = PurePosixPath(entry.path).suffix.lower()
    if not source and suffix in _PROSE:
        html = markdown.render(text, link=page.link, image=page.image, base=entry.path)
        return Preview("prose", both=True, html=html)
    if not source and suffix in _TABLES and (table := _table(text, _TABLES[suffix])):
        return Preview("table", both=True, table=table)
    both = suffix in _PROSE or suffix in _TABLES
    drawn = marked_text.lines(text, comments=suffix in _PROSE)
    return Preview("text", both=both, lines=tuple(drawn), hidden=marked_text.summary(text))


def _table(text: str, delimiter: str) -> Table | None:
    """The first rows; None where the text is no table after all."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return None
    if not rows:
        return None
    columns = max(len(row) for row in rows[: _ROWS + 1])
    head, *body = [[_cell(value) for value in row[:_COLUMNS]] for row in rows[: _ROWS + 1]]
    return Table(head, body, len(rows) - 1, columns)


def _cell(value: str) -> SafeString:
    return marked_text.inline(value if len(value) <= _CELL_CHARS else value[:_CELL_CHARS] + "…")
