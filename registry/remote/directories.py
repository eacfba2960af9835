"""Directories of skills: read with the digest of every file, and compared by stat signature."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from registry.core.bundle import SKILL_MD, FileEntry, bundle_digest
from registry.core.errors import TooLarge
from registry.core.limits import DEFAULT, Limits

# Windows has no O_NOFOLLOW, and changes line ends without O_BINARY.
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


@dataclass(frozen=True)
class Tree:
    """Content of a skill directory. `kept` has the bytes of SKILL.md and of the requested file, or of all files."""

    manifest: tuple[FileEntry, ...]
    kept: Mapping[str, bytes]

    @cached_property
    def digest(self) -> str:
        return bundle_digest(self.manifest)


def read(directory: Path, *, keep: str | None = SKILL_MD, limits: Limits = DEFAULT) -> Tree | None:
    """Return the tree, or None if there is no skill: no directory, no SKILL.md, or a link or device in it.

    Without `keep`, the bytes of all files are kept. Raise OSError if the directory exists but is unreadable, so that no
    caller overwrites it.
    """
    try:
        if not stat.S_ISDIR(os.lstat(directory).st_mode):
            return None
        files = dict(_walk(os.fspath(directory), "", [limits.files, limits.expanded_bytes], limits))
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
        raise
    except (_Odd, UnicodeError):
        return None
    if SKILL_MD not in files:
        return None
    entries = (FileEntry(path, len(c), hashlib.sha256(c).hexdigest()) for path, c in files.items())
    kept = files if keep is None else {path: files[path] for path in (keep, SKILL_MD) if path in files}
    return Tree(tuple(sorted(entries, key=lambda entry: entry.path.encode())), kept)


Signature = tuple[str, int, int, int, int]  # path, inode, size, mtime, ctime


def signatures(directory: str) -> list[Signature]:
    """Return the signatures of a directory and everything below it. Any change of content or names changes one."""
    result = [signature(directory)]
    with os.scandir(directory) as entries:
        inside = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for path, is_directory in inside:
        result += signatures(path) if is_directory else [signature(path)]
    return result


def signature(path: str) -> Signature:
    status = os.lstat(path)
    return path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def unchanged(signatures_of: Iterable[Signature]) -> bool:
    """Return whether all signatures still hold. Opens no file."""
    try:
        return all(signature(one[0]) == one for one in signatures_of)
    except OSError:
        return False


class _Odd(Exception):
    """A link, a device, or a name that is not valid text."""


def _walk(directory: str, prefix: str, left: list[int], limits: Limits) -> Iterator[tuple[str, bytes]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, f"{path}/", left, limits)
            elif entry.is_file(follow_symlinks=False):
                path.encode()  # raises for names that are not valid text
                content = _content(entry.path, limits.file_bytes)
                left[0] -= 1
                left[1] -= len(content)
                if min(left) < 0:
                    raise TooLarge(
                        f"The cached skill has more than {limits.files:,} files or {limits.expanded_bytes:,} bytes."
                    )
                yield path, content
            else:
                raise _Odd


def _content(path: str, most: int) -> bytes:
    descriptor = os.open(path, _READ_FLAGS)
    try:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise TooLarge(f"A file of the cached skill has {size:,} bytes. {most:,} are allowed.")
        content = os.read(descriptor, size + 1)
        while len(content) < size and (more := os.read(descriptor, size + 1 - len(content))):
            content += more
        return content
    finally:
        os.close(descriptor)
