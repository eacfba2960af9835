"""Blob storage: files of bundles, stored once under the SHA-256 of their content."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from registry.core.bundle import Bundle, FileEntry, content_digest
from registry.core.errors import NotFound
from registry.lib.files import TEMPORARY_PREFIX
from registry.lib.lru import LruCache
from registry.models import Draft, ProposalRevision, Provenance, RunBlob, Skill, SourceEntry, Upload, Version

# A blob without a row may belong to a save in progress, so the clean-up keeps it for a day. A blob that is reused is
# written again after half a day, so that the clean-up does not delete it in the meantime.
UNCLAIMED_FOR = timedelta(hours=24)
_REWRITE_AFTER = UNCLAIMED_FOR / 2
_SMALL = 64 * 1024
_small_files: LruCache[str, bytes] = LruCache(2_000)


def _storage() -> Storage:
    return storages["blobs"]


def _name(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def put(bundle: Bundle, *, now: datetime) -> None:
    """Store all files of a bundle. Call it before the transaction that stores the manifest."""
    for entry in bundle.manifest:
        _put(entry.digest, bundle[entry.path], now)


def put_content(content: bytes, *, now: datetime) -> str:
    """Store one file and return its digest. Call it before the row with the digest is written."""
    digest = content_digest(content)
    _put(digest, content, now)
    return digest


def _put(digest: str, content: bytes, now: datetime) -> None:
    if not _fresh(_name(digest), len(content), now):
        _storage().save(_name(digest), ContentFile(content))


def _fresh(name: str, size: int, now: datetime) -> bool:
    storage = _storage()
    if not storage.exists(name) or storage.size(name) != size:
        return False
    return now - storage.get_modified_time(name) < _REWRITE_AFTER


def read(entry: FileEntry) -> bytes:
    return _read_small(entry.digest) if entry.size <= _SMALL else _read(entry.digest)


def read_once(entry: FileEntry) -> bytes:
    """Read without the cache, for bulk reads that would flush it."""
    return _read(entry.digest)


def _read_small(digest: str) -> bytes:
    content = _small_files.get(digest)
    if content is None:
        content = _read(digest)
        _small_files.put(digest, content)
    return content


def _read(digest: str) -> bytes:
    try:
        with _storage().open(_name(digest), "rb") as file:
            content: bytes = file.read()
    except FileNotFoundError:
        raise NotFound(f"The stored file {digest[:12]} is missing from this server’s storage.") from None
    if content_digest(content) != digest:
        raise NotFound(f"The stored file {digest[:12]} is damaged; its bytes do not match its digest.")
    return content


def bundle(entries: Iterable[FileEntry]) -> Bundle:
    return Bundle({entry.path: read(entry) for entry in entries})


@dataclass(frozen=True, slots=True)
class Orphan:
    name: str
    size: int
    old: bool


def orphans(*, now: datetime) -> Iterator[Orphan]:
    """Yield blobs without a row; the clean-up may delete those with `old`."""
    referenced = _referenced()
    storage = _storage()
    for name in _stored_names(storage):
        if name.rsplit("/", 1)[-1] in referenced:
            continue
        age = now - storage.get_modified_time(name)
        yield Orphan(name, storage.size(name), old=age > UNCLAIMED_FOR)


def _referenced() -> set[str]:
    manifests = chain(
        Version.objects.values_list("manifest", flat=True).iterator(chunk_size=500),
        Skill.objects.values_list("upstream_manifest", flat=True).iterator(chunk_size=500),
        Draft.objects.values_list("manifest", flat=True).iterator(chunk_size=500),
        Draft.objects.values_list("base_manifest", flat=True).iterator(chunk_size=500),
        ProposalRevision.objects.values_list("base_manifest", flat=True).iterator(chunk_size=500),
        ProposalRevision.objects.values_list("result_manifest", flat=True).iterator(chunk_size=500),
        Provenance.objects.values_list("manifest", flat=True).iterator(chunk_size=500),
        SourceEntry.objects.exclude(staged_digest="")
        .values_list("staged_manifest", flat=True)
        .iterator(chunk_size=500),
    )
    others = chain(
        Upload.objects.values_list("key", flat=True), RunBlob.objects.values_list("digest", flat=True).iterator()
    )
    return {entry.digest for manifest in manifests for entry in manifest} | set(others)


def _stored_names(storage: Storage) -> Iterator[str]:
    try:
        directories, _ = storage.listdir("")
    except FileNotFoundError:  # nothing was saved yet; other storages return an empty list
        return
    for directory in sorted(directories):
        yield from (f"{directory}/{file}" for file in sorted(storage.listdir(directory)[1]))


def discard(orphan: Orphan, *, now: datetime) -> bool:
    """Delete an orphan, unless it was written again in the meantime."""
    storage = _storage()
    if now - storage.get_modified_time(orphan.name) <= UNCLAIMED_FOR:
        return False
    storage.delete(orphan.name)
    return True


def is_leftover(orphan: Orphan) -> bool:
    """Tell whether the orphan is the temporary file of a process that was killed."""
    return orphan.name.rsplit("/", 1)[-1].startswith(TEMPORARY_PREFIX)
