"""The files of one skill's directory: found, stamped and read, never through a link that leaves its root."""

import os
from collections.abc import Iterator
from pathlib import Path

from registry.core import paths
from registry.core.archive import zip_bundle as bundles
from registry.core.bundle import SKILL_MD
from registry.core.errors import Conflict, InvalidSkill, TooLarge, UnsafePath
from registry.core.findings import Finding, Severity
from registry.core.limits import Limits

Stamp = tuple[tuple[str, int, int, int, int], ...]

_ATTEMPTS = 3


def printable(name: str) -> str:
    """The name of a file for a report: bytes in it that are not UTF-8 could not be sent."""
    return os.fsencode(name).decode(errors="backslashreplace")


def stamp(root: Path, directory: Path) -> Stamp | None:
    """The stat of every file of a skill; None where the directory is none."""
    if directory.is_symlink() and not directory.is_file():
        paths.resolve_inside(root, directory.name)
    if not directory.is_dir():
        return None
    if not (directory / SKILL_MD).is_file():
        _check_misspelt(directory)
        return None
    rows = []
    for path in _files(root, directory):
        status = path.stat()
        relative = path.relative_to(directory).as_posix()
        rows.append((relative, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    return tuple(sorted(rows))


def read_all(root: Path, directory: Path, limits: Limits) -> tuple[Stamp, dict[str, bytes]]:
    """Every file as it stands at one moment. Files of two moments together were never a skill of anybody."""
    for _ in range(_ATTEMPTS):
        before = stamp(root, directory) or ()
        files = _contents(root, directory, before, limits)
        if stamp(root, directory) == before:
            return before, files
    raise Conflict("The files are being written. They are read again at the next look.", file="")


def read(root: Path, directory: Path, relative: str, most: int) -> bytes:
    """At most one byte more than `most`, never through a link that appeared since the path was checked."""
    path = _confined(root, directory, directory / relative)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most + 1)


def _check_misspelt(directory: Path) -> None:
    """Refuses what was meant to be a skill: agents would miss it, and nobody would be told."""
    for name in sorted(child.name for child in directory.iterdir()):
        if name == SKILL_MD:
            raise UnsafePath(f"{SKILL_MD} is not an ordinary file. Put the file itself there.", file=SKILL_MD)
        if name.lower() == SKILL_MD.lower():
            message = f"There is no {SKILL_MD}, but there is {name}."
            finding = Finding("skill-md-missing", Severity.ERROR, name, None, message, f"Rename it to {SKILL_MD}.")
            raise InvalidSkill(message, findings=[finding])


def _files(root: Path, directory: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(directory, onerror=_raise):
        folders[:] = [folder for folder in folders if folder not in {"__pycache__", "__MACOSX", ".git"}]
        for folder in folders:
            if Path(parent, folder).is_symlink():
                file = Path(parent, folder).relative_to(directory).as_posix()
                raise UnsafePath(f"{file} is a link to a directory. Put the files themselves there.", file=file)
        for name in names:
            path = Path(parent, name)
            if bundles.is_junk(name):
                continue
            if path.is_symlink():
                _confined(root, directory, path)
            elif not path.is_file():
                file = path.relative_to(directory).as_posix()
                raise UnsafePath(f"{file} is not an ordinary file.", file=file)
            yield path


def _raise(error: OSError) -> None:
    """A folder that cannot be listed is a fault of the skill, not a skill without the folder."""
    raise error


def _confined(root: Path, directory: Path, path: Path) -> Path:
    try:
        return paths.resolve_inside(root, path.relative_to(root).as_posix())
    except UnsafePath as error:
        file = path.relative_to(directory).as_posix()
        raise UnsafePath(error.message, findings=error.findings, file=file) from error


def _contents(root: Path, directory: Path, found: Stamp, limits: Limits) -> dict[str, bytes]:
    if len(found) > limits.files:
        raise TooLarge(f"The directory holds {len(found):,} files. {limits.files:,} are allowed.")
    files: dict[str, bytes] = {}
    total = 0
    for relative, *_ in found:
        content = read(root, directory, relative, limits.file_bytes)
        if len(content) > limits.file_bytes:
            raise TooLarge(f"{relative} is larger than the {limits.file_bytes:,} bytes allowed.", file=relative)
        total += len(content)
        if total > limits.expanded_bytes:
            raise TooLarge(f"The directory holds more than the {limits.expanded_bytes:,} bytes allowed.")
        files[relative] = content
    return files
