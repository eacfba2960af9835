"""Three-way merge of texts (diff3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from registry.core.text.patience_diff import Matching, match, split_lines

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


def merge3(base: str, theirs: str, mine: str) -> Merge:
    old, left, right = split_lines(base), split_lines(theirs), split_lines(mine)
    to_left, to_right = match(old, left), match(old, right)
    blocks = tuple(_blocks(old, left, right, _partners(to_left), _partners(to_right)))
    clean = all(block.kind != "conflict" for block in blocks)
    text = "".join(block.theirs if block.kind == "theirs" else block.mine for block in blocks) if clean else None
    return Merge(clean, text, blocks, to_left.coarse or to_right.coarse)


def _partners(matched: Matching) -> dict[int, int]:
    return {run.before + step: run.after + step for run in matched.runs for step in range(run.size)}


def _blocks(
    old: Sequence[str], left: Sequence[str], right: Sequence[str],
    to_left: dict[int, int], to_right: dict[int, int],
) -> Iterator[Block]:  # fmt: skip
    """Yield the changes between the lines that all three texts share."""
    i = j = k = 0
    kept: list[str] = []
    common = sorted(to_left.keys() & to_right.keys())
    anchors = [(line, to_left[line], to_right[line]) for line in common]
    for line, other, own in (*anchors, (len(old), len(left), len(right))):
        if line > i or other > j or own > k:
            yield from _same(kept)
            kept = []
            yield _block("".join(old[i:line]), "".join(left[j:other]), "".join(right[k:own]))
        kept += old[line : line + 1]
        i, j, k = line + 1, other + 1, own + 1
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
