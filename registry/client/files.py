"""Files and directories written so that whoever looks, at any moment, finds the old or the new, never a part."""

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from registry.core import paths

_EVERYBODY, _OWNER = 0o666, 0o600


def write(target: Path, content: bytes, *, private: bool = False, sync: bool = True) -> None:
    """One file, atomically; `private` is for this user alone, and with `sync` it is on the disk when this returns."""
    beside = target.with_name(f".skillsite-{secrets.token_hex(8)}")
    handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER if private else _EVERYBODY)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def private_directory(path: Path) -> Path:
    """Made where it is missing, with its parents, for this user alone."""
    for missing in [p for p in (*reversed(path.parents), path) if not p.exists()]:
        missing.mkdir(mode=0o700, exist_ok=True)
    return path


def write_tree(root: Path, files: Mapping[str, bytes], *, sync: bool) -> None:
    """The files of a bundle into a directory that is empty and ours; with `sync` all of it is on the disk after."""
    root = root.resolve()
    directories = {root}
    for relative, content in files.items():
        target = paths.confined(root, relative)
        target.parent.mkdir(parents=True, exist_ok=True)
        directories.update(p for p in target.parents if root in p.parents)
        with target.open("xb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
    if sync:
        for directory in directories:
            sync_directory(directory)


def read_tree(root: Path) -> dict[str, bytes] | None:
    """Every file below a directory; None where something in it is neither a file nor a directory, or cannot be read."""
    found: dict[str, bytes] = {}
    try:
        for directory, below, names in os.walk(root, onerror=_raise):
            here = Path(directory)
            if any((here / name).is_symlink() for name in below):
                return None
            for name in names:
                file = here / name
                if file.is_symlink() or not file.is_file():
                    return None
                found[file.relative_to(root).as_posix()] = file.read_bytes()
    except OSError:
        return None
    return found


def remove(path: Path) -> None:
    """Whatever is there; a link is removed, and not what it leads to."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def sync_directory(path: Path) -> None:
    """Names become lasting with their directory; systems that cannot open one write them through."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return
    finally:
        os.close(handle)


def _raise(error: OSError) -> None:
    raise error
