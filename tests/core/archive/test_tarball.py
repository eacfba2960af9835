"""Skills in .tar.gz archives: common archives are read, ambiguous ones are refused."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable
from typing import Any

import pytest

from registry.core.archive import zip_bundle
from registry.core.errors import InvalidArchive, SkillsiteError, TooLarge, UnsafePath
from registry.core.limits import Limits
from tests.core import hostile
from tests.core.hostile import MIB, SKILL

LONG = f"docs/{'größe-' * 20}.md"
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def gz(raw: bytes) -> bytes:
    return gzip.compress(raw, mtime=0)


def short(value: object) -> str | None:
    """Return a short id of an archive for the name of a test case."""
    return f"{zlib.crc32(value):08x}" if isinstance(value, bytes) else None


def member(name: str, content: bytes = b"", **values: Any) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.size = len(content)
    for key, value in values.items():
        setattr(made, key, value)
    return made, content


def tar(members: Iterable[tuple[tarfile.TarInfo, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, encoding="utf-8") as archive:
        for made, content in members:
            archive.addfile(made, io.BytesIO(content))
    return out.getvalue()


def packed(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    return gz(tar([member("SKILL.md", SKILL), *members], form))


@pytest.mark.parametrize("form", FORMATS)
def test_archives_of_common_tools_are_read(form: str) -> None:
    inside = [member("docs", type=tarfile.DIRTYPE), member("docs/a.bin", bytes(range(256)) * 5), member("empty")]
    found = zip_bundle.read_archive(packed(*inside, form=FORMATS[form]))
    assert dict(found) == {"SKILL.md": SKILL, "docs/a.bin": bytes(range(256)) * 5, "empty": b""}


@pytest.mark.parametrize("form", ["gnu", "pax"])
def test_long_names_that_are_not_ascii_are_read_whole(form: str) -> None:
    assert LONG in zip_bundle.read_archive(packed(member(LONG, b"x"), form=FORMATS[form]))


def test_a_name_in_two_parts_is_put_together() -> None:
    name = f"{'d' * 90}/{'e' * 90}.md"
    assert name in zip_bundle.read_archive(packed(member(name, b"x"), form=tarfile.USTAR_FORMAT))


def test_a_skill_in_a_directory_or_below_a_dot_is_moved_to_the_top() -> None:
    dotted = tar([member("./", type=tarfile.DIRTYPE), member("./SKILL.md", SKILL), member("./a/._b", b"x")])
    assert list(zip_bundle.read_archive(gz(dotted))) == ["SKILL.md"]
    assert list(zip_bundle.read_archive(gz(tar([member("demo/SKILL.md", SKILL)])))) == ["SKILL.md"]


def test_a_zip_is_read_as_a_zip() -> None:
    assert list(zip_bundle.read_archive(hostile.tree("SKILL.md"))) == ["SKILL.md"]
    with pytest.raises(InvalidArchive, match="not a zip"):
        zip_bundle.read_archive(b"neither")


@pytest.mark.parametrize(
    "made",
    [
        member("a", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("a", type=tarfile.LNKTYPE, linkname="SKILL.md"),
        member("a", type=tarfile.CHRTYPE),
        member("a", type=tarfile.BLKTYPE),
        member("a", type=tarfile.FIFOTYPE),
        member("a", b"x", type=tarfile.CONTTYPE),
        member("a", b"x", type=tarfile.GNUTYPE_SPARSE),
        member("a", b"x", type=b"Z"),
        member("SKILL.md", b"other"),
        member("./SKILL.md", b"other"),
        member("a", b"x", pax_headers={"size": "5"}),
        member("a", b"x", pax_headers={"GNU.sparse.major": "1"}),
        member("a", b"x", pax_headers={"linkpath": "/etc"}),
    ],
)
def test_an_entry_that_is_not_a_regular_file_is_refused(made: tuple[tarfile.TarInfo, bytes]) -> None:
    with pytest.raises(InvalidArchive, match="Nothing was saved"):
        zip_bundle.read_archive(packed(made))


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/etc/passwd", "a\\b", "C:/x", "con", "a\u202eb", "skill.MD", "a/./b"]
)
def test_an_unsafe_name_is_refused(name: str) -> None:
    with pytest.raises(UnsafePath):
        zip_bundle.read_archive(packed(member(name, b"x")))


def test_a_name_that_is_not_utf8_is_refused() -> None:
    raw = tar([member("SKILL.md", SKILL), member("xy", b"x")], tarfile.USTAR_FORMAT)
    damaged = raw.replace(b"xy\0", b"x\xff\0", 1)
    at = damaged.index(b"x\xff\0")
    total = sum(damaged[at : at + 148]) + 8 * 32 + sum(damaged[at + 156 : at + 512])
    damaged = damaged[: at + 148] + b"%06o\0 " % total + damaged[at + 156 :]
    with pytest.raises(InvalidArchive, match="not in UTF-8"):
        zip_bundle.read_archive(gz(damaged))


@pytest.mark.parametrize(
    "size", [b"\x80" + bytes(10) + b"\x01", b"-0000000001\0", b"            ", b"9" * 12, b"7" * 12]
)
def test_an_unusual_or_excessive_size_is_refused(size: bytes) -> None:
    raw = tar([member("SKILL.md", SKILL)], tarfile.USTAR_FORMAT)
    lying = raw[:124] + size + raw[136:]
    total = sum(lying[:148]) + 8 * 32 + sum(lying[156:512])
    with pytest.raises(InvalidArchive):
        zip_bundle.read_archive(gz(lying[:148] + b"%06o\0 " % total + lying[156:]))


RAW = tar([member("SKILL.md", SKILL)], tarfile.USTAR_FORMAT)


@pytest.mark.parametrize(
    "data",
    [
        gz(RAW[:700]),
        gz(RAW[:1_024]),
        gz(RAW[:300]),
        gz(b""),
        gz(b"x" * 2_000),
        gz(RAW + b"more" + bytes(508)),
        gz(RAW[:1_024] + bytes(512) + RAW[:1_024]),
        gz(RAW[:10] + b"!" + RAW[11:]),
        gz(RAW)[:-9],
        gz(RAW) + gz(RAW),
        gz(RAW) + b"#!/bin/sh",
        b"\x1f\x8b" + b"\xff" * 50,
        gz(tar([])),
        gz(tar([member("README.md", b"x")])),
    ],
    ids=short,
)
def test_damage_and_hidden_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidArchive):
        zip_bundle.read_archive(data)


@pytest.mark.parametrize(
    "line",
    [
        b"x",
        b"5 a\n",
        b"99 path=b\n",
        b"0 path=a\n",
        b"-9 path=a\n",
        b"99999999 path=a\n",
        b"12 path=abc!",
        b"10 path\xff=a\n",
    ],
)
def test_a_damaged_pax_header_is_refused(line: bytes) -> None:
    with pytest.raises(InvalidArchive):
        zip_bundle.read_archive(
            packed(member("h", line, type=tarfile.XHDTYPE), member("a", b"x"), form=tarfile.USTAR_FORMAT)
        )


@pytest.mark.parametrize(
    ("data", "limits"),
    [
        (packed(member("zeros", bytes(12 * MIB))), Limits()),
        (packed(member("zeros", bytes(60_000))), Limits(expanded_bytes=50_000, files=2)),
        (packed(member("zeros", bytes(60_000))), Limits(file_bytes=50_000)),
        (packed(*(member(str(number)) for number in range(20))), Limits(files=10)),
        (packed(), Limits(archive_bytes=50)),
        (gz(tar([member("SKILL.md", SKILL + b"x" * 600_000)])), Limits()),
    ],
    ids=short,
)
def test_an_archive_over_a_limit_is_refused(data: bytes, limits: Limits) -> None:
    with pytest.raises(TooLarge, match=r"are allowed.*Nothing was saved"):
        zip_bundle.read_archive(data, limits=limits)


@pytest.mark.parametrize("position", range(0, 1_600, 37))
def test_a_changed_byte_never_raises_an_unexpected_error(position: int) -> None:
    data = bytearray(packed(member("a/b.md", b"text"), member(LONG, b"x")))
    data[position % len(data)] ^= 0x55
    try:
        assert "SKILL.md" in zip_bundle.read_archive(bytes(data))
    except SkillsiteError as error:
        assert error.message


@pytest.mark.parametrize(("members", "message"), [
    ([member(f"{number}", type=tarfile.DIRTYPE) for number in range(20)], "more than 16 entries"),
    ([member("x", b"11 mtime=1\n" * 800, type=b"x")], "more than 8,192 bytes of headers"),
])  # fmt: skip
def test_entries_and_headers_are_counted(members: list[tuple[tarfile.TarInfo, bytes]], message: str) -> None:
    raw = gz(tar([*members, member("SKILL.md", SKILL)], tarfile.USTAR_FORMAT))
    with pytest.raises(TooLarge, match=message):
        zip_bundle.read_archive(raw, limits=Limits(files=2))
    assert zip_bundle.read_archive(raw, limits=Limits(files=20))
