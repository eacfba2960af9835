"""Diffs for display: side-by-side rows with changed words marked, folded runs, and changed files.

The functions for patches and three-way merges are re-exported here.
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
Pieces = tuple[tuple[str, bool], ...]  # text, and True if it changed

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_VISIBLE_WORD = re.compile(r"\w+|[^\w\s]")
_MAX_PAIRS = 2_500  # pairs of lines in one replaced block that are compared for similarity
_SIMILAR = 0.4


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
    """Unchanged rows that are hidden until the reader expands them."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file. `coarse` means that the texts were too large to compare in detail."""

    path: str
    status: Status
    binary: bool = False
    rows: tuple[Row, ...] = ()
    before_path: str = ""
    coarse: bool = False


def lines(before: str, after: str) -> tuple[Row, ...]:
    return _rows(before, after)[0]


def fold(rows: Sequence[Row], context: int = 3) -> tuple[Row | Fold, ...]:
    """Fold unchanged runs, except for `context` rows around each change."""
    near = [False] * len(rows)
    for place, row in enumerate(rows):
        if row.kind != "equal":
            low, high = max(0, place - context), min(len(rows), place + context + 1)
            near[low:high] = [True] * (high - low)
    result: list[Row | Fold] = []
    hidden: list[Row] = []
    for row, visible in zip(rows, near, strict=True):
        if not visible:
            hidden.append(row)
            continue
        result += _fold_run(hidden)
        hidden = []
        result.append(row)
    return (*result, *_fold_run(hidden))


def _fold_run(rows: list[Row]) -> list[Row | Fold]:
    """Return a fold. A single row stays as it is, because a fold would take as much space."""
    return [Fold(tuple(rows))] if len(rows) > 1 else [*rows]


def files(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[FileChange, ...]:
    """Compare all files, SKILL.md first. A file with a new path and the same content is renamed."""
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
            rows += [_row(_kind(i, j), old, i, new, j) for i, j in _pair_lines(old, new, change)]
    return tuple(rows), matched.coarse


def _kind(before: int | None, after: int | None) -> RowKind:
    return "added" if before is None else "removed" if after is None else "changed"


def _row(kind: RowKind, old: Sequence[str], i: int | None, new: Sequence[str], j: int | None) -> Row:
    before, before_end = _split_line_end(old[i]) if i is not None else ("", "")
    after, after_end = _split_line_end(new[j]) if j is not None else ("", "")
    left: Pieces = ((before, False),) if i is not None else ()
    right: Pieces = ((after, False),) if j is not None else ()
    if kind == "changed":
        left, right = words(before, after)
    return Row(
        kind, i + 1 if i is not None else None, j + 1 if j is not None else None, left, right, before_end, after_end
    )


def _split_line_end(line: str) -> tuple[str, str]:
    text = line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
    return text, line[len(text) :]


def words(before: str, after: str) -> tuple[Pieces, Pieces]:
    """Split both lines into pieces and mark the words that differ."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    changes = list(match(old, new).changes(len(old), len(new)))
    left = tuple(("".join(old[c.before : c.before_end]), not c.same) for c in changes if c.before < c.before_end)
    right = tuple(("".join(new[c.after : c.after_end]), not c.same) for c in changes if c.after < c.after_end)
    return left, right


def _pair_lines(old: Sequence[str], new: Sequence[str], change: Change) -> Iterator[tuple[int | None, int | None]]:
    """Yield the removed and added lines of one block, with similar lines paired, in the order of both texts."""
    height, width = change.before_end - change.before, change.after_end - change.after
    partners: dict[int, int] = {}
    if 0 < height * width <= _MAX_PAIRS:
        partners = _most_similar(old[change.before : change.before_end], new[change.after : change.after_end])
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
