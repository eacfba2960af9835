"""A strict parser for the records of a zip.

Zip programs disagree about ambiguous archives: some trust the central directory, others the local header before each
file. Here every byte must belong to exactly one record, and both headers must agree. Features that a few plain files
do not need are rejected.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from registry.core.errors import InvalidArchive
from registry.core.findings import Finding, Severity
from registry.core.paths import display

Bytes = bytes | mmap.mmap  # a large archive is memory-mapped

STORED, DEFLATED = 0, 8
UTF8_FLAG = 0x0800

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s4B4H3I5H2I")
END = struct.Struct("<4s4H2IH")
_EXTRA = struct.Struct("<HH")
LOCAL_SIGN, CENTRAL_SIGN, END_SIGN = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"

_DESCRIPTOR_SIGN = b"PK\x07\x08"
_ZIP64_LOCATOR_SIGN = b"PK\x06\x07"
_ZIP64_LOCATOR_BYTES = 20
_ENCRYPTED_FLAGS = 0x0001 | 0x0040 | 0x2000
_DESCRIPTOR_FLAG = 0x0008
_KNOWN_FLAGS = UTF8_FLAG | _DESCRIPTOR_FLAG | 0x0006  # 0x0006: compression level
_NEWEST_VERSION = 63  # of the zip format; newer ones may have rules that this module does not know
_ZIP64_EXTRA, _UNICODE_PATH_EXTRA = 0x0001, 0x7075
_LINK_EXTRAS = frozenset({0x000D, 0x756E})  # two old Unix fields that can make a member a link
_MAX16, _MAX32 = 0xFFFF, 0xFFFFFFFF
_MAX_EXTRA_FIELDS = 32  # of one header; zip programs write up to four

_REZIP = "Zip the folder again with the built-in tool of your computer, and upload the new zip."


@dataclass(frozen=True, slots=True)
class Member:
    """An entry of the central directory. `start` is the offset of its compressed data."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    header: int
    start: int

    @property
    def label(self) -> str:
        return _label(self.raw_name)


def refusal(rule: str, message: str, *, member: str = "", fix: str = _REZIP) -> InvalidArchive:
    finding = Finding(rule, Severity.ERROR, member[1:-1], None, message, fix)
    return InvalidArchive(f"{message} Nothing was saved.", findings=[finding])


def end_record(data: Bytes) -> tuple[int, int, int]:
    """Return the start and end of the central directory, and its number of entries."""
    end = data.rfind(END_SIGN)
    if end < 0 or len(data) - end < END.size:
        if data[:4] == LOCAL_SIGN:
            raise refusal("zip-truncated", "The zip is incomplete: its table of contents is missing.")
        raise refusal("zip-not-a-zip", "This file is not a zip.", fix="Zip the folder of the skill and upload that.")
    _, disk, first_disk, here, count, length, start, comment = END.unpack_from(data, end)
    if end + END.size + comment > len(data):
        raise refusal("zip-truncated", "The zip is incomplete: its last record is cut off.")
    if end + END.size + comment < len(data):
        raise refusal("zip-trailing-data", "The zip has extra data after its end.")
    locator = data[max(0, end - _ZIP64_LOCATOR_BYTES) :][:4]
    if locator == _ZIP64_LOCATOR_SIGN or count == _MAX16 or _MAX32 in (length, start):
        raise _zip64()
    if disk or first_disk or here != count:
        raise refusal(
            "zip-multi-disk", "The zip is only one part of several.", fix="Create a single zip and upload that."
        )
    if start + length > end:
        raise refusal("zip-truncated", "The zip is incomplete: its table of contents is cut off.")
    if start + length < end:
        raise _gap()
    return start, end, count


def members(data: Bytes) -> tuple[Member, ...]:
    """Return the entries in the order of the central directory, after comparing each with its local header."""
    start, end, count = end_record(data)
    entries: list[Member] = []
    seen: set[bytes] = set()
    position = start
    for _ in range(count):
        entry, position = _entry(data, position, start, end)
        if entry.raw_name in seen:
            raise refusal("zip-duplicate", f"The zip contains {entry.label} twice.", member=entry.label)
        seen.add(entry.raw_name)
        entries.append(entry)
    if position != end or data.find(END_SIGN, start) != end:
        raise refusal(
            "zip-header-mismatch", "The table of contents of the zip does not have the size that it declares."
        )
    _check_tiling(data, entries, start)
    return tuple(entries)


def _entry(data: Bytes, position: int, start: int, end: int) -> tuple[Member, int]:
    if position + CENTRAL.size > end or data[position : position + 4] != CENTRAL_SIGN:
        raise refusal("zip-truncated", "The table of contents of the zip is damaged.")
    fields = CENTRAL.unpack_from(data, position)
    flags, method, _, _, crc, packed, size, names, extras, comments, disk, _, attributes, header = fields[5:]
    name_at = position + CENTRAL.size
    following = name_at + names + extras + comments
    if following > end:
        raise refusal("zip-truncated", "The table of contents of the zip is damaged.")
    name = data[name_at : name_at + names]
    if disk:
        raise refusal(
            "zip-multi-disk", "The zip is only one part of several.", fix="Create a single zip and upload that."
        )
    if _MAX32 in (packed, size, header):
        raise _zip64()
    _check_supported(name, fields[3], flags, method)
    _check_extra(name, data[name_at + names : name_at + names + extras])
    known = (flags, method, crc, packed, size)
    member = Member(name, *known, attributes >> 16, header, _data_start(data, header, name, known, start))
    return member, following


def _check_supported(name: bytes, version: int, flags: int, method: int) -> None:
    label = _label(name)
    if flags & _ENCRYPTED_FLAGS:
        fix = "Zip the folder without a password."
        raise refusal("zip-encrypted", f"{label} is encrypted.", member=label, fix=fix)
    if version > _NEWEST_VERSION or method not in (STORED, DEFLATED) or flags & ~_KNOWN_FLAGS:
        facts = f"version {version}, method {method}, flags {flags:#06x}"
        message = f"{label} is compressed in an unsupported way ({facts})."
        raise refusal("zip-method", message, member=label, fix="Zip the folder with the standard method (deflate).")


def _check_extra(name: bytes, extra: bytes) -> None:
    """Raise if an extra field changes the size, name or type of a member."""
    label = _label(name)
    for kind, value in _extra_fields(label, extra):
        if kind == _ZIP64_EXTRA:
            raise _zip64()
        if kind in _LINK_EXTRAS:
            raise refusal(
                "zip-link", f"{label} may be a link.", member=label, fix="Replace the link with the file itself."
            )
        if kind == _UNICODE_PATH_EXTRA and value[5:] != name:
            raise refusal("zip-header-mismatch", f"{label} has a second, different name.", member=label)


def _extra_fields(label: str, extra: bytes) -> Iterator[tuple[int, bytes]]:
    position = count = 0
    while position < len(extra):
        start = position + _EXTRA.size
        kind, length = _EXTRA.unpack_from(extra, position) if start <= len(extra) else (0, _MAX16)
        if start + length > len(extra):
            raise refusal("zip-header-mismatch", f"The header of {label} is damaged.", member=label)
        count += 1
        if count > _MAX_EXTRA_FIELDS:
            message = f"{label} has more than {_MAX_EXTRA_FIELDS} extra fields, which is the limit."
            raise refusal("zip-extra-fields", message, member=label)
        yield kind, extra[start : start + length]
        position = start + length


def _data_start(data: Bytes, header: int, name: bytes, known: tuple[int, ...], directory: int) -> int:
    """Return the offset of the compressed data, after comparing the local header with the central directory."""
    label = _label(name)
    if header + LOCAL.size > directory or data[header : header + 4] != LOCAL_SIGN:
        raise refusal("zip-header-mismatch", f"{label} is not at the position that the zip declares.", member=label)
    _, _, flags, method, _, _, crc, packed, size, names, extras = LOCAL.unpack_from(data, header)
    name_at = header + LOCAL.size
    if data[name_at : name_at + names] != name:
        raise refusal("zip-header-mismatch", f"{label} has a different name in its local header.", member=label)
    same = (flags, method) == known[:2]
    for here, there in zip((crc, packed, size), known[2:], strict=True):
        same = same and (here == there or (here == 0 and bool(flags & _DESCRIPTOR_FLAG)))
    if not same and _MAX32 in (packed, size):
        raise _zip64()
    if not same:
        message = f"The two headers of {label} disagree about its size, checksum or method."
        raise refusal("zip-header-mismatch", message, member=label)
    start: int = name_at + names + extras
    _check_extra(name, data[name_at + names : start])
    return start


def _check_tiling(data: Bytes, entries: list[Member], directory: int) -> None:
    """Check that members fill the archive up to the central directory, without gaps or overlaps."""
    position = 0
    in_place = sorted(entries, key=lambda entry: (entry.header, entry.start))
    limits = [*(entry.header for entry in in_place[1:]), directory]
    for entry, limit in zip(in_place, limits, strict=False):
        if entry.header > position:
            raise _gap()
        end = entry.start + entry.packed
        if entry.header < position or end > limit:
            raise refusal("zip-overlap", f"{entry.label} overlaps with another file in the zip.", member=entry.label)
        if entry.flags & _DESCRIPTOR_FLAG:
            end += _descriptor_bytes(data[end:limit], entry)
        position = end
    if position != directory:
        raise _gap()


def _descriptor_bytes(rest: bytes, entry: Member) -> int:
    """Return the length of the data descriptor, which repeats checksum and sizes. Its signature is optional."""
    values = struct.pack("<3I", entry.crc, entry.packed, entry.size)
    for descriptor in (_DESCRIPTOR_SIGN + values, values):
        if rest == descriptor:
            return len(descriptor)
    message = f"The record after {entry.label} disagrees with its size or checksum."
    raise refusal("zip-header-mismatch", message, member=entry.label)


def _label(raw_name: bytes) -> str:
    """Return the name for a message, even if it is not UTF-8."""
    try:
        return display(raw_name.decode())
    except UnicodeDecodeError:
        return repr(raw_name[:80])[1:]


def _gap() -> InvalidArchive:
    return refusal("zip-gap", "The zip contains data that belongs to none of its files.")


def _zip64() -> InvalidArchive:
    return refusal("zip-zip64", "The zip uses the zip64 format, which is for archives of 4 GiB and more.")
