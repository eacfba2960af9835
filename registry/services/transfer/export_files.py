"""Files of an export on disk: a zip or a directory with a record."""

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from registry.core.archive import export_record
from registry.core.archive.export_record import RECORD
from registry.core.errors import InvalidArchive, TooLarge


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap]:
    """Map a zip into memory."""
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            raise InvalidArchive(f"{path} is empty.")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def record_in_directory(directory: Path) -> bytes | None:
    path = directory / RECORD
    if path.is_symlink() or not path.is_file():
        return None
    if path.stat().st_size > export_record.RECORD_BYTES:
        raise TooLarge(f"{RECORD} has {path.stat().st_size:,} bytes. {export_record.RECORD_BYTES:,} are allowed.")
    return path.read_bytes()


def parts(path: Path) -> dict[str, Any]:
    """Return the optional parts in the record of an export."""
    if path.is_dir():
        record = record_in_directory(path)
    else:
        with mapped(path) as data:
            record = export_record.record_in_zip(data)
    return export_record.read_parts(record) if record is not None else {}
