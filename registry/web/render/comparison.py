"""Comparisons of bundles for the templates: two versions side by side, and three-way merges."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any
from urllib.parse import quote

from django.utils.safestring import SafeString, mark_safe

from registry.core.limits import MIB, Limits
from registry.core.scan import invisible
from registry.core.text import diff
from registry.core.text.diff import FileChange, Fold, Row
from registry.core.text.merge3 import Block
from registry.core.text.merge_bundles import Choice, FileMerge
from registry.core.text.patience_diff import Effort
from registry.web.humanize import counted
from registry.web.render import marked_text
from registry.web.render.marked_text import Boxes

_MOST_ROWS = 4_000  # of one file
_MOST_ROWS_IN_ALL = 8_000
_CONTEXT_LINES = 3
_MOST_CONFLICT_LINES = 1_000  # of each side of a conflict
_STATUS = {"added": "New file", "removed": "Removed", "renamed": "Renamed", "changed": "", "equal": ""}


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff with both sides, or a fold of unchanged lines."""

    kind: str
    before_line: int | None = None
    after_line: int | None = None
    before: SafeString | None = None
    after: SafeString | None = None
    folded: int = 0


@dataclass(frozen=True, slots=True)
class DiffFile:
    path: str
    status: str
    note: str = ""
    added: int = 0
    removed: int = 0
    hidden: str = ""
    rows: tuple[DiffRow, ...] = ()
    link: str = ""  # shows the rows that do not fit because of other files


@dataclass(frozen=True, slots=True)
class Comparison:
    files: tuple[DiffFile, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)

    @property
    def words(self) -> str:
        if not self.files:
            return "No differences"
        same = f", {counted(len(self.unchanged), 'file')} unchanged" if self.unchanged else ""
        return f"{counted(len(self.files), 'file differs,files differ')}{same}"


def compare(
    before: Mapping[str, bytes], after: Mapping[str, bytes], *, limits: Limits, whole: bool = False,
    first: str = "", pick: str = "",
) -> Comparison:  # fmt: skip
    """Compare two bundles; `whole` shows unchanged lines instead of folding them.

    `first` is the file whose lines are shown even if those of the other files do not fit on the page. `pick` with the
    path of another file is the address that shows its lines.
    """
    changes = diff.files(before, after, file_bytes=limits.skill_md_bytes, first=first)
    page = _Page(whole, pick)
    drawn = {change.path: page.file(change) for change in sorted(changes, key=lambda change: change.path != first)}
    return Comparison(
        tuple(drawn[change.path] for change in changes if change.status != "equal"),
        tuple(change.path for change in changes if change.status == "equal"),
    )


class _Page:
    """Draws files until the page has enough rows."""

    def __init__(self, whole: bool, pick: str) -> None:
        self.pick = pick
        self.context = None if whole else _CONTEXT_LINES
        self.rows_left = _MOST_ROWS_IN_ALL
        self.boxes = Boxes()

    def file(self, change: FileChange) -> DiffFile:
        if change.status == "renamed":
            return DiffFile(change.path, f"Renamed from {change.before_path}", _note(change))
        status, lines = _STATUS[change.status], change.lines
        if lines is None:
            return DiffFile(change.path, status, _note(change), link=self._link(change) if change.crowded_out else "")
        most = min(_MOST_ROWS, self.rows_left)
        rows = lines.rows(self.context)
        shown = tuple(_row(row, self.boxes) for row in islice(rows, most))
        self.rows_left -= len(shown)
        crowded_out = most < _MOST_ROWS
        cut = next(rows, None) is not None
        return DiffFile(
            change.path, status, _cut_note(most, crowded_out) if cut else _note(change),
            added=lines.added, removed=lines.removed,
            hidden=_hidden(lines.added_text),
            rows=shown, link=self._link(change) if cut and crowded_out else "",
        )  # fmt: skip

    def _link(self, change: FileChange) -> str:
        return self.pick + quote(change.path, safe="") if self.pick else ""


def _hidden(text: str) -> str:
    """Return the number of invisible characters in words; empty if there are none."""
    found = invisible.lengths(text)
    words = counted(sum(found), "hidden character") if found else ""
    return f"at least {words}" if len(found) >= invisible.MOST else words


def _cut_note(most: int, crowded_out: bool) -> str:
    if crowded_out:
        return f"A page shows at most {_MOST_ROWS_IN_ALL:,} lines, so the lines of this file are not all shown."
    return f"Only the first {most:,} lines are shown. Download both versions to compare the rest."


def _note(change: FileChange) -> str:
    if change.crowded_out:
        return f"A page compares at most {diff.COMPARED_BYTES // MIB} MiB, so the lines of this file are not shown."
    if change.large:
        return "Too large to compare line by line. Download both versions to compare it."
    if change.binary:
        return "Binary file, so there are no lines to compare." if change.status == "changed" else "Binary file."
    coarse = change.lines is not None and change.lines.coarse
    return "The texts are very different, so whole parts are shown as replaced." if coarse else ""


def _row(row: Row | Fold, boxes: Boxes) -> DiffRow:
    if isinstance(row, Fold):
        return DiffRow("fold", folded=row.size)
    ends_differ = row.kind == "changed" and row.before_end != row.after_end
    before = marked_text.marked(row.before, "del", boxes) if row.before_line is not None else None
    after = marked_text.marked(row.after, "ins", boxes) if row.after_line is not None else None
    if ends_differ:
        before, after = _with_end(before, row.before_end), _with_end(after, row.after_end)
    return DiffRow(row.kind, row.before_line, row.after_line, before, after)


def _with_end(html: SafeString | None, end: str) -> SafeString:
    """Append the name of the line ending, for lines that differ in nothing else."""
    name = {"\n": "line feed", "\r\n": "carriage return, line feed"}.get(end, "no line end")
    return mark_safe(f'{html or ""}<span class="unseen">{name}</span>')


# -- Three-way merge------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file: the same on both sides, taken from one side, or a conflict with a `key` and a `number`."""

    kind: str
    key: str = ""
    base: SafeString = field(default_factory=SafeString)
    theirs: SafeString = field(default_factory=SafeString)
    mine: SafeString = field(default_factory=SafeString)
    folded: int = 0
    number: int = 0


@dataclass(frozen=True, slots=True)
class ThreeWay:
    path: str
    whole: str
    theirs: str
    mine: str
    parts: tuple[Part, ...]


def three_way(files: Iterable[FileMerge]) -> list[ThreeWay]:
    """Return the files with conflicts for components/_threeway.html."""
    page = _ConflictPage()
    return [page.file(file) for file in files]


def _size(content: bytes | None) -> str:
    return "The file is removed" if content is None else f"{counted(len(content), 'byte')}"


class _ConflictPage:
    """Draws conflicts until the page has enough lines."""

    def __init__(self) -> None:
        self.lines_left = _MOST_ROWS_IN_ALL
        self.effort = Effort()
        self.boxes = Boxes()

    def file(self, file: FileMerge) -> ThreeWay:
        numbers = count(1)
        parts = (part for block in file.blocks for part in self._parts(block))
        return ThreeWay(
            file.path, file.whole, _size(file.theirs), _size(file.mine),
            tuple(replace(part, number=next(numbers)) if part.key else part for part in parts),
        )  # fmt: skip

    def _parts(self, block: Any) -> Iterator[Part]:
        if isinstance(block, Choice) or hasattr(block, "key"):
            yield self._sides(block.block, "choice", block.key)
        elif block.kind == "same":
            yield from self._context(block.mine)
        else:
            yield self._sides(block, block.kind)

    def _sides(self, block: Block, kind: str, key: str = "") -> Part:
        return Part(
            kind, key, base=self._plain(block.base), theirs=self._against(block.base, block.theirs),
            mine=self._against(block.base, block.mine),
        )  # fmt: skip

    def _context(self, text: str) -> Iterator[Part]:
        lines = text.splitlines(keepends=True)
        if len(lines) <= 2 * _CONTEXT_LINES + 1:
            yield Part("same", mine=self._plain(text))
            return
        yield Part("same", mine=self._plain("".join(lines[:_CONTEXT_LINES])))
        yield Part("fold", folded=len(lines) - 2 * _CONTEXT_LINES)
        yield Part("same", mine=self._plain("".join(lines[-_CONTEXT_LINES:])))

    def _plain(self, text: str) -> SafeString:
        shown, more = self._first_lines(text)
        lines = marked_text.lines(shown, comments=False, boxes=self.boxes)
        return mark_safe("\n".join([*(line.html for line in lines), *more]))

    def _against(self, base: str, text: str) -> SafeString:
        """Return the text with the words marked that differ from the base."""
        text, more = self._first_lines(text)
        base = "\n".join(base.split("\n", _MOST_CONFLICT_LINES)[:_MOST_CONFLICT_LINES])
        rows = (row for row in diff.LineDiff(base, text, self.effort).rows() if isinstance(row, Row))
        marked = (
            marked_text.marked(
                row.after if row.kind != "added" else tuple((t, True) for t, _ in row.after), "ins", self.boxes
            )
            for row in rows
            if row.after_line is not None
        )
        return mark_safe("\n".join([*marked, *more]))

    def _first_lines(self, text: str) -> tuple[str, list[str]]:
        """Return the lines that fit, and a note about the others."""
        most = min(_MOST_CONFLICT_LINES, self.lines_left)
        lines = text.split("\n", most)
        self.lines_left -= len(lines) - 1
        if len(lines) <= most or not lines[-1]:
            return text, []
        rest = lines.pop()
        more = rest.count("\n") + (not rest.endswith("\n"))
        return "\n".join(lines), [f'<span class="unseen">{counted(more, "more line")}</span>']
