"""Uploads: bundles that a person previews before publishing or proposing them.

The bytes are stored as a blob under a random key. Row and blob are deleted when the person publishes, proposes,
discards or leaves the page; the worker deletes the rest after an hour. An upload does not change the project, so it is
not audited. Publishing is, through `bundles.import_bundle`, and proposing is, through `proposals.propose`. Everybody
who may propose may upload.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db.models import QuerySet

from registry.core import paths, roles
from registry.core.archive import zip_bundle as bundle_files
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import precedence
from registry.core.errors import Forbidden, InvalidArchive, NotFound
from registry.core.limits import MIB, Limits
from registry.core.text.edits import Edit
from registry.models import Project, Upload
from registry.services.catalog import catalog
from registry.services.permissions import Actor, require, require_publish
from registry.services.proposals import proposals
from registry.services.proposals.prepare import CREATE, Suggestion
from registry.services.proposals.proposals import Proposed
from registry.services.skills import bundles
from registry.services.skills.bundles import Imported, Preview

KEPT_FOR = timedelta(hours=1)
_FOLDER = "uploads"


@dataclass(frozen=True, slots=True)
class PendingUpload:
    """An upload, the effect of publishing it, and the digest and files of the current skill, if any."""

    upload: Upload
    preview: Preview
    seen: str
    before: Mapping[str, bytes]


def open_files(files: Mapping[str, bytes], *, folder: bool) -> Bundle:
    """Read the bundle a browser sent: a folder, one zip, or one Markdown file that becomes SKILL.md."""
    if folder:
        return bundle_files.read_folder(files, limits=settings.LIMITS)
    if len(files) != 1:
        raise InvalidArchive(f"{len(files):,} files were sent. Send one zip, one .md file, or one folder.")
    (name, content), *_ = files.items()
    if PurePosixPath(name).suffix.lower() in {".md", ".markdown"}:
        return bundle_files.read_folder({SKILL_MD: content}, limits=settings.LIMITS)
    return bundle_files.read_zip(content, limits=settings.LIMITS)


def receive(project: Project, filename: str, bundle: Bundle, *, now: datetime, by: Actor) -> Upload:
    """Store an upload for preview. It replaces the person's earlier upload."""
    bundles.preview(project, bundle, by=by)
    key = secrets.token_hex(16)
    storages["blobs"].save(_blob_name(key), ContentFile(bundle_files.write_zip(bundle)))
    upload = Upload(project=project, user_id=_person(by), key=key, filename=paths.display(filename)[1:-1][:255])
    upload.created_at = now
    upload.save(force_insert=True)
    for earlier in _rows(project, by).exclude(pk=upload.pk):
        _delete(earlier)
    return upload


def preview(project: Project, key: str, *, by: Actor) -> PendingUpload:
    """Return the upload with the effect of publishing it now."""
    upload = _find(project, key, by)
    bundle = _read(upload)
    effect = bundles.preview(project, bundle, by=by)
    current = catalog.inspect(project, effect.checked.name)[1] if effect.effective else None
    return PendingUpload(upload, effect, precedence.digest_of(effect.effective), current.bundle() if current else {})


def confirm(project: Project, key: str, *, seen: str, note: str = "", gate_reason: str = "", by: Actor) -> Imported:
    """Publish the upload. Raise Stale if the current skill is not the one the person saw."""
    require_publish(by, project)
    upload = _find(project, key, by)
    imported = bundles.import_bundle(project, _read(upload), seen=seen, note=note, gate_reason=gate_reason, by=by)
    _delete(upload)
    return imported


def propose(project: Project, key: str, *, seen: str, justification: str, by: Actor) -> Proposed:
    """Turn the upload into a proposal. It must pass the checks for authored skills."""
    upload = _find(project, key, by)
    bundle = _read(upload)
    name = bundles.check(bundle, authoring=False).name
    current = catalog.inspect(project, name)[1] if catalog.find(project.pk, name) else None
    removed = {entry.path: None for entry in current.files if entry.path not in bundle} if current else {}
    kind = None if seen else CREATE
    suggestion = Suggestion(name, Edit({**removed, **bundle}), justification, kind=kind, base_digest=seen)
    proposed = proposals.propose(project, suggestion, by=by)
    _delete(upload)
    return proposed


def discard(project: Project, key: str, *, by: Actor) -> None:
    """Delete an upload, if it still exists."""
    require(by, roles.PROPOSE, project)
    for upload in _rows(project, by).filter(key=key):
        _delete(upload)


def sweep(*, now: datetime) -> int:
    """Delete uploads older than an hour."""
    stale = list(Upload.objects.filter(created_at__lt=now - KEPT_FOR))
    for upload in stale:
        _delete(upload)
    return len(stale)


def _person(by: Actor) -> int:
    if by.user_id is None:
        raise Forbidden("Only people can upload with a preview. Send the bundle to the API.")
    return by.user_id


def _rows(project: Project, by: Actor) -> QuerySet[Upload]:
    return Upload.objects.filter(project=project, user_id=_person(by))


def _find(project: Project, key: str, by: Actor) -> Upload:
    require(by, roles.PROPOSE, project)
    upload = _rows(project, by).filter(key=key).first()
    if upload is None:
        raise NotFound(
            "This upload no longer exists: it was published or discarded, or you left its page. Upload it again."
        )
    return upload


def _delete(upload: Upload) -> None:
    """Delete the blob first: `sweep` finds a row without a blob, but only clean_blobs finds a blob without a row."""
    storages["blobs"].delete(_blob_name(upload.key))
    Upload.objects.filter(pk=upload.pk).delete()


def _read(upload: Upload) -> Bundle:
    try:
        with storages["blobs"].open(_blob_name(upload.key), "rb") as file:
            content: bytes = file.read()
    except FileNotFoundError:
        raise NotFound("The files of this upload are missing. Upload it again.") from None
    return bundle_files.read_zip(content, limits=_own_zip_limits())


def _own_zip_limits() -> Limits:
    """Return limits for our own zip, which is not compressed and may be as long as the files in it."""
    return replace(settings.LIMITS, archive_bytes=2 * settings.LIMITS.expanded_bytes + 16 * MIB)


def _blob_name(key: str) -> str:
    return f"{_FOLDER}/{key}"
