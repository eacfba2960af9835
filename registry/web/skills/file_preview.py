"""Preview of one file: rendered Markdown, a table, an image, or lines of text."""

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
    """`kind` is prose, table, image, text or none. `has_source` is true if the file has a view as text as well."""

    kind: str
    has_source: bool = False
    html: SafeString | None = None
    table: Table | None = None
    lines: tuple[Line, ...] = ()
    hidden: str = ""
    why_not: str = ""


def icon(path: str) -> str:
    return "image" if content_types.is_image(path) else _ICONS.get(PurePosixPath(path).suffix.lower(), "file")


def preview(page: SkillPage, entry: FileEntry, *, source: bool) -> Preview:
    """Return the preview of a file; `source` asks for lines of text even if there is a richer view."""
    if content_types.is_image(entry.path):
        return Preview("image")
    try:
        text = page.loaded_or_404.read_text(entry.path, settings.LIMITS)
    except (NotText, TooLarge) as error:
        return Preview("none", why_not=error.message)
    suffix = PurePosixPath(entry.path).suffix.lower()
    if not source and suffix in _PROSE:
        html = markdown.render(text, link=page.link, image=page.image, base=entry.path)
        return Preview("prose", has_source=True, html=html)
    if not source and suffix in _TABLES and (table := _table(text, _TABLES[suffix])):
        return Preview("table", has_source=True, table=table)
    has_source = suffix in _PROSE or suffix in _TABLES
    lines = marked_text.lines(text, comments=suffix in _PROSE)
    return Preview("text", has_source, lines=tuple(lines), hidden=marked_text.summary(text))


def _table(text: str, delimiter: str) -> Table | None:
    """Return the first rows; None if the text cannot be parsed as a table."""
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
