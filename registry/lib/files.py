"""Durable file operations: atomic writes, fsync, private directories, directory trees."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

TEMPORARY_PREFIX = ".new-"
PRIVATE_DIRECTORY, PRIVATE_FILE = 0o700, 0o600
_DIRECTORY, _FILE = 0o777, 0o666

# Some network volumes do not support fsync on a directory and do not need it.
_FSYNC_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP)


def write_atomically(
    target: Path,
    content: bytes | Iterable[bytes],
    *,
    mode: int = _FILE,
    prefix: str = TEMPORARY_PREFIX,
    staging: Path | None = None,
    durable: bool = True,
) -> None:
    """Replace `target` in one step: readers see the old content or the new, never a part.

    The content goes to a temporary file first, in `staging` or beside the target. `staging` must be on the same disk.
    If `durable`, the file and its name are on disk on return.
    """
    temporary = sibling(staging / target.name if staging else target, prefix)
    try:
        _write_new(temporary, content, mode, durable)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(target.parent)


def write_tree(directory: Path, files: Mapping[str, bytes], *, private: bool, durable: bool) -> None:
    """Create `directory` and write `files` below it. The caller must have checked that the relative paths are safe."""
    mode = PRIVATE_DIRECTORY if private else _DIRECTORY
    directory.mkdir(mode=mode)
    created = {directory}
    for relative, content in files.items():
        target = directory / relative
        for parent in (directory / path for path in reversed(target.relative_to(directory).parents[:-1])):
            if parent not in created:
                parent.mkdir(mode=mode)
                created.add(parent)
        _write_new(target, content, PRIVATE_FILE if private else _FILE, durable)
    if durable:
        for path in created:
            sync_directory(path)


def make_directories(path: Path, *, mode: int = PRIVATE_DIRECTORY, durable: bool = False) -> Path:
    """Create `path` and its missing parents, all with `mode`. `Path.mkdir(parents=True)` would not."""
    for missing in reversed([parent for parent in (path, *path.parents) if not parent.is_dir()]):
        missing.mkdir(mode=mode, exist_ok=True)
        if durable:
            sync_directory(missing.parent)
    return path


def sync_directory(path: Path) -> None:
    """Flush the names in a directory to disk."""
    if os.name == "nt":  # Windows cannot open a directory, and writes its entries through
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _FSYNC_UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


def sibling(path: Path, prefix: str) -> Path:
    """Return an unused name in the same directory, so that renaming it to `path` stays on one disk."""
    return path.with_name(f"{prefix}{secrets.token_hex(8)}")


def remove(path: Path) -> None:
    """Delete a file or a directory tree. A symbolic link is deleted, its target is not."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def _write_new(path: Path, content: bytes | Iterable[bytes], mode: int, durable: bool) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.writelines((content,) if isinstance(content, bytes) else content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
