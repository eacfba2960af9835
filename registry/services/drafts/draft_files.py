"""Files of a draft. Their content is stored as blobs."""

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


def default_path(filename: str) -> str:
    """Return the path where skills usually keep such a file."""
    suffix = PurePosixPath(filename).suffix.lower()
    folder = REFERENCES if suffix in _TEXTS else SCRIPTS if suffix in _PROGRAMS else ASSETS
    return f"{folder}/{filename}"


def add(place: Place, files: Mapping[str, bytes], *, by: Actor) -> Draft:
    """Add or replace files, all or none."""
    with drafts.editing(place, by=by) as draft:
        entries = {entry.path: entry for entry in draft.manifest}
        for path, content in files.items():
            _check(path, content)
            entries[path] = FileEntry(path, len(content), blobs.put_content(content, now=timezone.now()))
        _set(draft, entries)
    return draft


def create(place: Place, path: str, *, by: Actor) -> Draft:
    """Create an empty text file."""
    with drafts.editing(place, by=by) as draft:
        entries = _entries_without(draft, path)
        entries[path] = FileEntry(path, 0, blobs.put_content(b"", now=timezone.now()))
        _set(draft, entries)
    return draft


def write_text(place: Place, path: str, text: str, *, by: Actor) -> Draft:
    """Replace the text of a file but keep its line endings: browsers send CRLF."""
    with drafts.editing(place, by=by) as draft:
        entry = entry_of(draft, path)
        content = skill_form.restore_line_endings(blobs.read(entry).decode(errors="replace"), text).encode()
        _check(path, content)
        entries = {each.path: each for each in draft.manifest}
        entries[path] = FileEntry(path, len(content), blobs.put_content(content, now=timezone.now()))
        _set(draft, entries)
    return draft


def rename(place: Place, path: str, to: str, *, by: Actor) -> Draft:
    with drafts.editing(place, by=by) as draft:
        entry = entry_of(draft, path)
        if to != path:
            entries = _entries_without(draft, to, apart_from=path)
            del entries[path]
            entries[to] = FileEntry(to, entry.size, entry.digest)
            _set(draft, entries)
    return draft


def remove(place: Place, path: str, *, by: Actor) -> Draft:
    with drafts.editing(place, by=by) as draft:
        entry_of(draft, path)
        _set(draft, {entry.path: entry for entry in draft.manifest if entry.path != path})
    return draft


def restore(place: Place, path: str, *, by: Actor) -> Draft:
    """Restore a removed file as it was when the edit started."""
    with drafts.editing(place, by=by) as draft:
        entries = {entry.path: entry for entry in draft.manifest}
        before = next((entry for entry in removed(draft) if entry.path == path), None)
        if before is None:
            raise NotFound(f"The draft has no removed file {paths.display(path)}.")
        _set(draft, {**entries, path: before})
    return draft


def removed(draft: Draft) -> tuple[FileEntry, ...]:
    """Return the files that the edit removed."""
    present = {SKILL_MD} | {entry.path for entry in draft.manifest}
    return tuple(entry for entry in draft.base_manifest if entry.path not in present)


def entry_of(draft: Draft, path: str) -> FileEntry:
    for entry in draft.manifest:
        if entry.path == path:
            return entry
    raise NotFound(f"The draft has no file {paths.display(path)}.")


def text_of(entry: FileEntry) -> str | None:
    """Return the text of a file; None if it is binary or too long to edit in a page."""
    if entry.size > settings.LIMITS.text_read_bytes:
        return None
    content = blobs.read(entry)
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _entries_without(draft: Draft, path: str, apart_from: str = "") -> dict[str, FileEntry]:
    entries = {entry.path: entry for entry in draft.manifest}
    if path in entries and path != apart_from:
        raise AlreadyExists(f"The draft already has a file {paths.display(path)}. Choose another path.")
    _check(path, b"")
    return entries


def _check(path: str, content: bytes) -> None:
    paths.check(path, limits=settings.LIMITS)
    if PurePosixPath(path).name.lower() == SKILL_MD.lower():
        raise InvalidRequest("The form above writes SKILL.md. To use a SKILL.md from a file or folder, use Upload.")
    most = settings.LIMITS.file_bytes
    if len(content) > most:
        raise TooLarge(f"{paths.display(path)} has {len(content):,} bytes. {most:,} are allowed. It was not added.")


def _set(draft: Draft, entries: Mapping[str, FileEntry]) -> None:
    limits = settings.LIMITS
    total = sum(entry.size for entry in entries.values())
    if len(entries) + 1 > limits.files:
        raise TooLarge(
            f"The draft would have {len(entries) + 1:,} files. {limits.files:,} are allowed. Nothing was added."
        )
    if total > limits.expanded_bytes:
        raise TooLarge(
            f"The files would have {total:,} bytes together. {limits.expanded_bytes:,} are allowed. Nothing was added."
        )
    paths.check_collisions([SKILL_MD, *entries])
    draft.manifest = in_byte_order(entries.values())
