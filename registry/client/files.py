"""Directories of skills on this machine."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from registry.core import paths
from registry.core.bundle import FileEntry
from registry.lib import files


def write_tree(root: Path, bundle: Mapping[str, bytes], *, private: bool, durable: bool) -> None:
    """Create `root` with the files of a bundle. Raise UnsafePath, and write nothing, if a path leads outside of it."""
    for relative in bundle:
        paths.resolve_inside(root, relative)
    files.write_tree(root, bundle, private=private, durable=durable)


def read_tree(root: Path) -> dict[str, bytes] | None:
    """Return every file below a directory, or None if it holds a link or a device or cannot be read."""
    content: dict[str, bytes] = {}
    try:
        for relative, file in _regular_files(root):
            content[relative] = file.read()
    except OSError:
        return None
    return content


def list_tree(root: Path) -> list[FileEntry] | None:
    """Return every file below a directory with its digest, or None where `read_tree` does. Contents are not kept."""
    entries: list[FileEntry] = []
    try:
        for relative, file in _regular_files(root):
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            entries.append(FileEntry(relative, file.tell(), digest))
    except OSError:
        return None
    return entries


def read_limited(path: Path, limit: int) -> bytes:
    """Return the content of a file. Raise OSError if it is a link or a device, or has more than `limit` bytes."""
    with _opened(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes", str(path))
    return content


def _regular_files(root: Path) -> Iterator[tuple[str, BufferedReader]]:
    for directory, folders, names in os.walk(root, onerror=_raise):
        parent = Path(directory)
        for name in folders:
            if (parent / name).is_symlink():
                raise _not_a_file(parent / name)
        for name in names:
            with _opened(parent / name) as file:
                yield (parent / name).relative_to(root).as_posix(), file


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """Open a regular file. A link is not followed, and a pipe does not block."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    if path.is_symlink():  # Windows has no O_NOFOLLOW
        raise _not_a_file(path)
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise _not_a_file(path)
        yield file


def _not_a_file(path: Path) -> OSError:
    return OSError(errno.EINVAL, "it is a link or a device instead of a file", str(path))


def _raise(error: OSError) -> None:
    raise error
