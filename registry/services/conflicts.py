"""Two people wrote at once: what both made of the same skill, joined where it fits and put to a choice where not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils import timezone

from registry.core import roles
from registry.core.diff import Block, merge3
from registry.core.errors import InvalidInput, NotFound, Stale
from registry.core.merge import PROJECT
from registry.core.skill import SKILL_MD, FileEntry
from registry.models import Draft
from registry.services import blobs, catalog, drafts, versions
from registry.services.catalog import Loaded
from registry.services.drafts import Place
from registry.services.permissions import Actor, require

THEIRS, MINE = "theirs", "mine"


@dataclass(frozen=True, slots=True)
class Choice:
    """One place where both changed the same lines; `key` names the answer to it."""

    key: str
    block: Block


@dataclass(frozen=True, slots=True)
class FileMerge:
    """One file that both have changed, or that one removed and the other changed.

    `whole` is where the choice is between files, because one is missing or is no text: None stands for no file.
    """

    path: str
    blocks: tuple[Block | Choice, ...] = ()
    whole: str = ""
    theirs: bytes | None = None
    mine: bytes | None = None

    @property
    def choices(self) -> tuple[Choice, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Choice))


@dataclass(frozen=True, slots=True)
class Conflict:
    """`theirs` is None where the skill was deleted meanwhile. `settled` are the files that fit together."""

    draft: Draft
    theirs: Loaded | None
    author: str
    settled: Mapping[str, bytes]
    open: tuple[FileMerge, ...]

    @property
    def digest(self) -> str:
        return self.theirs.candidate.digest if self.theirs else ""

    @property
    def count(self) -> int:
        return sum(len(file.choices) or 1 for file in self.open)


def look(place: Place, *, by: Actor) -> Conflict:
    """What stands now against the person's draft. NotFound where nobody saved meanwhile."""
    require(by, roles.WRITE, place.project)
    draft = drafts.find(place, by=by)
    standing = catalog.find(place.project.pk, place.name) if place.name else None
    theirs = catalog.inspect(place.project, place.name)[1] if standing else None
    digest = theirs.candidate.digest if theirs else ""
    if draft.pk is None or digest == draft.base:
        raise NotFound("Nobody else has saved this skill since you began. Publish your draft.")
    base, mine = drafts.base_bundle(draft), drafts.bundle(draft)
    other: Mapping[str, bytes] = theirs.bundle() if theirs else base
    settled: dict[str, bytes] = {}
    still_open = []
    for number, path in enumerate(sorted({*base, *mine, *other}, key=lambda path: (path != SKILL_MD, path.encode()))):
        merged = _merged(number, path, base.get(path), other.get(path), mine.get(path))
        if isinstance(merged, FileMerge):
            still_open.append(merged)
        elif merged is not None:
            settled[path] = merged
    return Conflict(draft, theirs, _author(place, theirs), settled, tuple(still_open))


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
    blocks = tuple(
        Choice(f"take-{number}-{at}", block) if block.kind == "conflict" else block
        for at, block in enumerate(merge.blocks)
    )
    return FileMerge(path, blocks, theirs=theirs, mine=mine)


def _text(content: bytes | None) -> str | None:
    try:
        return None if content is None or b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _author(place: Place, theirs: Loaded | None) -> str:
    if theirs is None or theirs.candidate.source != PROJECT:
        return ""
    return versions.get(place.project, place.name, theirs.candidate.version).by


def settle(place: Place, choices: Mapping[str, str], *, theirs: str, by: Actor) -> Draft:
    """Makes the answers the draft, based on what stands now. What was not answered stays as the person wrote it."""
    conflict = look(place, by=by)
    if conflict.digest != theirs:
        raise Stale("The skill was saved once more since this page was loaded. Choose again.", digest=conflict.digest)
    files = dict(conflict.settled)
    for file in conflict.open:
        content = _chosen(file, choices)
        if content is not None:
            files[file.path] = content
    if conflict.theirs and conflict.theirs.on_disk:
        blobs.put(conflict.theirs.bundle(), now=timezone.now())
    with drafts.editing(Place(place.project, place.name, seen=drafts.state(conflict.draft)), by=by) as draft:
        skill_md = files.pop(SKILL_MD)
        draft.base, draft.base_manifest = theirs, drafts.as_rows(conflict.theirs.files if conflict.theirs else ())
        draft.manifest = drafts.as_rows(_stored(files))
        mode = draft.content["mode"]
        draft.content = {**draft.content, "mode": drafts.RAW, "text": skill_md.decode()}
        _back_to(draft, mode)
    return draft


def _chosen(file: FileMerge, choices: Mapping[str, str]) -> bytes | None:
    if file.whole:
        return file.theirs if choices.get(file.whole) == THEIRS else file.mine
    parts = (_answer(block, choices) if isinstance(block, Choice) else _fitting(block) for block in file.blocks)
    return "".join(parts).encode()


def _answer(choice: Choice, choices: Mapping[str, str]) -> str:
    return choice.block.theirs if choices.get(choice.key) == THEIRS else choice.block.mine


def _fitting(block: Block) -> str:
    return block.theirs if block.kind == THEIRS else block.mine


def _stored(files: Mapping[str, bytes]) -> Iterator[FileEntry]:
    now = timezone.now()
    for path, content in files.items():
        yield FileEntry(path, len(content), blobs.put_content(content, now=now))


def _back_to(draft: Draft, mode: str) -> None:
    try:
        drafts.switched(draft, mode)
    except InvalidInput:
        return  # two headers that each can be read may make one that cannot; the exact text shows it
