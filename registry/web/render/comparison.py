"""Comparisons of bundles for the templates: two versions side by side, and three-way merges."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from registry.core.limits import Limits
from registry.core.lint import invisible
from registry.core.text import diff
from registry.core.text.diff import FileChange, Fold, Row
from registry.core.text.merge3 import Block
from registry.core.text.merge_bundles import Choice, FileMerge
from registry.web.humanize import counted
from registry.web.render import marked_text

_MOST_ROWS = 4_000
_CONTEXT_LINES = 3
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
    before: Mapping[str, bytes], after: Mapping[str, bytes], *, limits: Limits, whole: bool = False
) -> Comparison:
    """Compare two bundles; `whole` shows unchanged lines instead of folding them."""
    changes = _changes(before, after, limits.skill_md_bytes)
    return Comparison(
        tuple(_file(change, large, whole) for change, large in changes if change.status != "equal"),
        tuple(change.path for change, _ in changes if change.status == "equal"),
    )


def _changes(before: Mapping[str, bytes], after: Mapping[str, bytes], most: int) -> list[tuple[FileChange, bool]]:
    """Return the changes, each with True for a file that is too large to compare line by line."""
    large = {
        path
        for path in {*before, *after}
        if before.get(path) != after.get(path) and max(len(before.get(path, b"")), len(after.get(path, b""))) > most
    }
    small = diff.files(
        {path: content for path, content in before.items() if path not in large},
        {path: content for path, content in after.items() if path not in large},
    )
    changes = [(change, False) for change in small]
    for path in sorted(large):
        status: diff.Status = "added" if path not in before else "removed" if path not in after else "changed"
        changes.append((FileChange(path, status, binary=True), True))
    return changes


def _file(change: FileChange, large: bool, whole: bool) -> DiffFile:
    note = _note(change, large)
    status = _STATUS[change.status]
    if change.status == "renamed":
        return DiffFile(change.path, f"Renamed from {change.before_path}", note)
    rows = change.rows if whole else diff.fold(change.rows)
    shown = tuple(_row(row) for row in rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        note = f"Only the first {_MOST_ROWS:,} lines are shown. Download both versions to compare the rest."
    return DiffFile(
        change.path, status, note,
        added=sum(row.kind in ("added", "changed") for row in change.rows),
        removed=sum(row.kind in ("removed", "changed") for row in change.rows),
        hidden=_hidden(change), rows=shown,
    )  # fmt: skip


def _note(change: FileChange, large: bool) -> str:
    if large:
        return "Too large to compare line by line."
    if change.binary:
        return "Binary file, so there are no lines to compare." if change.status == "changed" else "Binary file."
    return "The texts are very different, so whole parts are shown as replaced." if change.coarse else ""


def _hidden(change: FileChange) -> str:
    """Return the number of invisible characters in added lines, in words."""
    text = "\n".join(
        "".join(piece for piece, _ in row.after) for row in change.rows if row.kind in ("added", "changed")
    )
    hidden = sum(each.length for each in invisible.scan(text, comments=False))
    return counted(hidden, "hidden character") if hidden else ""


def _row(row: Row | Fold) -> DiffRow:
    if isinstance(row, Fold):
        return DiffRow("fold", folded=len(row.rows))
    ends_differ = row.kind == "changed" and row.before_end != row.after_end
    before = marked_text.marked(row.before, "del") if row.before_line is not None else None
    after = marked_text.marked(row.after, "ins") if row.after_line is not None else None
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


def three_way(file: FileMerge) -> ThreeWay:
    """Return a file with conflicts for components/_threeway.html."""
    numbers = count(1)
    parts = (part for block in file.blocks for part in _parts(block))
    return ThreeWay(
        file.path, file.whole, _size(file.theirs), _size(file.mine),
        tuple(replace(part, number=next(numbers)) if part.key else part for part in parts),
    )  # fmt: skip


def _size(content: bytes | None) -> str:
    return "The file is removed" if content is None else f"{counted(len(content), 'byte')}"


def _parts(block: Any) -> Iterator[Part]:
    if isinstance(block, Choice) or hasattr(block, "key"):
        yield _sides(block.block, "choice", block.key)
    elif block.kind == "same":
        yield from _context(block.mine)
    else:
        yield _sides(block, block.kind)


def _sides(block: Block, kind: str, key: str = "") -> Part:
    return Part(
        kind, key, base=_plain(block.base), theirs=_against(block.base, block.theirs),
        mine=_against(block.base, block.mine),
    )  # fmt: skip


def _context(text: str) -> Iterator[Part]:
    lines = text.splitlines(keepends=True)
    if len(lines) <= 2 * _CONTEXT_LINES + 1:
        yield Part("same", mine=_plain(text))
        return
    yield Part("same", mine=_plain("".join(lines[:_CONTEXT_LINES])))
    yield Part("fold", folded=len(lines) - 2 * _CONTEXT_LINES)
    yield Part("same", mine=_plain("".join(lines[-_CONTEXT_LINES:])))


def _plain(text: str) -> SafeString:
    return mark_safe("\n".join(line.html for line in marked_text.lines(text, comments=False)))


def _against(base: str, text: str) -> SafeString:
    """Return the text with the words marked that differ from the base."""
    rows = [row for row in diff.lines(base, text) if row.after_line is not None]
    marked = (
        marked_text.marked(row.after if row.kind != "added" else tuple((t, True) for t, _ in row.after), "ins")
        for row in rows
    )
    return mark_safe("\n".join(marked))
