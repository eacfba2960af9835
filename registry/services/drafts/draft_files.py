"""The files of a draft: added, written, renamed, taken out and brought back. Their bytes wait as blobs."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from django.conf import settings
from django.utils import timezone

from registry.core import paths
from registry.core.bundle import SKILL_MD, FileEntry, in_byte_order
from registry.core.errors import AlreadyExists, InvalidRequest, NotFound, TooLarge
from registry.core.format import skill_form
from registry.models import Draft
from registry.services.drafts import drafts
from registry.services.drafts.drafts import Place
from registry.services.files import blobs
from registry.services.permissions import Actor

REFERENCES, SCRIPTS, ASSETS = "references", "scripts", "assets"
_TEXTS = frozenset({".md", ".markdown", ".txt", ".rst"})
_PROGRAMS = frozenset({".py", ".sh", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1", ".sql", ".bat"})


def usual_place(filename: str) -> str:
    """Where skills keep files of this kind."""
    suffix = PurePosixPath(filename).suffix.lower()
    folder = REFERENCES if suffix in _TEXTS else SCRIPTS if suffix in _PROGRAMS else ASSETS
    return f"{folder}/{filename}"


def add(place: Place, files: Mapping[str, bytes], *, by: Actor) -> Draft:
    """Puts files in; one of the same path is replaced. All of them or none."""
    with drafts.editing(place, by=by) as draft:
        entries = {entry.path: entry for entry in draft.manifest}
        for path, content in files.items():
            _allowed(path, content)
            entries[path] = FileEntry(path, len(content), blobs.put_content(content, now=timezone.now()))
        _set(draft, entries)
    return draft


def create(place: Place, path: str, *, by: Actor) -> Draft:
    """A new text file, empty for now."""
    with drafts.editing(place, by=by) as draft:
        entries = _free(draft, path)
        entries[path] = FileEntry(path, 0, blobs.put_content(b"", now=timezone.now()))
        _set(draft, entries)
    return draft


def write_text(place: Place, path: str, text: str, *, by: Actor) -> Draft:
    """What a text field of a browser sent, with the line ends the file had."""
    with drafts.editing(place, by=by) as draft:
        entry = entry_of(draft, path)
        content = skill_form.restore_line_endings(blobs.read(entry).decode(errors="replace"), text).encode()
        _allowed(path, content)
        entries = {each.path: each for each in draft.manifest}
        entries[path] = FileEntry(path, len(content), blobs.put_content(content, now=timezone.now()))
        _set(draft, entries)
    return draft


def rename(place: Place, path: str, to: str, *, by: Actor) -> Draft:
    with drafts.editing(place, by=by) as draft:
        entry = entry_of(draft, path)
        if to != path:
            entries = _free(draft, to, apart_from=path)
            del entries[path]
            entries[to] = FileEntry(to, entry.size, entry.digest)
            _set(draft, entries)
    return draft


def remove(place: Place, path: str, *, by: Actor) -> Draft:
    with drafts.editing(place, by=by) as draft:
        entry_of(draft, path)
        _set(draft, {entry.path: entry for entry in draft.manifest if entry.path != path})
    return draft


def bring_back(place: Place, path: str, *, by: Actor) -> Draft:
    """A file as it was in what the edit started from."""
    with drafts.editing(place, by=by) as draft:
        entries = {entry.path: entry for entry in draft.manifest}
        before = next((entry for entry in removed(draft) if entry.path == path), None)
        if before is None:
            raise NotFound(f"There is no file {paths.display(path)} to bring back.")
        _set(draft, {**entries, path: before})
    return draft


def removed(draft: Draft) -> tuple[FileEntry, ...]:
    """What the edit started from and no longer has."""
    present = {SKILL_MD} | {entry.path for entry in draft.manifest}
    return tuple(entry for entry in draft.base_manifest if entry.path not in present)


def entry_of(draft: Draft, path: str) -> FileEntry:
    for entry in draft.manifest:
        if entry.path == path:
            return entry
    raise NotFound(f"The draft has no file {paths.display(path)}.")


def text_of(entry: FileEntry) -> str | None:
    """The file as text for editing in place; None where it is no text, or too long for a page."""
    if entry.size > settings.LIMITS.text_read_bytes:
        return None
    content = blobs.read(entry)
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _free(draft: Draft, path: str, apart_from: str = "") -> dict[str, FileEntry]:
    entries = {entry.path: entry for entry in draft.manifest}
    if path in entries and path != apart_from:
        raise AlreadyExists(f"The draft has a file {paths.display(path)} already. Choose another path.")
    _allowed(path, b"")
    return entries


def _allowed(path: str, content: bytes) -> None:
    paths.check(path, limits=settings.LIMITS)
    if PurePosixPath(path).name.lower() == SKILL_MD.lower():
        raise InvalidRequest(
            "SKILL.md is what the fields above make. To take a whole skill from a file or folder, use Upload."
        )
    most = settings.LIMITS.file_bytes
    if len(content) > most:
        raise TooLarge(f"{paths.display(path)} has {len(content):,} bytes. {most:,} are allowed. It was not added.")


def _set(draft: Draft, entries: Mapping[str, FileEntry]) -> None:
    limits = settings.LIMITS
    paths.check_collisions([SKILL_MD, *entries])
    total = sum(entry.size for entry in entries.values())
    if len(entries) + 1 > limits.files:
        raise TooLarge(
            f"The draft would have {len(entries) + 1:,} files. {limits.files:,} are allowed. Nothing was added."
        )
    if total > limits.expanded_bytes:
        raise TooLarge(
            f"The files would have {total:,} bytes together. {limits.expanded_bytes:,} are allowed. Nothing was added."
        )
    draft.manifest = in_byte_order(entries.values())
