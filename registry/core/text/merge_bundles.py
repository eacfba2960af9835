"""Two changes of one bundle joined: what fits together, and what somebody has to choose between."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.core.bundle import SKILL_MD
from registry.core.text.merge3 import Block, merge3

THEIRS, MINE = "theirs", "mine"


@dataclass(frozen=True, slots=True)
class Choice:
    """One place where both changed the same lines; `key` names the answer to it."""

    key: str
    block: Block


@dataclass(frozen=True, slots=True)
class FileMerge:
    """One file that both have changed, or that one removed and the other changed.

    `whole` names the answer where the choice is between files, because one is missing or is no text: None stands for
    no file.
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

    def answered(self, answers: Mapping[str, str]) -> bytes | None:
        """The file that the answers make; what was not answered stays as it is in `mine`."""
        if self.whole:
            return self.theirs if answers.get(self.whole) == THEIRS else self.mine
        return "".join(_part(block, answers) for block in self.blocks).encode()


@dataclass(frozen=True, slots=True)
class Joined:
    """`settled` are the files that fit together, `open` those that need a choice."""

    settled: Mapping[str, bytes]
    open: tuple[FileMerge, ...]

    @property
    def clean(self) -> bool:
        return not self.open

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for file in self.open for key in file.keys)

    def files(self, answers: Mapping[str, str]) -> dict[str, bytes]:
        chosen = {file.path: file.answered(answers) for file in self.open}
        return {**self.settled, **{path: content for path, content in chosen.items() if content is not None}}


def join(base: Mapping[str, bytes], theirs: Mapping[str, bytes], mine: Mapping[str, bytes]) -> Joined:
    settled: dict[str, bytes] = {}
    still_open: list[FileMerge] = []
    paths = sorted({*base, *mine, *theirs}, key=lambda path: (path != SKILL_MD, path.encode()))
    for number, path in enumerate(paths):
        merged = _merged(number, path, base.get(path), theirs.get(path), mine.get(path))
        if isinstance(merged, FileMerge):
            still_open.append(merged)
        elif merged is not None:
            settled[path] = merged
    return Joined(settled, tuple(still_open))


def _merged(
    number: int, path: str, base: bytes | None, theirs: bytes | None, mine: bytes | None
) -> FileMerge | bytes | None:
    """The file both can have, None for none, or what there is to choose."""
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    old, left, right = _text(base or b""), _text(theirs), _text(mine)
    if old is None or left is None or right is None:
        return FileMerge(path, whole=f"take-{number}", theirs=theirs, mine=mine)
    merge = merge3(old, left, right)
    if merge.text is not None:
        return merge.text.encode()
    return FileMerge(path, tuple(_choices(number, merge.blocks)), theirs=theirs, mine=mine)


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
