"""Files in the directory of one built-in skill. Links that leave the root are never followed."""

import os
import stat
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
    """Return a file name with bytes that are not UTF-8 escaped, for reports."""
    return os.fsencode(name).decode(errors="backslashreplace")


def stamp(root: Path, directory: Path) -> Stamp | None:
    """Return the stat of every file of a skill, or None where the directory is not a skill."""
    if directory.is_symlink() and not directory.is_file():
        paths.resolve_inside(root, directory.name)
    if not directory.is_dir():
        return None
    if not (directory / SKILL_MD).is_file():
        _check_misspelt(directory)
        return None
    rows = []
    start = len(str(directory)) + 1
    for path in _files(root, directory):
        status = os.stat(path)  # noqa: PTH116 - a Path takes longer than the call
        rows.append((path[start:], status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    return tuple(sorted(rows))


def read_all(root: Path, directory: Path, before: Stamp, limits: Limits) -> tuple[Stamp, dict[str, bytes]]:
    """Return all files as of one moment: read again if a file changed meanwhile, and give up after some attempts.

    `before` is the stamp of the directory a moment ago.
    """
    for _ in range(_ATTEMPTS):
        files = _contents(root, directory, before, limits)
        after = stamp(root, directory) or ()
        if after == before:
            return before, files
        before = after
    raise Conflict("The files are changing. They are read again at the next check.", file="")


def read(root: Path, directory: Path, relative: str, most: int) -> bytes:
    """Read at most `most` + 1 bytes. Refuse a link that appeared since the path was checked."""
    path = _confined(root, directory, directory / relative)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most + 1)


def _check_misspelt(directory: Path) -> None:
    """Report a directory that was meant to be a skill, such as one with `skill.md`, instead of ignoring it."""
    for name in sorted(child.name for child in directory.iterdir()):
        if name == SKILL_MD:
            raise UnsafePath(f"{SKILL_MD} is not a regular file. Replace it with the file itself.", file=SKILL_MD)
        if name.lower() == SKILL_MD.lower():
            message = f"The directory has {name} instead of {SKILL_MD}."
            finding = Finding("skill-md-missing", Severity.ERROR, name, None, message, f"Rename it to {SKILL_MD}.")
            raise InvalidSkill(message, findings=[finding])


def _files(root: Path, directory: Path) -> Iterator[str]:
    """Yield the paths of the files of a skill. Texts, because this runs for every skill every few seconds."""
    for parent, folders, names in os.walk(directory, onerror=_raise):
        folders[:] = [folder for folder in folders if folder not in {"__pycache__", "__MACOSX", ".git"}]
        for folder in folders:
            if Path(parent, folder).is_symlink():
                file = Path(parent, folder).relative_to(directory).as_posix()
                raise UnsafePath(f"{file} is a link to a directory. Replace it with the files themselves.", file=file)
        for name in names:
            path = f"{parent}/{name}"
            if bundles.is_junk(name) or name == ".git":  # the file of a submodule or a worktree
                continue
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                _confined(root, directory, Path(path))
            elif not stat.S_ISREG(mode):
                file = Path(path).relative_to(directory).as_posix()
                raise UnsafePath(f"{file} is not a regular file.", file=file)
            yield path


def _raise(error: OSError) -> None:
    """Let `os.walk` fail on a folder that can't be listed, instead of skipping it."""
    raise error


def _confined(root: Path, directory: Path, path: Path) -> Path:
    try:
        return paths.resolve_inside(root, path.relative_to(root).as_posix())
    except UnsafePath as error:
        file = path.relative_to(directory).as_posix()
        raise UnsafePath(error.message, findings=error.findings, file=file) from error


def _contents(root: Path, directory: Path, stamp: Stamp, limits: Limits) -> dict[str, bytes]:
    if len(stamp) > limits.files:
        raise TooLarge(f"The directory has {len(stamp):,} files. At most {limits.files:,} are allowed.")
    files: dict[str, bytes] = {}
    total = 0
    for relative, *_ in stamp:
        content = read(root, directory, relative, limits.file_bytes)
        if len(content) > limits.file_bytes:
            raise TooLarge(f"{relative} is larger than the {limits.file_bytes:,} bytes allowed.", file=relative)
        total += len(content)
        if total > limits.expanded_bytes:
            raise TooLarge(f"The directory is larger than the {limits.expanded_bytes:,} bytes allowed.")
        files[relative] = content
    return files
