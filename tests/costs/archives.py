"""Hostile archives, paths and requests with many files."""

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Iterator, Mapping

from registry.core.archive import export_record, zip_bundle
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.text import edits
from registry.protocols.mcp import messages
from registry.remote.sources import git_tree
from tests.costs.shape import KB, MB, Shape

_SKILL = b"---\nname: costs\ndescription: d\n---\n\nText.\n"


def _deep_paths(size: int) -> dict[str, str]:
    """Return paths of the greatest allowed length with as many folders as possible."""
    return {f"{'a/' * 120}{number:06}": "" for number in range(size // 250)}


def _short_paths(size: int) -> dict[str, str]:
    return {f"é{number}": "" for number in range(size // 12)}


def _propose(files: Mapping[str, str]) -> object:
    return edits.apply(edits.parse(files=files), Bundle({SKILL_MD: _SKILL}), name="costs")


def _propose_diff(diff: str) -> object:
    return edits.apply(edits.parse(diff=diff), Bundle({SKILL_MD: _SKILL}), name="costs")


def _many_file_patches(size: int) -> str:
    parts = (f"--- /dev/null\n+++ b/{'é/' * 50}{number:06}\n@@ -0,0 +1 @@\n+x\n" for number in range(size // 150))
    return "".join(parts)


def _zip(names: Iterator[str], extra: bytes = b"") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(SKILL_MD, _SKILL)
        for name in names:
            entry = zipfile.ZipInfo(name)
            entry.extra = extra
            archive.writestr(entry, b"")
    return packed.getvalue()


def _zip_of_deep_paths(size: int) -> bytes:
    return _zip(f"{'Ä/' * 80}{number:06}" for number in range(min(3_999, size // 600)))


def _zip_with_extra_fields(size: int) -> bytes:
    fields = struct.pack("<HH", 0x5455, 0) * 16_000
    return _zip((f"{number:06}" for number in range(size // (2 * len(fields)))), fields)


def _zip_of_nested_skills(size: int) -> bytes:
    return _zip(f"{'d/' * (number % 120)}{number}/SKILL.md" for number in range(min(3_999, size // 400)))


def _tar(entries: Iterator[tuple[str, bytes, bytes]]) -> bytes:
    """Return a .tar.gz of names, types and contents."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, kind, content in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.size = kind, len(content)
            archive.addfile(entry, io.BytesIO(content))
    # Not packed tightly, so that the ratio of compression does not refuse it.
    return gzip.compress(packed.getvalue(), compresslevel=0, mtime=0)


def _tar_with_pax_records(size: int) -> bytes:
    records = b"11 mtime=1\n" * (size // 11)
    return _tar(iter([("x", b"x", records), (SKILL_MD, tarfile.REGTYPE, _SKILL)]))


def _tar_of_empty_files(size: int) -> bytes:
    names = (f"{'a/' * 40}{number:06}" for number in range(size // 512))
    return _tar((name, tarfile.REGTYPE, b"") for name in (SKILL_MD, *names))


def _git_tree(size: int) -> bytes:
    """Return the listing of a repository in which every directory is a skill."""
    identity = "a" * 40
    return "".join(
        f"040000 tree {identity} -\t{number:06}\x00100644 blob {identity} 9\t{number:06}/SKILL.md\x00"
        for number in range(size // 140)
    ).encode()


def _skills_of_tree(listing: bytes) -> object:
    return git_tree.directories(git_tree.parse(listing), "a" * 40)


def _many_values(size: int) -> bytes:
    return b'{"jsonrpc": "2.0", "method": "a", "params": {"a": [' + b'{"a":1},' * (size // 8) + b"1]}}"


def _parse_message(body: bytes) -> object:
    try:
        return messages.parse(body)
    except messages.Refused:
        return None


SHAPES = (
    Shape("a proposal with deep paths", _deep_paths, _propose, 4 * MB, quick=True),
    Shape("a proposal with many paths", _short_paths, _propose, 4 * MB, quick=True),
    Shape("a diff of many files", _many_file_patches, _propose_diff, 4 * MB, quick=True),
    Shape("a zip of deep paths", _zip_of_deep_paths, zip_bundle.read_zip, 2 * MB, small=20 * KB),
    Shape("a zip with many extra fields", _zip_with_extra_fields, zip_bundle.read_zip, 50 * MB, quick=True),
    Shape("a zip of nested skills", _zip_of_nested_skills, zip_bundle.read_skills, 2 * MB, small=20 * KB),
    Shape("a tar with many pax records", _tar_with_pax_records, zip_bundle.read_archive, 50 * MB, small=300 * KB),
    Shape("a tar of many empty files", _tar_of_empty_files, zip_bundle.read_archive, 50 * MB, small=100 * KB),
    Shape("an MCP message with many values", _many_values, _parse_message, 4 * MB, quick=True, light=True),
    Shape("an export record with many values", _many_values, export_record.read, 64 * MB),
    Shape("a git tree of skills", _git_tree, _skills_of_tree, 7 * MB, small=100 * KB),
)
