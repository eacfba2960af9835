"""Values of runs in rows. A large one is a file in the blob storage, and its row has the digest."""

import json
from collections.abc import Iterable
from datetime import datetime

from registry.core.bundle import FileEntry
from registry.core.workflows.values import Json, canonical
from registry.models import RunBlob
from registry.services.files import blobs

INLINE_CHARS = 32 * 1024
_BLOB = "$blob"


def pack(value: Json, *, now: datetime) -> Json:
    """Return a value as a row stores it. Call it before the transaction, because it may write a file."""
    text = canonical(value)
    if len(text) <= INLINE_CHARS and not _looks_packed(value):
        return value
    content = text.encode()
    return {_BLOB: blobs.put_content(content, now=now), "size": len(content)}


def unpack(stored: Json) -> Json:
    if not _looks_packed(stored):
        return stored
    entry = FileEntry("value.json", int(stored["size"]), str(stored[_BLOB]))
    return json.loads(blobs.read_once(entry))


def stored_size(stored: Json) -> int | None:
    """Return the size of a value that is in a file, or None for one that is in its row."""
    return int(stored["size"]) if _looks_packed(stored) else None


def claim(run_id: int, stored: Iterable[Json]) -> None:
    """Record which files belong to a run, so that the clean-up keeps them. Call it in the transaction of the rows."""
    digests = {str(value[_BLOB]) for value in stored if _looks_packed(value)}
    if digests:
        rows = [RunBlob(run_id=run_id, digest=digest) for digest in sorted(digests)]
        RunBlob.objects.bulk_create(rows, ignore_conflicts=True)


def _looks_packed(value: Json) -> bool:
    return isinstance(value, dict) and _BLOB in value
