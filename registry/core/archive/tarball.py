"""The files of a .tar.gz, read in the one plain way: every block belongs to an entry, and every entry is a file.

Other sites publish skills this way. What such an archive does not need in order to carry a few files is refused: links,
devices, holes, sizes and names in forms that readers disagree about.
"""

import zlib
from collections.abc import Iterator

from registry.core.archive.zip_records import refusal
from registry.core.errors import InvalidArchive, TooLarge
from registry.core.findings import Finding, Severity
from registry.core.limits import Limits
from registry.core.paths import shown

GZIP_SIGN = b"\x1f\x8b"

_BLOCK = 512
_HEADERS_PER_FILE = 8 * _BLOCK  # its header, a long name in blocks of its own, and the rest of its last block
_RATIO_FROM = 1024 * 1024
_GZIP_BITS = 31
_REGULAR, _DIRECTORY, _PAX, _PAX_GLOBAL, _LONG_NAME = frozenset({b"0", b"\0"}), b"5", b"x", b"g", b"L"
_KINDS = {
    b"1": "a link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"S": "a file with holes",
}
_REPACK = "Pack the directory of the skill again as a zip."
_HARMLESS = frozenset({"path", "comment", "mtime", "atime", "ctime", "uid", "gid", "uname", "gname"})


def unpack(data: bytes, *, limits: Limits) -> dict[str, bytes]:
    """Names and contents, in the order of the archive; the names are not judged yet."""
    files: dict[str, bytes] = {}
    for name, content in _entries(_inflated(data, limits)):
        plain = name.removeprefix("./")
        if plain in files:
            raise _refusal("tar-duplicate", f"The archive holds {shown(plain)} twice.")
        files[plain] = content
    return files


def _inflated(data: bytes, limits: Limits) -> bytes:
    """Stops at the first byte over what so many files of so many bytes can need."""
    most = limits.expanded_bytes + limits.files * _HEADERS_PER_FILE
    if len(data) * limits.ratio < most:
        most = max(len(data) * limits.ratio, _RATIO_FROM)
    inflater = zlib.decompressobj(_GZIP_BITS)
    try:
        raw = inflater.decompress(data, most + 1)
    except zlib.error:
        raise _refusal("tar-damaged", "The archive is damaged: it cannot be inflated.") from None
    if len(raw) > most:
        message = f"This archive opens to more than the {most:,} bytes that are allowed for its size."
        finding = Finding("tar-too-large", Severity.ERROR, "", None, message, "Make it smaller or leave files out.")
        raise TooLarge(f"{message} Nothing was stored.", findings=[finding], actual=len(raw), allowed=most)
    if not inflater.eof or inflater.unused_data:
        raise _refusal("tar-damaged", "The archive ends before or after its data.")
    return raw


def _entries(raw: bytes) -> Iterator[tuple[str, bytes]]:
    position, long_name = 0, ""
    while (header := raw[position : position + _BLOCK]) and header.count(0) != len(header):
        kind, size = header[156:157], _size(header)
        start = position + _BLOCK
        content = raw[start : start + size]
        if len(content) < size:
            raise _refusal("tar-damaged", "The archive ends too early.")
        position = start + -(-size // _BLOCK) * _BLOCK
        if kind in (_PAX, _PAX_GLOBAL):
            said = _records(content)
            long_name = said.get("path", "") if kind == _PAX else ""
        elif kind == _LONG_NAME:
            long_name = _text(content.rstrip(b"\0"))
        else:
            name, long_name = long_name or _name(header), ""
            if kind in _REGULAR and not name.endswith("/"):
                yield name, content
            elif kind not in (_DIRECTORY, *_REGULAR) or size:
                what = _KINDS.get(kind, "of a kind that is not read here")
                raise _refusal("tar-entry", f"{shown(name)} is {what}.")
    if raw[position:].count(0) != len(raw) - position or len(raw) - position < _BLOCK or long_name:
        raise _refusal("tar-damaged", "The archive does not end where it says.")


def _size(header: bytes) -> int:
    """Checks the header too: nothing else in it can be trusted where its sum does not hold."""
    blanked = sum(header) - sum(header[148:156]) + 8 * ord(" ")
    if len(header) < _BLOCK or _octal(header[148:156]) != blanked or not header[257:].startswith(b"ustar"):
        raise _refusal("tar-damaged", "The archive is damaged, or in a form that is not read here.")
    return _octal(header[124:136])


def _octal(field: bytes) -> int:
    digits = field.strip(b" \0")
    if not digits or digits.strip(b"01234567"):
        raise _refusal("tar-damaged", "The archive is damaged, or in a form that is not read here.")
    return int(digits, 8)


def _name(header: bytes) -> str:
    name, prefix = header[:100].partition(b"\0")[0], header[345:500].partition(b"\0")[0]
    is_posix = header[257:263] == b"ustar\0"
    return _text(prefix + b"/" + name if prefix and is_posix else name)


def _records(content: bytes) -> dict[str, str]:
    """The lines `LENGTH KEY=VALUE` of a further header. Those that would change what the next one says are refused."""
    said: dict[str, str] = {}
    while content:
        length, _, rest = content.partition(b" ")
        count = int(length) if length.isdigit() and len(length) < 8 else 0
        line = content[len(length) + 1 : count]
        if not rest or len(content) < count or not line.endswith(b"\n") or b"=" not in line:
            raise _refusal("tar-damaged", "A header of the archive is damaged.")
        key, _, value = _text(line[:-1]).partition("=")
        if key not in _HARMLESS and not key.startswith(("SCHILY.", "LIBARCHIVE.")):
            raise _refusal("tar-header", f"The archive uses {shown(key)}, which is not read here.")
        said[key] = value
        content = content[count:]
    return said


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise _refusal("tar-name-encoding", f"The name {repr(raw[:80])[1:]} is not in UTF-8.") from None


def _refusal(rule: str, message: str) -> InvalidArchive:
    return refusal(rule, message, fix=_REPACK)
