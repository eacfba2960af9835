"""Differences as people look at them: rows side by side with words marked, folded runs, files of a bundle.

Patches and three-way merges stand in modules of their own and are reached from here too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from registry.core.bundle import SKILL_MD
from registry.core.text.merge3 import Block, Merge, merge3
from registry.core.text.patch import apply_patch, unified
from registry.core.text.patience_diff import Change, match, split_lines

__all__ = [
    "Block", "FileChange", "Fold", "Merge", "Row",
    "apply_patch", "files", "fold", "lines", "merge3", "unified", "words",
]  # fmt: skip

RowKind = Literal["equal", "changed", "added", "removed"]
Status = Literal["added", "removed", "changed", "renamed", "equal"]
Pieces = tuple[tuple[str, bool], ...]  # text, and whether it changed

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_SEEN = re.compile(r"\w+|[^\w\s]")
_PAIRED_LINES = 2_500  # pairs of lines in one replaced block that are compared for likeness
_ALIKE = 0.4


@dataclass(frozen=True, slots=True)
class Row:
    """One line on either side; the line ends stand apart, because they are not drawn and may differ."""

    kind: RowKind
    before_line: int | None = None
    after_line: int | None = None
    before: Pieces = ()
    after: Pieces = ()
    before_end: str = ""
    after_end: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Unchanged rows that are not drawn until somebody asks."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """`coarse`: the texts are so large and so different that a block stands for replaced without a closer look."""

    path: str
    status: Status
    binary: bool = False
    rows: tuple[Row, ...] = ()
    before_path: str = ""
    coarse: bool = False


def lines(before: str, after: str) -> tuple[Row, ...]:
    return _rows(before, after)[0]


def fold(rows: Sequence[Row], context: int = 3) -> tuple[Row | Fold, ...]:
    """Unchanged runs folded, but for `context` rows beside each change."""
    near = [False] * len(rows)
    for place, row in enumerate(rows):
        if row.kind != "equal":
            low, high = max(0, place - context), min(len(rows), place + context + 1)
            near[low:high] = [True] * (high - low)
    result: list[Row | Fold] = []
    hidden: list[Row] = []
    for row, shown in zip(rows, near, strict=True):
        if not shown:
            hidden.append(row)
            continue
        result += _folded(hidden)
        hidden = []
        result.append(row)
    return (*result, *_folded(hidden))


def _folded(rows: list[Row]) -> list[Row | Fold]:
    """A single row takes no more room than the fold that would hide it."""
    return [Fold(tuple(rows))] if len(rows) > 1 else [*rows]


def files(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[FileChange, ...]:
    """Every file of either side, SKILL.md first. A file that moved without a change is renamed."""
    removed = {content: path for path, content in sorted(before.items()) if path not in after}
    renamed: dict[str, str] = {}
    for path, content in sorted(after.items()):
        if path not in before and content and content in removed:
            renamed[path] = removed.pop(content)
    gone = set(renamed.values())
    every = sorted({*before, *after} - gone, key=lambda path: (path != SKILL_MD, path.encode()))
    return tuple(
        FileChange(path, "renamed", binary=_text(after[path]) is None, before_path=renamed[path])
        if path in renamed
        else _file(path, before.get(path), after.get(path))
        for path in every
    )


def _file(path: str, before: bytes | None, after: bytes | None) -> FileChange:
    old, new = _text(before or b""), _text(after or b"")
    status: Status = "added" if before is None else "removed" if after is None else "changed"
    if before == after:
        return FileChange(path, "equal", binary=old is None)
    if old is None or new is None:
        return FileChange(path, status, binary=True)
    rows, coarse = _rows(old, new)
    return FileChange(path, status, rows=rows, coarse=coarse)


def _text(content: bytes) -> str | None:
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _rows(before: str, after: str) -> tuple[tuple[Row, ...], bool]:
    old, new = split_lines(before), split_lines(after)
    matched = match(old, new)
    rows: list[Row] = []
    for change in matched.changes(len(old), len(new)):
        numbers = range(change.before, change.before_end), range(change.after, change.after_end)
        if change.same:
            rows += [_row("equal", old, i, new, j) for i, j in zip(*numbers, strict=True)]
        else:
            rows += [_row(_kind(i, j), old, i, new, j) for i, j in _paired(old, new, change)]
    return tuple(rows), matched.coarse


def _kind(before: int | None, after: int | None) -> RowKind:
    return "added" if before is None else "removed" if after is None else "changed"


def _row(kind: RowKind, old: Sequence[str], i: int | None, new: Sequence[str], j: int | None) -> Row:
    before, before_end = _parted(old[i]) if i is not None else ("", "")
    after, after_end = _parted(new[j]) if j is not None else ("", "")
    left: Pieces = ((before, False),) if i is not None else ()
    right: Pieces = ((after, False),) if j is not None else ()
    if kind == "changed":
        left, right = words(before, after)
    return Row(
        kind, i + 1 if i is not None else None, j + 1 if j is not None else None, left, right, before_end, after_end
    )


def _parted(line: str) -> tuple[str, str]:
    text = line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
    return text, line[len(text) :]


def words(before: str, after: str) -> tuple[Pieces, Pieces]:
    """Both lines in pieces, with the words that differ marked."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    changes = list(match(old, new).changes(len(old), len(new)))
    left = tuple(("".join(old[c.before : c.before_end]), not c.same) for c in changes if c.before < c.before_end)
    right = tuple(("".join(new[c.after : c.after_end]), not c.same) for c in changes if c.after < c.after_end)
    return left, right


def _paired(old: Sequence[str], new: Sequence[str], change: Change) -> Iterator[tuple[int | None, int | None]]:
    """Removed and added lines of one block, those that are alike side by side, in an order that both keep."""
    height, width = change.before_end - change.before, change.after_end - change.after
    partners: dict[int, int] = {}
    if 0 < height * width <= _PAIRED_LINES:
        partners = _most_alike(old[change.before : change.before_end], new[change.after : change.after_end])
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


def _most_alike(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The pairing in order with the greatest likeness in sum."""
    left, right = [Counter(_SEEN.findall(line)) for line in old], [Counter(_SEEN.findall(line)) for line in new]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    likeness = [[_likeness(a, b) for b in right] for a in left]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            taken = likeness[i][j] + best[i + 1][j + 1] if likeness[i][j] >= _ALIKE else 0.0
            best[i][j] = max(taken, best[i + 1][j], best[i][j + 1])
    partners: dict[int, int] = {}
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] >= _ALIKE and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            partners[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return partners


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 1.0
