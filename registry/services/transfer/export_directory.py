"""An export as a directory under version control: neither what did not change is touched, nor what is not ours."""

import os
from dataclasses import dataclass
from pathlib import Path

from registry.core.archive import export_record
from registry.core.archive.export_record import RECORD
from registry.core.errors import Conflict, UnsafePath
from registry.lib import files
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.transfer import export_zip
from registry.services.transfer.export_zip import Leaving

# The bytes are what the digests stand for, so git must not change the ends of lines.
_ATTRIBUTES, _AS_IT_IS = ".gitattributes", b"* -text\n"
_OF_GIT = frozenset({".git", "git~1"})


@dataclass(frozen=True, slots=True)
class Written:
    skills: int
    files: int
    removed: tuple[str, ...]


def write(project: Project, directory: Path, *, effective: bool = False, by: Actor) -> Written:
    """Makes the directory hold the project's skills and nothing else of an earlier export of it.

    What stands beside the skills stays: only directories that the record of the earlier export names are ours.
    """
    skills = export_zip.leaving(project, effective=effective, by=by)
    record = export_record.write(skill.entry for skill in skills)
    before = _before(directory)
    for skill in skills:
        _check(directory, skill, before)
    directory.mkdir(parents=True, exist_ok=True)
    removed = sorted(before - {skill.entry.name for skill in skills})
    for name in removed:
        _clear(directory / name, keep=frozenset())
    written = _put(directory / RECORD, record)  # first: whoever is interrupted can begin again
    if not (directory / _ATTRIBUTES).exists():
        written += _put(directory / _ATTRIBUTES, _AS_IT_IS)
    written += sum(_write_skill(directory, skill) for skill in skills)
    return Written(len(skills), written, tuple(removed))


def _before(directory: Path) -> frozenset[str]:
    """The skills of the export that is there; none where the directory is empty, new, or only a repository."""
    record = directory / RECORD
    if record.is_file() and not record.is_symlink():
        return frozenset(export_record.read(record.read_bytes()))
    if directory.exists() and not directory.is_dir():
        raise Conflict(f"{directory} is a file. Name a directory. Nothing was written.")
    if directory.is_dir() and {path.name for path in directory.iterdir()} - {".git"}:
        raise Conflict(
            f"{directory} is not empty and has no {RECORD}, so it is no export. Name an empty directory or a new one. "
            "Nothing was written."
        )
    return frozenset()


def _check(directory: Path, skill: Leaving, before: frozenset[str]) -> None:
    """Refuses what would overwrite something of somebody else, or become part of a repository’s own settings."""
    name, target = skill.entry.name, directory / skill.entry.name
    if target.is_symlink() or (target.exists() and (name not in before or not target.is_dir())):
        raise Conflict(f"{target} is there and not from an export. Move it away. Nothing was written.")
    for file in skill.files:
        if not _OF_GIT.isdisjoint(file.path.casefold().split("/")):
            raise UnsafePath(
                f"{name} has the file {file.path}, which git would take for its own. Delete it from the skill, or "
                "download the zip. Nothing was written."
            )


def _write_skill(directory: Path, skill: Leaving) -> int:
    """How many of its files were not there as they are."""
    target = directory / skill.entry.name
    target.mkdir(exist_ok=True)
    _clear(target, keep=frozenset(file.path for file in skill.files))
    return sum(_put(target / file.path, skill.read(file)) for file in skill.files)


def _clear(target: Path, *, keep: frozenset[str]) -> None:
    """Removes what is none of the files to keep: others, links, and then the directories that are empty."""
    for parent, folders, names in os.walk(target, topdown=False):
        for path in (Path(parent, name) for name in (*names, *folders)):
            is_folder = path.is_dir() and not path.is_symlink()
            if path.is_symlink() or (not is_folder and path.relative_to(target).as_posix() not in keep):
                path.unlink()
            elif is_folder and not any(path.iterdir()):
                path.rmdir()
    if not keep and target.is_dir():
        target.rmdir()


def _put(path: Path, content: bytes) -> int:
    """1 where it was written, 0 where it stood there already; nobody ever sees half a file."""
    plain = path.is_file() and not path.is_symlink()
    if plain and path.stat().st_size == len(content) and path.read_bytes() == content:
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_atomically(path, content)
    return 1
