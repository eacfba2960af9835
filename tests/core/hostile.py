"""Hostile zips, built record by record, for every interface that accepts uploads."""

import stat
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache

STORED, DEFLATED = 0, 8
ENCRYPTED, DESCRIPTOR, UTF8 = 0x0001, 0x0008, 0x0800
SKILL = b"---\nname: demo\ndescription: Shows things.\n---\nDo it.\n"
MIB = 1024 * 1024


@dataclass(frozen=True)
class Entry:
    """A member. `central` and `local` overwrite fields in only one of its two headers."""

    name: bytes
    content: bytes = b""
    method: int = STORED
    flags: int = 0
    mode: int = stat.S_IFREG | 0o644
    central: dict[str, int] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)
    local_name: bytes | None = None
    extra: bytes = b""
    local_extra: bytes = b""
    comment: bytes = b""
    descriptor: bytes | None = None
    packed: bytes | None = None

    def packed_bytes(self) -> bytes:
        if self.packed is not None:
            return self.packed
        return deflated(self.content) if self.method == DEFLATED else self.content

    def fields(self) -> dict[str, int]:
        packed = self.packed_bytes()
        return {"flags": self.flags, "method": self.method, "crc": zlib.crc32(self.content),
                "packed": len(packed), "size": len(self.content)}  # fmt: skip


@cache
def deflated(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def extra_field(kind: int, value: bytes) -> bytes:
    return struct.pack("<HH", kind, len(value)) + value


def local_record(entry: Entry) -> bytes:
    name = entry.name if entry.local_name is None else entry.local_name
    f = entry.fields()
    if entry.flags & DESCRIPTOR:
        f |= {"crc": 0, "packed": 0, "size": 0}
    f |= entry.local
    header = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, f["flags"], f["method"], 0, 33,
                         f["crc"], f["packed"], f["size"], len(name), len(entry.local_extra))  # fmt: skip
    return header + name + entry.local_extra + entry.packed_bytes() + descriptor_of(entry)


def descriptor_of(entry: Entry) -> bytes:
    if entry.descriptor is not None:
        return entry.descriptor
    if not entry.flags & DESCRIPTOR:
        return b""
    f = entry.fields()
    return struct.pack("<4s3I", b"PK\x07\x08", f["crc"], f["packed"], f["size"])


def central_record(entry: Entry, offset: int) -> bytes:
    f = entry.fields() | {"disk": 0, "offset": offset} | entry.central
    header = struct.pack("<4s4B4H3I5H2I", b"PK\x01\x02", 20, 3, 20, 0, f["flags"], f["method"], 0, 33,
                         f["crc"], f["packed"], f["size"], len(entry.name), len(entry.extra),
                         len(entry.comment), f["disk"], 0, entry.mode << 16, f["offset"])  # fmt: skip
    return header + entry.name + entry.extra + entry.comment


def archive(
    *entries: Entry,
    prefix: bytes = b"",
    gap: bytes = b"",
    suffix: bytes = b"",
    comment: bytes = b"",
    **end: int,
) -> bytes:
    """Return a zip. `prefix` shifts all offsets, and `end` overwrites fields of the last record."""
    body, table = prefix, b""
    for entry in entries:
        table += central_record(entry, len(body))
        body += local_record(entry)
    body += gap
    f = {"disk": 0, "first_disk": 0, "here": len(entries), "count": len(entries),
         "length": len(table), "start": len(body), "comment": len(comment)} | end  # fmt: skip
    last = struct.pack("<4s4H2IH", b"PK\x05\x06", f["disk"], f["first_disk"], f["here"], f["count"],
                       f["length"], f["start"], f["comment"])  # fmt: skip
    return body + table + last + comment + suffix


def skill_and(*entries: Entry, **options: bytes) -> bytes:
    return archive(Entry(b"SKILL.md", SKILL), *entries, **options)


def tree(*names: str) -> bytes:
    """Return a valid zip of files with these names. A name with a trailing slash is a directory."""
    return archive(*(
        Entry(n.encode(), b"" if n.endswith("/") else SKILL, DEFLATED if not n.endswith("/") else STORED,
              mode=stat.S_IFDIR | 0o755 if n.endswith("/") else stat.S_IFREG | 0o644)
        for n in names
    ))  # fmt: skip


def overlapping() -> bytes:
    """Return a zip whose second member is inside the compressed data of the first."""
    inner = Entry(b"inner.txt", b"inside")
    outer = Entry(b"SKILL.md", local_record(inner))
    body = local_record(outer)
    table = central_record(outer, 0) + central_record(inner, body.index(local_record(inner)))
    return body + table + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 2, 2, len(table), len(body), 0)


def twice_listed(name: bytes) -> bytes:
    """Return a zip with one member that the central directory lists under two names."""
    member = Entry(b"SKILL.md", SKILL)
    body = local_record(member)
    table = central_record(member, 0) + central_record(replace(member, name=name), 0)
    return body + table + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 2, 2, len(table), len(body), 0)


def with_zip64_end() -> bytes:
    plain = skill_and()
    end = plain.rindex(b"PK\x05\x06")
    record = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 0, 0)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
    return plain[:end] + record + locator + plain[end:]


def _named(name: bytes, **options: int) -> bytes:
    return skill_and(Entry(name, b"x", **options))


def _moded(kind: int) -> bytes:
    return skill_and(Entry(b"thing", b"target", mode=kind | 0o777))


def _many(count: int, template: str) -> Iterable[Entry]:
    return (Entry(template.format(n).encode(), b"") for n in range(count))


_ZEROS = Entry(b"zeros", bytes(2 * MIB), DEFLATED)
_LARGE = {"size": 16 * MIB}
_ZIP64_SIZES = extra_field(0x0001, struct.pack("<2Q", 1, 1))
_OTHER_NAME = extra_field(0x7075, b"\x01" + struct.pack("<I", zlib.crc32(b"a.md")) + b"../b.md")

# Every archive here is refused under the default limits. RULES has the rule for each.
_REFUSED: dict[str, tuple[str, bytes]] = {
    # Not one skill, or not where it has to be.
    "empty file": ("zip-not-a-zip", b""),
    "not a zip": ("zip-not-a-zip", b"<html>404</html>"),
    "empty zip": ("root-missing", archive()),
    "no SKILL.md": ("root-missing", tree("README.md", "docs/a.md")),
    "only junk": ("root-missing", tree("__MACOSX/._a", ".DS_Store", "._SKILL.md")),
    "two candidates": ("root-ambiguous", tree("one/SKILL.md", "two/SKILL.md")),
    "two levels deep": ("root-too-deep", tree("repo/skills/SKILL.md")),
    "file beside the wrapper": ("root-outside", tree("demo/SKILL.md", "notes.txt")),
    "lower-case skill.md": ("root-spelling", tree("skill.md")),
    "lower-case skill.md in a wrapper": ("root-spelling", tree("demo/Skill.md")),
    # Names.
    "traversal": ("path-unsafe", _named(b"../evil")),
    "traversal inside": ("path-unsafe", _named(b"a/../../evil")),
    "traversal in a directory entry": ("path-unsafe", _named(b"../evil/")),
    "traversal among junk": ("path-unsafe", _named(b"__MACOSX/../../._evil")),
    "dot": ("path-unsafe", _named(b"./a")),
    "double slash": ("path-unsafe", _named(b"a//b")),
    "absolute": ("path-unsafe", _named(b"/etc/passwd")),
    "home": ("path-unsafe", _named(b"~/.ssh/config")),
    "backslash": ("path-unsafe", _named(b"..\\evil")),
    "drive letter": ("path-unsafe", _named(b"C:/evil")),
    "alternate stream": ("path-unsafe", _named(b"SKILL.md:hidden")),
    "UNC path": ("path-unsafe", _named(b"//server/share/x")),
    "NUL in the name": ("path-unsafe", _named(b"safe.txt\0../evil")),
    "newline in the name": ("path-unsafe", _named(b"a\nb")),
    "escape in the name": ("path-unsafe", _named(b"a\x1b[2Jb")),
    "right-to-left override": ("path-unsafe", _named("a\u202etxt.exe".encode(), flags=UTF8)),
    "device name": ("path-unsafe", _named(b"docs/NUL.txt")),
    "over-long name": ("path-unsafe", _named(b"a" * 300)),
    "very long name": ("path-unsafe", _named(b"a/" * 30_000 + b"a")),
    "empty name": ("path-unsafe", _named(b"")),
    "not UTF-8 without the flag": ("zip-name-encoding", _named(b"caf\x82.md")),
    "not UTF-8 with the flag": ("zip-name-encoding", _named(b"caf\x82.md", flags=UTF8)),
    "surrogate in UTF-8": ("zip-name-encoding", _named(b"a\xed\xa0\x80b", flags=UTF8)),
    "case collision": ("path-collision", skill_and(Entry(b"a.md"), Entry(b"A.md"))),
    "case collision with SKILL.md": ("path-collision", skill_and(Entry(b"skill.MD"))),
    "composed and decomposed": (
        "path-collision", skill_and(Entry("\u00e9.md".encode()), Entry("e\u0301.md".encode())),
    ),
    "directory in two cases": ("path-collision", skill_and(Entry(b"Docs/", mode=stat.S_IFDIR), Entry(b"docs/a"))),
    "directory composed and decomposed": (
        "path-collision", skill_and(Entry("\u00e9/a".encode()), Entry("e\u0301/b".encode())),
    ),
    "file below SKILL.md": ("path-collision", skill_and(Entry(b"SKILL.md/a"))),
    "file and directory": ("path-collision", skill_and(Entry(b"a"), Entry(b"a/b"))),
    "file and directory entry": ("path-collision", skill_and(Entry(b"a"), Entry(b"A/", mode=stat.S_IFDIR))),
    "duplicate": ("zip-duplicate", skill_and(Entry(b"SKILL.md", b"other"))),
    "duplicate among junk": ("zip-duplicate", skill_and(Entry(b"._a", b"1"), Entry(b"._a", b"2"))),
    # Not ordinary files.
    "symbolic link": ("zip-symlink", _moded(stat.S_IFLNK)),
    "symbolic link as SKILL.md": (
        "zip-symlink", archive(Entry(b"SKILL.md", b"/etc/passwd", mode=stat.S_IFLNK | 0o777)),
    ),
    "symbolic link among junk": ("zip-symlink", skill_and(Entry(b"._a", b"/etc", mode=stat.S_IFLNK))),
    "hard link": (
        "zip-link", skill_and(Entry(b"a.md", extra=extra_field(0x000D, bytes(12) + b"/etc/passwd"))),
    ),
    "many extra fields": ("zip-extra-fields", skill_and(Entry(b"a.md", extra=extra_field(0x5455, b"") * 33))),
    "many local extra fields": (
        "zip-extra-fields", skill_and(Entry(b"a.md", local_extra=extra_field(0x5455, b"") * 33)),
    ),
    "link in the other Unix field": (
        "zip-link", skill_and(Entry(b"a.md", local_extra=extra_field(0x756E, bytes(14) + b"/etc"))),
    ),
    "character device": ("zip-special-file", _moded(stat.S_IFCHR)),
    "block device": ("zip-special-file", _moded(stat.S_IFBLK)),
    "pipe": ("zip-special-file", _moded(stat.S_IFIFO)),
    "socket": ("zip-special-file", _moded(stat.S_IFSOCK)),
    "whiteout": ("zip-special-file", _moded(0o160000)),
    "directory with data": ("zip-directory", skill_and(Entry(b"a/", b"data"))),
    "directory without slash": ("zip-directory", skill_and(Entry(b"a", mode=stat.S_IFDIR | 0o755))),
    "encrypted": ("zip-encrypted", skill_and(Entry(b"a", b"x", flags=ENCRYPTED))),
    "strongly encrypted": ("zip-encrypted", skill_and(Entry(b"a", b"x", flags=0x2000))),
    "deflate64": ("zip-method", skill_and(Entry(b"a", b"x", method=9))),
    "bzip2": ("zip-method", skill_and(Entry(b"a", b"x", method=12))),
    "zstandard": ("zip-method", skill_and(Entry(b"a", b"x", method=93))),
    "AES": ("zip-method", skill_and(Entry(b"a", b"x", method=99))),
    "patched data": ("zip-method", skill_and(Entry(b"a", b"x", flags=0x0020))),
    # Two readings.
    "other name": ("zip-header-mismatch", skill_and(Entry(b"a.md", local_name=b"b.md"))),
    "other size": ("zip-header-mismatch", skill_and(Entry(b"a", b"xy", local={"size": 1}))),
    "other packed size": ("zip-header-mismatch", skill_and(Entry(b"a", b"xy", local={"packed": 1}))),
    "other checksum": ("zip-header-mismatch", skill_and(Entry(b"a", b"xy", local={"crc": 1}))),
    "other method": ("zip-header-mismatch", skill_and(Entry(b"a", b"xy", local={"method": DEFLATED}))),
    "other flags": ("zip-header-mismatch", skill_and(Entry(b"a", b"xy", local={"flags": UTF8}))),
    "second name in an extra field": ("zip-header-mismatch", skill_and(Entry(b"a.md", extra=_OTHER_NAME))),
    "second name in the local header": (
        "zip-header-mismatch", skill_and(Entry(b"a.md", local_extra=_OTHER_NAME)),
    ),
    "second name for one that is not UTF-8": (
        "zip-header-mismatch",
        skill_and(Entry(b"caf\x82.md", extra=extra_field(0x7075, b"\x01" + bytes(4) + "caf\u00e9.md".encode()))),
    ),
    "cut extra field": ("zip-header-mismatch", skill_and(Entry(b"a.md", extra=b"\x01\x00\xff\xff"))),
    "offset to nowhere": ("zip-header-mismatch", skill_and(Entry(b"a", b"x", central={"offset": 3}))),
    "offset past the end": ("zip-header-mismatch", skill_and(Entry(b"a", b"x", central={"offset": 1 << 31}))),
    "wrong descriptor": (
        "zip-header-mismatch",
        skill_and(Entry(b"a", b"xy", flags=DESCRIPTOR, descriptor=b"PK\x07\x08" + bytes(12))),
    ),
    "descriptor of a zip64": (
        "zip-header-mismatch",
        skill_and(Entry(b"a", b"xy", flags=DESCRIPTOR, descriptor=b"PK\x07\x08" + bytes(20))),
    ),
    "descriptor and another size before": (
        "zip-header-mismatch", skill_and(Entry(b"a", b"xy", flags=DESCRIPTOR, local={"size": 7})),
    ),
    "missing descriptor": (
        "zip-header-mismatch", skill_and(Entry(b"a", b"xy", flags=DESCRIPTOR, descriptor=b"")),
    ),
    "hidden entry in the directory": (
        "zip-header-mismatch", archive(Entry(b"SKILL.md", SKILL), Entry(b"a"), count=1, here=1),
    ),
    "end record in an entry comment": (
        "zip-header-mismatch", archive(Entry(b"SKILL.md", SKILL, comment=b"PK\x05\x06" + bytes(18))),
    ),
    "end record in the archive comment": ("zip-truncated", skill_and(comment=b"PK\x05\x06" + b"\xee" * 18)),
    "overlapping members": ("zip-overlap", overlapping()),
    "one header for two names": ("zip-header-mismatch", twice_listed(b"other.md")),
    "one header listed twice": ("zip-duplicate", twice_listed(b"SKILL.md")),
    "packed bytes run into the directory": (
        "zip-overlap",
        archive(Entry(b"SKILL.md", SKILL, central={"packed": 999}, local={"packed": 999})),
    ),
    "trailing data": ("zip-trailing-data", skill_and(suffix=b"#!/bin/sh")),
    "prepended data": ("zip-gap", skill_and(prefix=b"#!/bin/sh\n")),
    "prepended data with old offsets": ("zip-gap", b"MZ" + skill_and()),
    "data between members": ("zip-gap", skill_and(gap=b"hidden")),
    "zip in the comment": ("zip-gap", skill_and(comment=skill_and())),
    "two zips in a row": ("zip-gap", skill_and() + skill_and()),
    "several disks": ("zip-multi-disk", archive(Entry(b"SKILL.md", SKILL), disk=1)),
    "member on another disk": ("zip-multi-disk", archive(Entry(b"SKILL.md", SKILL, central={"disk": 2}))),
    "zip64 end record": ("zip-zip64", with_zip64_end()),
    "zip64 number of entries": ("zip-zip64", archive(Entry(b"SKILL.md", SKILL), count=0xFFFF, here=0xFFFF)),
    "zip64 offset": ("zip-zip64", skill_and(Entry(b"a", b"x", central={"offset": 0xFFFFFFFF}))),
    "zip64 sizes": ("zip-zip64", skill_and(Entry(b"a", b"x", extra=_ZIP64_SIZES))),
    "zip64 sizes in the local header": ("zip-zip64", skill_and(Entry(b"a", b"x", local_extra=_ZIP64_SIZES))),
    # Damage and lies.
    "cut in the middle": ("zip-truncated", skill_and()[:60]),
    "cut before the end": ("zip-truncated", skill_and()[:-1]),
    "more entries than there are": ("zip-truncated", archive(Entry(b"SKILL.md", SKILL), count=9, here=9)),
    "bad checksum": (
        "zip-crc", skill_and(Entry(b"a", b"x", central={"crc": 1}, local={"crc": 1})),
    ),
    "bad checksum among junk": (
        "zip-crc", skill_and(Entry(b"._a", b"x", central={"crc": 1}, local={"crc": 1})),
    ),
    "data in a directory": ("zip-damaged", skill_and(Entry(b"a/", method=DEFLATED, packed=b"\x03\0!"))),
    "damaged deflate": ("zip-damaged", skill_and(Entry(b"a", b"x" * 99, DEFLATED, packed=b"\xff" * 9))),
    "cut deflate": ("zip-damaged", skill_and(Entry(b"a", SKILL, DEFLATED, packed=deflated(SKILL)[:-4]))),
    "two streams of deflate": (
        "zip-damaged", skill_and(Entry(b"a", SKILL * 2, DEFLATED, packed=deflated(SKILL) * 2)),
    ),
    "data after deflate": (
        "zip-damaged", skill_and(Entry(b"a", SKILL, DEFLATED, packed=deflated(SKILL) + b"!")),
    ),
    "promises less than it opens to": (
        "zip-size-mismatch",
        skill_and(Entry(b"a", bytes(2 * MIB), DEFLATED, central={"size": 9}, local={"size": 9})),
    ),
    "promises more than it opens to": (
        "zip-size-mismatch", skill_and(Entry(b"a", b"x", DEFLATED, central={"size": 9}, local={"size": 9})),
    ),
    "stored with two sizes": (
        "zip-size-mismatch", skill_and(Entry(b"a", b"x", central={"size": 9}, local={"size": 9})),
    ),
    # Over a limit.
    "ratio bomb": ("zip-ratio", skill_and(_ZEROS)),
    "ratio bomb among junk": ("zip-ratio", skill_and(Entry(b"__MACOSX/._a", bytes(2 * MIB), DEFLATED))),
    "ratio bomb of small members": (
        "zip-ratio", skill_and(*(Entry(b"%d" % n, bytes(MIB), DEFLATED) for n in range(9))),
    ),
    "too many files": ("too-many-files", skill_and(*_many(1_000, "f{}"))),
    "too many entries": ("zip-entries", skill_and(*_many(4_000, "._f{}"))),
    "file too large": ("file-too-large", skill_and(Entry(b"big", bytes(17 * MIB), DEFLATED))),
    "junk too large": ("file-too-large", skill_and(Entry(b".DS_Store", bytes(17 * MIB), DEFLATED))),
    "too large together": (
        "expanded-too-large",
        skill_and(*(Entry(b"%d" % n, b"", DEFLATED, central=_LARGE, local=_LARGE) for n in range(9))),
    ),
    "SKILL.md too large": ("skill-md-too-large", archive(Entry(b"SKILL.md", b"a" * 512_001, DEFLATED))),
}  # fmt: skip

CORPUS: dict[str, bytes] = {name: data for name, (_, data) in _REFUSED.items()}
RULES: dict[str, str] = {name: rule for name, (rule, _) in _REFUSED.items()}
# Paths that git or Windows reads as something else, for every interface that accepts files.
READ_ELSEWHERE = (
    ".git/config",
    "a/.GIT/hooks/pre-commit",
    "GIT~1/config",
    "PROGRA~1",
    "docs/NUL.md",
    "COM¹",
    "a:b",
    "a.",
)


# One archive by rule, for tests of what happens after an archive was refused.
ONE_OF_EACH: dict[str, bytes] = dict(_REFUSED.values())
