"""Directories of skills on this machine."""

import os
from collections.abc import Mapping
from pathlib import Path

from registry.core import paths
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
        for directory, folders, names in os.walk(root, onerror=_raise):
            parent = Path(directory)
            if any((parent / name).is_symlink() for name in folders):
                return None
            for name in names:
                file = parent / name
                if file.is_symlink() or not file.is_file():
                    return None
                content[file.relative_to(root).as_posix()] = file.read_bytes()
    except OSError:
        return None
    return content


def _raise(error: OSError) -> None:
    raise error
