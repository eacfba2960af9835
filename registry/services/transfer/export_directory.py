"""Export to a directory under version control. Unchanged files and files of others are not touched."""

import os
from dataclasses import dataclass
from pathlib import Path

from registry.core import paths
from registry.core.archive import export_record
from registry.core.archive.export_record import RECORD
from registry.core.errors import Conflict, UnsafePath
from registry.lib import files
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.transfer import export_zip
from registry.services.transfer.export_zip import ExportEntry

# git must not change line endings, because the digests are of the exact bytes.
_GITATTRIBUTES, _KEEP_LINE_ENDINGS = ".gitattributes", b"* -text\n"


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Number of exported skills and written files, and the names of removed skills."""

    skills: int
    files: int
    removed: tuple[str, ...]


def write(project: Project, directory: Path, *, effective: bool = False, by: Actor) -> ExportReport:
    """Write the project's skills to a directory and remove skills of an earlier export.

    Only directories in the record of the earlier export are removed. Everything else in the directory stays.
    """
    skills = export_zip.skills_to_export(project, effective=effective, by=by)
    record = export_zip.record_of(project, skills, effective=effective, by=by)
    before = _exported_names(directory)
    for skill in skills:
        _check(directory, skill, before)
    directory.mkdir(parents=True, exist_ok=True)
    removed = sorted(before - {skill.entry.name for skill in skills})
    for name in removed:
        _clear(directory / name, keep=frozenset())
    written = _write_if_changed(directory / RECORD, record)  # first, so that an interrupted export can be repeated
    if not (directory / _GITATTRIBUTES).exists():
        written += _write_if_changed(directory / _GITATTRIBUTES, _KEEP_LINE_ENDINGS)
    written += sum(_write_skill(directory, skill) for skill in skills)
    return ExportReport(len(skills), written, tuple(removed))


def _exported_names(directory: Path) -> frozenset[str]:
    """Return the skills of the earlier export, or none if the directory is new or empty apart from `.git`."""
    record = directory / RECORD
    if record.is_file() and not record.is_symlink():
        return frozenset(export_record.read(record.read_bytes()))
    if directory.exists() and not directory.is_dir():
        raise Conflict(f"{directory} is a file. Use a directory. Nothing was written.")
    if directory.is_dir() and {path.name for path in directory.iterdir()} - {".git"}:
        raise Conflict(
            f"{directory} is not empty and has no {RECORD}, so it is not an export. Use an empty or new directory. "
            "Nothing was written."
        )
    return frozenset()


def _check(directory: Path, skill: ExportEntry, before: frozenset[str]) -> None:
    """Raise if a skill would overwrite files of others or change the settings of the repository."""
    name, target = skill.entry.name, directory / skill.entry.name
    if target.is_symlink() or (target.exists() and (name not in before or not target.is_dir())):
        raise Conflict(f"{target} exists and is not from an export. Move it away. Nothing was written.")
    for file in skill.files:
        try:
            paths.check(file.path)
        except UnsafePath as error:  # saved before a rule was added
            raise UnsafePath(f"{error.message} It is a file of {name}. Nothing was written.") from error


def _write_skill(directory: Path, skill: ExportEntry) -> int:
    """Return the number of written files."""
    target = directory / skill.entry.name
    target.mkdir(exist_ok=True)
    _clear(target, keep=frozenset(file.path for file in skill.files))
    return sum(_write_if_changed(target / file.path, skill.read(file)) for file in skill.files)


def _clear(target: Path, *, keep: frozenset[str]) -> None:
    """Delete links, files that are not in `keep`, and then empty directories."""
    for parent, folders, names in os.walk(target, topdown=False):
        for path in (Path(parent, name) for name in (*names, *folders)):
            is_folder = path.is_dir() and not path.is_symlink()
            if path.is_symlink() or (not is_folder and path.relative_to(target).as_posix() not in keep):
                path.unlink()
            elif is_folder and not any(path.iterdir()):
                path.rmdir()
    if not keep and target.is_dir():
        target.rmdir()


def _write_if_changed(path: Path, content: bytes) -> int:
    """Return 1 if the file was written, 0 if it already had this content."""
    plain = path.is_file() and not path.is_symlink()
    if plain and path.stat().st_size == len(content) and path.read_bytes() == content:
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_atomically(path, content)
    return 1
