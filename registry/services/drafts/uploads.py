"""Uploads: a bundle that somebody looks at before they decide. Nothing is in the registry until they confirm.

The bytes wait in blob storage under a random key that only a row of the person names. Both go when the person
confirms, proposes, discards or leaves the page; the worker sweeps what is left after an hour. None of this is a change
of the project, so it is not audited; confirming is, through `bundles.import_bundle`, and proposing is, through
`proposals.propose`. Whoever may propose may upload.
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
class Waiting:
    """An upload with what confirming it would do, and what stands under its name: digest and files, if anything."""

    upload: Upload
    preview: Preview
    seen: str
    before: Mapping[str, bytes]


def opened(files: Mapping[str, bytes], *, folder: bool) -> Bundle:
    """The bundle in what a browser sent: a folder, one zip, or one Markdown file that becomes SKILL.md."""
    if folder:
        return bundle_files.read_folder(files, limits=settings.LIMITS)
    if len(files) != 1:
        raise InvalidArchive(f"{len(files):,} files were sent. Send one zip, one .md file, or one folder.")
    (name, content), *_ = files.items()
    if PurePosixPath(name).suffix.lower() in {".md", ".markdown"}:
        return bundle_files.read_folder({SKILL_MD: content}, limits=settings.LIMITS)
    return bundle_files.read_zip(content, limits=settings.LIMITS)


def receive(project: Project, filename: str, bundle: Bundle, *, now: datetime, by: Actor) -> Upload:
    """Lets a checked bundle wait for a decision, in place of the one the person looked at before."""
    bundles.preview(project, bundle, by=by)
    key = secrets.token_hex(16)
    storages["blobs"].save(_stored(key), ContentFile(bundle_files.write_zip(bundle)))
    upload = Upload(project=project, user_id=_person(by), key=key, filename=paths.display(filename)[1:-1][:255])
    upload.created_at = now
    upload.save(force_insert=True)
    for earlier in _rows(project, by).exclude(pk=upload.pk):
        _forget(earlier)
    return upload


def look(project: Project, key: str, *, by: Actor) -> Waiting:
    """What confirming would do as things stand now."""
    upload = _find(project, key, by)
    bundle = _read(upload)
    preview = bundles.preview(project, bundle, by=by)
    standing = catalog.inspect(project, preview.checked.name)[1] if preview.standing else None
    return Waiting(upload, preview, precedence.digest_of(preview.standing), standing.bundle() if standing else {})


def confirm(project: Project, key: str, *, seen: str, note: str = "", by: Actor) -> Imported:
    """Stores the bundle. Where what it would replace was saved meanwhile, the person looks again first."""
    require_publish(by, project)
    upload = _find(project, key, by)
    imported = bundles.import_bundle(project, _read(upload), seen=seen, note=note, by=by)
    _forget(upload)
    return imported


def propose(project: Project, key: str, *, seen: str, justification: str, by: Actor) -> Proposed:
    """The bundle becomes a proposal, for what the person saw. It is held to the rules of authored content."""
    upload = _find(project, key, by)
    bundle = _read(upload)
    name = bundles.check(bundle, authoring=False).name
    standing = catalog.inspect(project, name)[1] if catalog.find(project.pk, name) else None
    gone = {entry.path: None for entry in standing.files if entry.path not in bundle} if standing else {}
    kind = None if seen else CREATE
    suggestion = Suggestion(name, Edit({**gone, **bundle}), justification, kind=kind, base_digest=seen)
    proposed = proposals.propose(project, suggestion, by=by)
    _forget(upload)
    return proposed


def discard(project: Project, key: str, *, by: Actor) -> None:
    """Forgets an upload; one that is gone already is none to complain about."""
    require(by, roles.PROPOSE, project)
    for upload in _rows(project, by).filter(key=key):
        _forget(upload)


def sweep(*, now: datetime) -> int:
    """Forgets what nobody decided about for an hour."""
    stale = list(Upload.objects.filter(created_at__lt=now - KEPT_FOR))
    for upload in stale:
        _forget(upload)
    return len(stale)


def _person(by: Actor) -> int:
    if by.user_id is None:
        raise Forbidden("Uploads with a preview belong to people. Send the bundle to the API.")
    return by.user_id


def _rows(project: Project, by: Actor) -> QuerySet[Upload]:
    return Upload.objects.filter(project=project, user_id=_person(by))


def _find(project: Project, key: str, by: Actor) -> Upload:
    require(by, roles.PROPOSE, project)
    upload = _rows(project, by).filter(key=key).first()
    if upload is None:
        raise NotFound("This upload is gone: it was stored, discarded, or you left its page. Send it again.")
    return upload


def _forget(upload: Upload) -> None:
    """The bytes first: a row without bytes is swept again, bytes without a row would wait for the clean-up."""
    storages["blobs"].delete(_stored(upload.key))
    Upload.objects.filter(pk=upload.pk).delete()


def _read(upload: Upload) -> Bundle:
    try:
        with storages["blobs"].open(_stored(upload.key), "rb") as file:
            content: bytes = file.read()
    except FileNotFoundError:
        raise NotFound("The bytes of this upload are gone. Send it again.") from None
    return bundle_files.read_zip(content, limits=_ours())


def _ours() -> Limits:
    """What waits is a zip of ours, which does not compress: it may be as long as the files it holds."""
    return replace(settings.LIMITS, archive_bytes=2 * settings.LIMITS.expanded_bytes + 16 * MIB)


def _stored(key: str) -> str:
    return f"{_FOLDER}/{key}"
