"""Diffs for display: side-by-side rows with changed words marked, folded runs, and changed files.

The functions for patches and three-way merges are re-exported here.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from registry.core.bundle import SKILL_MD
from registry.core.limits import DEFAULT, MIB
from registry.core.text import patch
from registry.core.text.merge3 import Block, Merge, merge3
from registry.core.text.patch import apply_patch, unified
from registry.core.text.patience_diff import Change, Effort, match, split_lines

__all__ = [
    "Block", "FileChange", "Fold", "LineDiff", "Merge", "Row",
    "apply_patch", "files", "lines", "merge3", "unified", "words",
]  # fmt: skip

RowKind = Literal["equal", "changed", "added", "removed"]
Status = Literal["added", "removed", "changed", "renamed", "equal"]
Pieces = tuple[tuple[str, bool], ...]  # text, and True if it changed

COMPARED_BYTES = 4 * MIB  # of all files of a comparison, both sides counted

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_VISIBLE_WORD = re.compile(r"\w+|[^\w\s]")
_MAX_PAIRS = 2_500  # pairs of lines in one replaced block that are compared for similarity
_SIMILAR = 0.4
_CHARS_PER_STEP = 10
_MARKED_CHARS = 10_000  # a longer line is marked as a whole


@dataclass(frozen=True, slots=True)
class Row:
    """A line on each side. Line endings are separate, because they are not displayed but may differ."""

    kind: RowKind
    before_line: int | None = None
    after_line: int | None = None
    before: Pieces = ()
    after: Pieces = ()
    before_end: str = ""
    after_end: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Unchanged rows that are not shown."""

    size: int


class LineDiff:
    """The difference of two texts. Rows are built while they are read, because a text can have a million lines."""

    def __init__(self, before: str, after: str, effort: Effort | None = None) -> None:
        self._effort = effort or Effort()
        self._old, self._new = split_lines(before), split_lines(after)
        matched = match(self._old, self._new, self._effort)
        self._changes = tuple(matched.changes(len(self._old), len(self._new)))
        self.coarse = matched.coarse

    @property
    def added(self) -> int:
        return sum(change.after_end - change.after for change in self._changes if not change.same)

    @property
    def removed(self) -> int:
        return sum(change.before_end - change.before for change in self._changes if not change.same)

    @property
    def added_text(self) -> str:
        """Return the added and changed lines of the new text, without the last line ending."""
        new = (line for c in self._changes if not c.same for line in self._new[c.after : c.after_end])
        return _split_line_end("".join(new))[0]

    def patch(self, path: str) -> str:
        return patch.write(self._old, self._new, self._changes, path)

    def rows(self, context: int | None = None) -> Iterator[Row | Fold]:
        """Yield the rows. With `context`, yield a Fold for equal rows that are further away from a change."""
        for place, change in enumerate(self._changes):
            if not change.same:
                yield from self._changed_rows(change)
                continue
            size = change.before_end - change.before
            head = context if context is not None and place else 0
            tail = context if context is not None and place < len(self._changes) - 1 else 0
            if context is None or size - head - tail <= 1:  # a fold of one row would take as much space
                yield from self._equal_rows(change, 0, size)
                continue
            yield from self._equal_rows(change, 0, head)
            yield Fold(size - head - tail)
            yield from self._equal_rows(change, size - tail, size)

    def _equal_rows(self, change: Change, start: int, end: int) -> Iterator[Row]:
        for step in range(start, end):
            yield self._row("equal", change.before + step, change.after + step)

    def _changed_rows(self, change: Change) -> Iterator[Row]:
        for i, j in _pair_lines(self._old, self._new, change, self._effort):
            yield self._row("added" if i is None else "removed" if j is None else "changed", i, j)

    def _row(self, kind: RowKind, i: int | None, j: int | None) -> Row:
        before, before_end = _split_line_end(self._old[i]) if i is not None else ("", "")
        after, after_end = _split_line_end(self._new[j]) if j is not None else ("", "")
        left: Pieces = ((before, False),) if i is not None else ()
        right: Pieces = ((after, False),) if j is not None else ()
        if kind == "changed":
            left, right = words(before, after, self._effort)
        return Row(
            kind, i + 1 if i is not None else None, j + 1 if j is not None else None, left, right, before_end, after_end
        )


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file. `large` means that its text is not compared line by line, because it is too long.

    `lines` is None for a file that is binary, large, renamed or equal.
    """

    path: str
    status: Status
    binary: bool = False
    large: bool = False
    crowded_out: bool = False  # large only together with other files
    before_path: str = ""
    lines: LineDiff | None = None

    @property
    def patch(self) -> str:
        """Return a unified diff; empty if the file is not compared line by line."""
        return self.lines.patch(self.path) if self.lines else ""


def lines(before: str, after: str) -> tuple[Row, ...]:
    return tuple(row for row in LineDiff(before, after).rows() if isinstance(row, Row))


def files(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    file_bytes: int = DEFAULT.skill_md_bytes,
    first: str = "",
) -> tuple[FileChange, ...]:
    """Compare all files, SKILL.md first. A file with a new path and the same content is renamed.

    Files over `file_bytes` are not compared line by line, nor files that exceed COMPARED_BYTES together. The file
    `first` is compared before all others, so that it fits.
    """
    removed = {content: path for path, content in sorted(before.items()) if path not in after}
    renamed: dict[str, str] = {}
    for path, content in sorted(after.items()):
        if path not in before and content and content in removed:
            renamed[path] = removed.pop(content)
    gone = set(renamed.values())
    every = sorted({*before, *after} - gone, key=lambda path: (path != SKILL_MD, path.encode()))
    comparer = _Comparer(file_bytes)
    changes = {
        path: FileChange(path, "renamed", binary=not _is_text(after[path]), before_path=renamed[path])
        if path in renamed
        else comparer.file(path, before.get(path), after.get(path))
        for path in sorted(every, key=lambda path: path != first)
    }
    return tuple(changes[path] for path in every)


class _Comparer:
    """Compares files within one budget of bytes and steps."""

    def __init__(self, file_bytes: int) -> None:
        self.file_bytes = file_bytes
        self.effort = Effort()
        self.bytes = COMPARED_BYTES

    def file(self, path: str, before: bytes | None, after: bytes | None) -> FileChange:
        old, new = before or b"", after or b""
        status: Status = "added" if before is None else "removed" if after is None else "changed"
        if before == after:
            return FileChange(path, "equal", binary=not _is_text(old))
        if not (_is_text(old) and _is_text(new)):
            return FileChange(path, status, binary=True)
        size = len(old) + len(new)
        if max(len(old), len(new)) > self.file_bytes or size > self.bytes:
            return FileChange(path, status, large=True, crowded_out=max(len(old), len(new)) <= self.file_bytes)
        self.bytes -= size
        return FileChange(path, status, lines=LineDiff(old.decode(), new.decode(), self.effort))


def _is_text(content: bytes) -> bool:
    try:
        return b"\0" not in content and content.decode() is not None
    except UnicodeDecodeError:
        return False


def _split_line_end(line: str) -> tuple[str, str]:
    text = line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
    return text, line[len(text) :]


def words(before: str, after: str, effort: Effort | None = None) -> tuple[Pieces, Pieces]:
    """Split both lines into pieces and mark the words that differ."""
    effort = effort or Effort()
    if max(len(before), len(after)) > _MARKED_CHARS or not effort.spend(len(before) + len(after)):
        return ((before, before != after),), ((after, before != after),)
    old, new = _WORD.findall(before), _WORD.findall(after)
    changes = list(match(old, new, effort).changes(len(old), len(new)))
    left = tuple(("".join(old[c.before : c.before_end]), not c.same) for c in changes if c.before < c.before_end)
    right = tuple(("".join(new[c.after : c.after_end]), not c.same) for c in changes if c.after < c.after_end)
    return left, right


def _pair_lines(
    old: Sequence[str], new: Sequence[str], change: Change, effort: Effort
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the removed and added lines of one block, with similar lines paired, in the order of both texts."""
    height, width = change.before_end - change.before, change.after_end - change.after
    partners: dict[int, int] = {}
    if 0 < height * width <= _MAX_PAIRS:
        removed, added = old[change.before : change.before_end], new[change.after : change.after_end]
        # Each line is compared with all lines of the other side, word by word.
        chars = width * sum(map(len, removed)) + height * sum(map(len, added))
        if effort.spend(height * width + chars // _CHARS_PER_STEP):
            partners = _most_similar(removed, added)
    after = change.after
    for offset in range(height):
        if offset in partners:
            until = change.after + partners[offset]
            yield from ((None, j) for j in range(after, until))
            yield change.before + offset, until
            after = until + 1
        else:
            yield change.before + offset, None
    yield from ((None, j) for j in range(after, change.after_end))


def _most_similar(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Return the order-preserving pairing with the greatest total similarity."""
    left, right = (
        [Counter(_VISIBLE_WORD.findall(line)) for line in old],
        [Counter(_VISIBLE_WORD.findall(line)) for line in new],
    )
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    similarity = [[_similarity(a, b) for b in right] for a in left]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            taken = similarity[i][j] + best[i + 1][j + 1] if similarity[i][j] >= _SIMILAR else 0.0
            best[i][j] = max(taken, best[i + 1][j], best[i][j + 1])
    partners: dict[int, int] = {}
    i = j = 0
    while i < len(old) and j < len(new):
        if similarity[i][j] >= _SIMILAR and best[i][j] == similarity[i][j] + best[i + 1][j + 1]:
            partners[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return partners


def _similarity(a: Counter[str], b: Counter[str]) -> float:
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0
