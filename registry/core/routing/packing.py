"""Dataclasses of strings and arrays as bytes, with a checksum.

The form is: a checksum of the rest, the length of a JSON header, the header, and the arrays one after another.
"""

import json
import struct
import zlib
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

_PREFIX = struct.Struct("<II")
_KINDS = {"u8": np.uint64, "f2": np.float16, "u1": np.uint8, "i1": np.int8}
_NAMES = {np.dtype(kind): name for name, kind in _KINDS.items()}
Packed = TypeVar("Packed")


class Damaged(ValueError):
    """Stored bytes are not what was written, or were written by another version."""


def pack(form: str, value: Any) -> bytes:
    header: dict[str, Any] = {"format": form}
    arrays: list[bytes] = []
    for field in fields(value):
        content = getattr(value, field.name)
        if isinstance(content, np.ndarray):
            header[field.name] = {"kind": _NAMES[content.dtype], "shape": content.shape}
            arrays.append(np.ascontiguousarray(content).tobytes())
        else:
            header[field.name] = content
    written = json.dumps(header, ensure_ascii=True, separators=(",", ":")).encode()
    body = _PREFIX.pack(0, len(written))[4:] + written + b"".join(arrays)
    return struct.pack("<I", zlib.crc32(body)) + body


def unpack(form: str, kind: type[Packed], content: bytes) -> Packed:
    """Return an instance of `kind`. Raise Damaged for bytes that `pack` did not write."""
    if len(content) < _PREFIX.size:
        raise Damaged("The stored analysis is too short.")
    checksum, length = _PREFIX.unpack_from(content)
    if zlib.crc32(memoryview(content)[4:]) != checksum:
        raise Damaged("The checksum of the stored analysis is wrong.")
    try:
        header = json.loads(content[_PREFIX.size : _PREFIX.size + length])
        if header.pop("format") != form:
            raise Damaged("The stored analysis is of another version.")
        return kind(**_values(header, content, _PREFIX.size + length))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise Damaged("The stored analysis has an unknown form.") from error


def _values(header: dict[str, Any], content: bytes, start: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, entry in header.items():
        if isinstance(entry, dict):
            count = int(np.prod(entry["shape"]))
            values[name] = np.frombuffer(content, _KINDS[entry["kind"]], count, start).reshape(entry["shape"])
            start += values[name].nbytes
        else:
            values[name] = tuple(entry) if isinstance(entry, list) else entry
    if start != len(content):
        raise Damaged("The stored analysis has a wrong length.")
    return values
