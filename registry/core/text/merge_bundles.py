"""Three-way merge of bundles, with the choices that a person has to make."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.core.bundle import SKILL_MD
from registry.core.limits import MIB
from registry.core.text.merge3 import Block, merge3
from registry.core.text.patience_diff import Effort

THEIRS, MINE = "theirs", "mine"

# Above these numbers, a person chooses between whole files.
MERGED_BYTES = 4 * MIB  # of all texts that both sides changed, in all three versions
MOST_CHOICES = 1_000  # in one file


@dataclass(frozen=True, slots=True)
class Choice:
    """A conflict: both sides changed the same lines. `key` identifies the answer."""

    key: str
    block: Block


@dataclass(frozen=True, slots=True)
class FileMerge:
    """A file with conflicts.

    `whole` is the key of the answer if the choice is between whole files, because one side removed the file, or it is
    not text, or it is too large or too different to merge line by line. A removed file is None.
    """

    path: str
    blocks: tuple[Block | Choice, ...] = ()
    whole: str = ""
    theirs: bytes | None = None
    mine: bytes | None = None

    @property
    def choices(self) -> tuple[Choice, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Choice))

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.whole,) if self.whole else tuple(choice.key for choice in self.choices)

    def resolve(self, answers: Mapping[str, str]) -> bytes | None:
        """Return the file with the answers applied. A conflict without an answer takes `mine`."""
        if self.whole:
            return self.theirs if answers.get(self.whole) == THEIRS else self.mine
        return "".join(_part(block, answers) for block in self.blocks).encode()


@dataclass(frozen=True, slots=True)
class BundleMerge:
    """The result of a merge. `settled` files merged cleanly, `open` files have conflicts."""

    settled: Mapping[str, bytes]
    open: tuple[FileMerge, ...]

    @property
    def clean(self) -> bool:
        return not self.open

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for file in self.open for key in file.keys)

    def files(self, answers: Mapping[str, str]) -> dict[str, bytes]:
        chosen = {file.path: file.resolve(answers) for file in self.open}
        return {**self.settled, **{path: content for path, content in chosen.items() if content is not None}}


def merge(base: Mapping[str, bytes], theirs: Mapping[str, bytes], mine: Mapping[str, bytes]) -> BundleMerge:
    """Merge two changed versions of `base`."""
    settled: dict[str, bytes] = {}
    still_open: list[FileMerge] = []
    merger = _Merger()
    paths = sorted({*base, *mine, *theirs}, key=lambda path: (path != SKILL_MD, path.encode()))
    for number, path in enumerate(paths):
        merged = merger.file(number, path, base.get(path), theirs.get(path), mine.get(path))
        if isinstance(merged, FileMerge):
            still_open.append(merged)
        elif merged is not None:
            settled[path] = merged
    return BundleMerge(settled, tuple(still_open))


class _Merger:
    """Merges files within one budget of bytes and steps."""

    def __init__(self) -> None:
        self.effort = Effort()
        self.bytes = MERGED_BYTES

    def file(
        self, number: int, path: str, base: bytes | None, theirs: bytes | None, mine: bytes | None
    ) -> FileMerge | bytes | None:
        """Return the merged content, None for a removed file, or the conflicts."""
        if mine in (base, theirs):
            return theirs
        if theirs == base:
            return mine
        whole = FileMerge(path, whole=f"take-{number}", theirs=theirs, mine=mine)
        size = sum(len(content or b"") for content in (base, theirs, mine))
        if size > self.bytes:
            return whole
        old, left, right = _text(base or b""), _text(theirs), _text(mine)
        if old is None or left is None or right is None:
            return whole
        self.bytes -= size
        merged = merge3(old, left, right, self.effort)
        if merged.text is not None:
            return merged.text.encode()
        if sum(block.kind == "conflict" for block in merged.blocks) > MOST_CHOICES:
            return whole
        return FileMerge(path, tuple(_choices(number, merged.blocks)), theirs=theirs, mine=mine)


def _choices(number: int, blocks: tuple[Block, ...]) -> Iterator[Block | Choice]:
    for at, block in enumerate(blocks):
        yield Choice(f"take-{number}-{at}", block) if block.kind == "conflict" else block


def _part(block: Block | Choice, answers: Mapping[str, str]) -> str:
    if isinstance(block, Choice):
        return block.block.theirs if answers.get(block.key) == THEIRS else block.block.mine
    return block.theirs if block.kind == THEIRS else block.mine


def _text(content: bytes | None) -> str | None:
    try:
        return None if content is None or b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None
