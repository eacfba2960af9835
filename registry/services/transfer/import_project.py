"""Import of an exported project. Each skill is checked, versioned and audited like any import."""

import os
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from django.conf import settings
from django.db import transaction

from registry.core import paths
from registry.core.archive import export_record
from registry.core.archive import zip_bundle as bundle_files
from registry.core.archive.export_record import ExportedSkill
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidArchive, NotFound, SkillsiteError, TooLarge, UnsafePath
from registry.models import Project
from registry.services.catalog import catalog
from registry.services.permissions import Actor, require_publish
from registry.services.skills import bundles, skills
from registry.services.transfer import export_files

REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ImportedSkill:
    """Result for one skill. `action` is that of an import, or REFUSED with `reason`."""

    name: str
    action: str
    version: str = ""
    reason: str = ""


def import_skills(
    project: Project, path: Path, *, dry_run: bool = False, note: str = "", gate_reason: str = "", by: Actor
) -> Iterator[ImportedSkill]:
    """Import every skill of a zip or directory and yield the results. A refused skill does not stop the others.

    A skill that was disabled in the exported project is disabled here too, before any agent sees it. `gate_reason` is
    why skills are published although the routing gate refuses them.
    """
    require_publish(by, project)
    exported = _exported_skills(path)
    first = next(exported, None)
    if first is None:
        raise InvalidArchive(f"There is no skill in {path}: no top-level directory has a {SKILL_MD}.")
    written = {"note": note, "gate_reason": gate_reason}
    return (_import(project, skill, dry_run, written, by) for skill in chain([first], exported))


def _exported_skills(path: Path) -> Iterator[ExportedSkill]:
    if path.is_dir():
        return export_record.match_entries(export_files.record_in_directory(path), _directories(path))
    if path.is_file():
        return _in_zip(path)
    raise NotFound(f"There is no file or directory {path}.")


def _in_zip(path: Path) -> Iterator[ExportedSkill]:
    with export_files.mapped(path) as data:
        yield from export_record.read_zip(data, limits=settings.LIMITS)


def _directories(root: Path) -> Iterator[tuple[str, Bundle | SkillsiteError]]:
    for directory in sorted(root.iterdir()):
        if directory.is_dir() and not directory.name.startswith(".") and (directory / SKILL_MD).is_file():
            try:
                paths.check_component(directory.name, what="name")
                yield directory.name, _read(directory)
            except SkillsiteError as error:
                yield directory.name, error


def _read(directory: Path) -> Bundle:
    """Read a skill. Links are refused, because they may lead to other people's files."""
    files = [path for path in _files(directory) if not bundle_files.is_junk(path.name)]
    limits = settings.LIMITS
    if len(files) > limits.files:
        raise TooLarge(f"The directory has {len(files):,} files. {limits.files:,} are allowed.")
    total = sum(path.stat().st_size for path in files)
    if total > limits.expanded_bytes:
        raise TooLarge(f"The files have {total:,} bytes together. {limits.expanded_bytes:,} are allowed.")
    contents = {path.relative_to(directory).as_posix(): path.read_bytes() for path in files}
    return bundle_files.read_folder(contents, limits=limits)


def _files(directory: Path) -> Iterator[Path]:
    if directory.is_symlink():
        raise UnsafePath("The directory is a link. Replace it with the files.")
    for parent, folders, names in os.walk(directory):
        folders.sort()
        for path in (Path(parent, name) for name in (*folders, *sorted(names))):
            shown = paths.display(path.relative_to(directory).as_posix())
            if path.is_symlink():
                raise UnsafePath(f"{shown} is a link. Replace it with the file.")
            if path.is_file():
                yield path
            elif not path.is_dir():
                raise UnsafePath(f"{shown} is not a regular file.")


def _import(
    project: Project, skill: ExportedSkill, dry_run: bool, written: Mapping[str, str], by: Actor
) -> ImportedSkill:
    if isinstance(skill.result, SkillsiteError):
        return ImportedSkill(skill.name, REFUSED, reason=skill.result.message)
    original_version = skill.entry.version if skill.entry else ""
    try:
        if dry_run:
            preview = bundles.preview(project, skill.result, directory=skill.name, was=original_version, by=by)
            return ImportedSkill(preview.checked.name, preview.action, preview.version)
        return _store(project, skill, skill.result, original_version, written, by)
    except SkillsiteError as error:
        return ImportedSkill(skill.name, REFUSED, reason=error.message)


def _store(
    project: Project, skill: ExportedSkill, bundle: Bundle, original_version: str, written: Mapping[str, str], by: Actor
) -> ImportedSkill:
    disable = skill.entry is not None and not skill.entry.enabled
    with transaction.atomic() if disable else nullcontext():
        imported = bundles.import_bundle(project, bundle, directory=skill.name, was=original_version, by=by, **written)
        name = imported.version.skill.name
        if disable and imported.action != bundles.UNCHANGED and catalog.get(project.pk, name).enabled:
            skills.disable(project, name, by=by)
    return ImportedSkill(name, imported.action, imported.version.version)
