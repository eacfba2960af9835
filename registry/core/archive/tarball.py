"""A strict reader for .tar.gz archives, which other sites publish skills in.

Only regular files and directories are accepted. Links, devices, sparse files, and sizes or names in forms that tar
programs disagree about are rejected.
"""

import zlib
from collections.abc import Iterator

from registry.core.archive.zip_records import refusal
from registry.core.errors import InvalidArchive, TooLarge
from registry.core.findings import Finding, Severity
from registry.core.limits import Limits
from registry.core.paths import display

GZIP_SIGN = b"\x1f\x8b"

_BLOCK = 512
_BLOCKS_PER_FILE = 8  # header, long name, and padding of the last block
_HEADER_BYTES = 4 * 1024  # of pax headers and long names, for each file that is allowed
_RATIO_FROM = 1024 * 1024
_GZIP_BITS = 31
_REGULAR, _DIRECTORY, _PAX, _PAX_GLOBAL, _LONG_NAME = frozenset({b"0", b"\0"}), b"5", b"x", b"g", b"L"
_METADATA = frozenset({_PAX, _PAX_GLOBAL, _LONG_NAME})
_KINDS = {
    b"1": "a link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"S": "a sparse file",
}
_LENGTH_DIGITS = 7
_REPACK = "Pack the folder of the skill again, as a zip file."
_HARMLESS = frozenset({"path", "comment", "mtime", "atime", "ctime", "uid", "gid", "uname", "gname"})


def unpack(data: bytes, *, limits: Limits) -> dict[str, bytes]:
    """Return contents by name, in the order of the archive. The names are not validated."""
    files: dict[str, bytes] = {}
    for name, content in _entries(_decompress(data, limits), limits):
        plain = name.removeprefix("./")
        if plain in files:
            raise _refusal("tar-duplicate", f"The archive contains {display(plain)} twice.")
        files[plain] = content
    return files


def _decompress(data: bytes, limits: Limits) -> bytes:
    """Decompress, but never more than the limits allow for an archive of this size."""
    limit = limits.expanded_bytes + limits.files * _BLOCKS_PER_FILE * _BLOCK
    if len(data) * limits.ratio < limit:
        limit = max(len(data) * limits.ratio, _RATIO_FROM)
    inflater = zlib.decompressobj(_GZIP_BITS)
    try:
        raw = inflater.decompress(data, limit + 1)
    except zlib.error:
        raise _refusal("tar-damaged", "The archive is damaged and cannot be decompressed.") from None
    if len(raw) > limit:
        message = f"This archive expands to more than {limit:,} bytes. No more are allowed for its size."
        finding = Finding("tar-too-large", Severity.ERROR, "", None, message, "Make the files smaller or remove some.")
        raise TooLarge(f"{message} Nothing was saved.", findings=[finding], actual=len(raw), allowed=limit)
    if not inflater.eof or inflater.unused_data:
        raise _refusal("tar-damaged", "The archive is incomplete or has extra data at the end.")
    return raw


def _entries(raw: bytes, limits: Limits) -> Iterator[tuple[str, bytes]]:
    position, long_name = 0, ""
    entries = header_bytes = 0
    while (header := raw[position : position + _BLOCK]) and header.count(0) != len(header):
        kind, size = header[156:157], _size(header)
        entries += 1
        header_bytes += size if kind in _METADATA else 0
        _check_limit(entries, limits.files * _BLOCKS_PER_FILE, "entries")
        _check_limit(header_bytes, limits.files * _HEADER_BYTES, "bytes of headers")
        start = position + _BLOCK
        content = raw[start : start + size]
        if len(content) < size:
            raise _refusal("tar-damaged", "The archive is incomplete.")
        position = start + -(-size // _BLOCK) * _BLOCK
        if kind in (_PAX, _PAX_GLOBAL):
            records = _records(content)
            long_name = records.get("path", "") if kind == _PAX else ""
        elif kind == _LONG_NAME:
            long_name = _text(content.rstrip(b"\0"))
        else:
            name, long_name = long_name or _name(header), ""
            if kind in _REGULAR and not name.endswith("/"):
                yield name, content
            elif kind not in (_DIRECTORY, *_REGULAR) or size:
                what = _KINDS.get(kind, "of an unsupported type")
                raise _refusal("tar-entry", f"{display(name)} is {what}.")
    if raw[position:].count(0) != len(raw) - position or len(raw) - position < _BLOCK or long_name:
        raise _refusal("tar-damaged", "The archive has extra data at the end or is incomplete.")


def _size(header: bytes) -> int:
    """Return the size of an entry, after checking the checksum of its header."""
    blanked = sum(header) - sum(header[148:156]) + 8 * ord(" ")
    if len(header) < _BLOCK or _octal(header[148:156]) != blanked or not header[257:].startswith(b"ustar"):
        raise _refusal("tar-damaged", "The archive is damaged or in an unsupported format.")
    return _octal(header[124:136])


def _octal(field: bytes) -> int:
    digits = field.strip(b" \0")
    if not digits or digits.strip(b"01234567"):
        raise _refusal("tar-damaged", "The archive is damaged or in an unsupported format.")
    return int(digits, 8)


def _name(header: bytes) -> str:
    name, prefix = header[:100].partition(b"\0")[0], header[345:500].partition(b"\0")[0]
    is_posix = header[257:263] == b"ustar\0"
    return _text(prefix + b"/" + name if prefix and is_posix else name)


def _records(content: bytes) -> dict[str, str]:
    """Return the `LENGTH KEY=VALUE` records of a pax header. Raise for keys that change the meaning of an entry."""
    records: dict[str, str] = {}
    position = 0
    while position < len(content):
        space = content.find(b" ", position, position + _LENGTH_DIGITS + 1)
        length = content[position:space] if space >= 0 else b""
        end = position + (int(length) if length.isdigit() else 0)
        line = content[space + 1 : end]
        if space < 0 or len(content) < end or not line.endswith(b"\n") or b"=" not in line:
            raise _refusal("tar-damaged", "A header of the archive is damaged.")
        key, _, value = _text(line[:-1]).partition("=")
        if key not in _HARMLESS and not key.startswith(("SCHILY.", "LIBARCHIVE.")):
            raise _refusal("tar-header", f"The archive uses {display(key)}, which is not supported.")
        records[key] = value
        position = end
    return records


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise _refusal("tar-name-encoding", f"The name {repr(raw[:80])[1:]} is not in UTF-8.") from None


def _check_limit(actual: int, allowed: int, what: str) -> None:
    if actual > allowed:
        message = f"The archive has more than {allowed:,} {what}, which is the limit."
        finding = Finding("tar-too-large", Severity.ERROR, "", None, message, _REPACK)
        raise TooLarge(f"{message} Nothing was saved.", findings=[finding], actual=actual, allowed=allowed)


def _refusal(rule: str, message: str) -> InvalidArchive:
    return refusal(rule, message, fix=_REPACK)
