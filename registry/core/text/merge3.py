"""Three-way merge of texts (diff3)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from registry.core.text.patience_diff import Effort, Run, match, split_lines

_Shared = tuple[int, int, int, int]
BlockKind = Literal["same", "mine", "theirs", "both", "conflict"]


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines. `kind` says which side changed them; `both` means that both made the same change."""

    kind: BlockKind
    base: str
    theirs: str
    mine: str


@dataclass(frozen=True, slots=True)
class Merge:
    """The result of a merge. `text` is None if there is a conflict.

    Joining one column of the blocks gives back that text, for example `theirs`.
    """

    clean: bool
    text: str | None
    blocks: tuple[Block, ...]
    coarse: bool = False


def merge3(base: str, theirs: str, mine: str, effort: Effort | None = None) -> Merge:
    old, left, right = split_lines(base), split_lines(theirs), split_lines(mine)
    effort = effort or Effort()
    to_left, to_right = match(old, left, effort), match(old, right, effort)
    blocks = tuple(_blocks(old, left, right, _common(to_left.runs, to_right.runs)))
    clean = all(block.kind != "conflict" for block in blocks)
    text = "".join(block.theirs if block.kind == "theirs" else block.mine for block in blocks) if clean else None
    return Merge(clean, text, blocks, to_left.coarse or to_right.coarse)


def _common(to_left: Sequence[Run], to_right: Sequence[Run]) -> Iterator[_Shared]:
    """Yield the lines that all three texts share: their positions in base, theirs and mine, and their number."""
    a = b = 0
    while a < len(to_left) and b < len(to_right):
        left, right = to_left[a], to_right[b]
        start = max(left.before, right.before)
        left_end, right_end = left.before + left.size, right.before + right.size
        size = min(left_end, right_end) - start
        if size > 0:
            yield start, left.after + start - left.before, right.after + start - right.before, size
        if left_end <= right_end:
            a += 1
        else:
            b += 1


def _blocks(
    old: Sequence[str], left: Sequence[str], right: Sequence[str], common: Iterable[_Shared]
) -> Iterator[Block]:
    """Yield the changes between the lines that all three texts share."""
    i = j = k = 0
    kept: list[str] = []
    for line, other, own, size in (*common, (len(old), len(left), len(right), 0)):
        if line > i or other > j or own > k:
            yield from _same(kept)
            kept = []
            yield _block("".join(old[i:line]), "".join(left[j:other]), "".join(right[k:own]))
        kept += old[line : line + size]
        i, j, k = line + size, other + size, own + size
    yield from _same(kept)


def _same(lines: Sequence[str]) -> Iterator[Block]:
    text = "".join(lines)
    if text:
        yield Block("same", text, text, text)


def _block(base: str, theirs: str, mine: str) -> Block:
    kind: BlockKind = "conflict"
    if theirs == mine:
        kind = "both"
    elif theirs == base:
        kind = "mine"
    elif mine == base:
        kind = "theirs"
    return Block(kind, base, theirs, mine)
