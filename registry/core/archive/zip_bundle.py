"""Reads bundles from zips and folders, and writes them as zips. No other module opens an archive."""

import stat
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from registry.core import paths
from registry.core.archive import tarball, zip_records
from registry.core.archive.skill_root import move_to_root
from registry.core.archive.zip_records import Bytes, Member, refusal
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidArchive, SkillsiteError, TooLarge
from registry.core.findings import Finding, Severity
from registry.core.limits import DEFAULT, MIB, Limits

# Below this size a high compression ratio is normal for text, and harmless.
RATIO_FROM_BYTES = 1 * MIB
# A zip from a Mac has a `._` entry for each file, and most tools add entries for directories.
ENTRIES_PER_FILE = 4

_MOST_ENTRIES, _MOST_BYTES = 0xFFFE, 0xFFFFFFFE  # the most without zip64
_JANUARY_1980 = (1 << 5) | 1
_VERSION, _UNIX = 20, 3
_ORDINARY_FILE = (stat.S_IFREG | 0o644) << 16


def read_zip(data: bytes, *, limits: Limits = DEFAULT) -> Bundle:
    """Return the bundle in a zip. Raise InvalidArchive, TooLarge or UnsafePath if it is not a plain, safe zip.

    Limits are checked against the sizes in the headers first, so that the error can name the number. Decompression
    stops at the first byte over the size in the header.
    """
    return read_members(data, _members(data, limits), limits)


def read_skills(data: bytes, *, limits: Limits = DEFAULT) -> dict[str, Bundle | SkillsiteError]:
    """Return the skills in a zip by directory: a bundle or an error for each.

    Directories have no trailing slash, and "" is the top level. Everything below a skill is part of it, including
    further SKILL.md files, except below a skill at the top level. Files outside of skills are not opened. An error in
    one skill does not affect the others.
    """
    members = sorted(_members(data, limits), key=lambda member: member.raw_name)
    groups = {root: _below(root, members) for root in skill_directories(member.raw_name for member in members)}
    total = sum({member.start: member.size for group in groups.values() for member in group}.values())
    _check_limit("expanded-too-large", total, limits.expanded_bytes, f"The skills have {total:,} bytes in total.")
    skills: dict[str, Bundle | SkillsiteError] = {}
    for root, group in groups.items():
        name = root.decode(errors="backslashreplace")
        directory = name.removesuffix("/") or name  # `/SKILL.md` is not at the top level
        try:
            if root:
                paths.check(directory, limits=limits)
            skills[directory] = read_members(data, group, limits)
        except SkillsiteError as error:
            skills[directory] = error
    return skills


def _below(root: bytes, members: list[Member]) -> list[Member]:
    """Return the members below a directory, with names relative to it. `members` is sorted by name."""
    first = end = bisect_right(members, root, key=lambda member: member.raw_name) if root else 0
    while end < len(members) and members[end].raw_name.startswith(root):
        end += 1
    return [replace(member, raw_name=member.raw_name[len(root) :]) for member in members[first:end]]


def skill_directories(names: Iterable[bytes]) -> list[bytes]:
    """Return the directories of skills in byte order, each with a trailing slash. b"" is the top level."""
    suffix = f"/{SKILL_MD}".encode()
    files = (name for name in names if b"/" + name == suffix or name.endswith(suffix))
    holding = sorted(name[: -len(SKILL_MD)] for name in files if not is_junk(name.decode(errors="replace")))
    kept: list[bytes] = []
    for directory in holding:
        if not (kept and kept[-1] and directory.startswith(kept[-1])):
            kept.append(directory)
    return kept


def _members(data: bytes, limits: Limits) -> tuple[Member, ...]:
    _check_limit("zip-too-large", len(data), limits.archive_bytes, f"This zip has {len(data):,} bytes.")
    _, _, count = zip_records.end_record(data)
    _check_limit("zip-entries", count, limits.files * ENTRIES_PER_FILE, f"This zip has {count:,} entries.")
    return zip_records.members(data)


def read_members(data: Bytes, members: Collection[Member], limits: Limits) -> Bundle:
    """Return the bundle of these members, after checking all limits."""
    names = [_safe_name(member, limits) for member in members]
    paths.check_collisions(member.raw_name.decode() for member in members)  # before names are normalized
    _check_sizes(((m.label, m.size) for m in members), limits)
    _check_ratio(members, len(data), limits)
    kept = {name for name in names if not name.endswith("/") and not is_junk(name)}
    _check_limit("too-many-files", len(kept), limits.files, f"This zip contains {len(kept):,} files.")
    # Members that are dropped are unpacked too, so that damage anywhere in the zip is an error.
    contents = ((name, unpack(data, member)) for name, member in zip(names, members, strict=True))
    return _bundle({name: content for name, content in contents if name in kept}, limits)


def read_folder(files: Mapping[str, bytes], *, limits: Limits = DEFAULT) -> Bundle:
    """Return the bundle in an uploaded folder. Browsers send paths that start with the name of the folder."""
    _check_limit(
        "too-many-files", len(files), limits.files * ENTRIES_PER_FILE, f"This folder has {len(files):,} files."
    )
    named = [(_compose(name), content) for name, content in files.items()]
    for name, _ in named:
        paths.check(name, limits=limits)
    paths.check_collisions(files)
    _check_sizes(((paths.display(name), len(content)) for name, content in named), limits)
    kept = {name: content for name, content in named if not is_junk(name)}
    _check_limit("too-many-files", len(kept), limits.files, f"This folder has {len(kept):,} files.")
    return _bundle(kept, limits)


def read_archive(data: bytes, *, limits: Limits = DEFAULT) -> Bundle:
    """Return the bundle in a zip or .tar.gz."""
    if not data.startswith(tarball.GZIP_SIGN):
        return read_zip(data, limits=limits)
    _check_limit("zip-too-large", len(data), limits.archive_bytes, f"This archive has {len(data):,} bytes.")
    return read_folder(tarball.unpack(data, limits=limits), limits=limits)


def write_zip(bundle: Bundle) -> bytes:
    """Return a zip with the same bytes for the same bundle on every machine."""
    return b"".join(write_zip_stream(bundle.items()))


def write_zip_stream(entries: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yield the bytes of an uncompressed zip. The paths must already be checked.

    The records are written here, because `zipfile` may fill them differently in another Python version.
    """
    table: list[bytes] = []
    offset = 0
    for path, content in entries:
        name = path.encode()
        flags = 0 if name.isascii() else zip_records.UTF8_FLAG
        size = len(content)
        known = (flags, zip_records.STORED, 0, _JANUARY_1980, zlib.crc32(content), size, size, len(name))
        versions = (_VERSION, _UNIX, _VERSION, 0)
        rest = (0, 0, 0, 0, _ORDINARY_FILE, offset)
        table += zip_records.CENTRAL.pack(zip_records.CENTRAL_SIGN, *versions, *known, *rest), name
        local = zip_records.LOCAL.pack(zip_records.LOCAL_SIGN, _VERSION, *known, 0) + name
        offset += len(local) + size
        _check_limit("zip-too-large", offset, _MOST_BYTES, f"The zip would have {offset:,} bytes.")
        yield local
        yield content
    count = len(table) // 2
    _check_limit("zip-entries", count, _MOST_ENTRIES, f"The zip would have {count:,} files.")
    length = sum(map(len, table))
    yield b"".join(table) + zip_records.END.pack(zip_records.END_SIGN, 0, 0, count, count, length, offset, 0)


def zip_length(entries: Iterable[tuple[str, int]]) -> int:
    """Return the number of bytes that `write_zip_stream` writes. Raise TooLarge if the zip format cannot hold them."""
    count = length = 0
    for path, size in entries:
        name = len(path.encode())
        count, length = count + 1, length + zip_records.LOCAL.size + zip_records.CENTRAL.size + 2 * name + size
    _check_limit("zip-entries", count, _MOST_ENTRIES, f"The zip would have {count:,} files.")
    _check_limit("zip-too-large", length, _MOST_BYTES, f"The zip would have {length:,} bytes.")
    return length + zip_records.END.size


def is_junk(path: str) -> bool:
    """Check for files that macOS adds to folders and zips."""
    segments = path.rstrip("/").split("/")
    return "__MACOSX" in segments or segments[-1] == ".DS_Store" or segments[-1].startswith("._")


def _bundle(files: Mapping[str, bytes], limits: Limits) -> Bundle:
    at_root = move_to_root(files)
    size = len(at_root[SKILL_MD])
    _check_limit("skill-md-too-large", size, limits.skill_md_bytes, f"SKILL.md has {size:,} bytes.", SKILL_MD)
    return Bundle(at_root)


def _compose(name: str) -> str:
    """Normalize to NFC. macOS decomposes é into e and an accent."""
    return unicodedata.normalize("NFC", name)


def _safe_name(member: Member, limits: Limits) -> str:
    """Return the validated path of a member. A directory keeps its trailing slash."""
    label = member.label
    try:
        name = _compose(member.raw_name.decode())
    except UnicodeDecodeError:
        message = f"The file name {label} is not UTF-8."
        fix = "Rename the file with the letters a–z, or use a zip tool that writes UTF-8 names."
        raise refusal("zip-name-encoding", message, member=label, fix=fix) from None
    paths.check(name.removesuffix("/"), limits=limits)
    kind = stat.S_IFMT(member.mode)
    if kind == stat.S_IFLNK:
        fix = "Replace the link with the file itself."
        raise refusal("zip-symlink", f"{label} is a symbolic link.", member=label, fix=fix)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        message = f"{label} is a device, pipe or socket."
        raise refusal("zip-special-file", message, member=label, fix="Remove it.")
    is_directory = name.endswith("/")
    if (is_directory and member.size) or (kind == stat.S_IFDIR and not is_directory):
        raise refusal("zip-directory", f"{label} is both a file and a folder.", member=label)
    return name


def _check_sizes(sizes: Iterable[tuple[str, int]], limits: Limits) -> None:
    total = 0
    for label, size in sizes:
        _check_limit("file-too-large", size, limits.file_bytes, f"{label} has {size:,} bytes.", label[1:-1])
        total += size
    _check_limit("expanded-too-large", total, limits.expanded_bytes, f"The files have {total:,} bytes in total.")


def _check_ratio(members: Iterable[Member], archive_bytes: int, limits: Limits) -> None:
    """Check the compression ratio of each member and of the whole archive."""
    total = 0
    for member in members:
        total += member.size
        if member.size > RATIO_FROM_BYTES:
            times = -(-member.size // max(1, member.packed))
            message = f"{member.label} expands to {times:,} times its compressed size."
            _check_limit("zip-ratio", times, limits.ratio, message, member.label[1:-1])
    if total > RATIO_FROM_BYTES:
        times = -(-total // archive_bytes)
        _check_limit("zip-ratio", times, limits.ratio, f"This zip expands to {times:,} times its size.")


def unpack(data: Bytes, member: Member) -> bytes:
    """Return the content of a member, after checking its size and checksum."""
    packed = memoryview(data)[member.start : member.start + member.packed]
    as_is = member.method == zip_records.STORED or not packed
    content = bytes(packed) if as_is else _decompress(packed, member)
    if len(content) != member.size:
        raise _wrong_size(member)
    if zlib.crc32(content) != member.crc:
        message = f"{member.label} is damaged. Its checksum does not match."
        raise refusal("zip-crc", message, member=member.label)
    return content


def _decompress(packed: memoryview, member: Member) -> bytes:
    """Decompress at most one byte more than the size in the header."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(packed, member.size + 1)
    except zlib.error:
        message = f"{member.label} is damaged and cannot be decompressed."
        raise refusal("zip-damaged", message, member=member.label) from None
    if len(content) > member.size:
        raise _wrong_size(member)
    if inflater.unused_data or not inflater.eof:
        raise refusal("zip-damaged", f"{member.label} is incomplete or has extra data at the end.", member=member.label)
    return content


def _wrong_size(member: Member) -> InvalidArchive:
    message = f"{member.label} does not have the {member.size:,} bytes that the zip declares."
    return refusal("zip-size-mismatch", message, member=member.label)


def _check_limit(rule: str, actual: int, allowed: int, sentence: str, file: str = "") -> None:
    if actual <= allowed:
        return
    message = f"{sentence} {allowed:,} are allowed."
    finding = Finding(rule, Severity.ERROR, file, None, message, "Make the files smaller or remove some.")
    raise TooLarge(f"{message} Nothing was saved.", findings=[finding], actual=actual, allowed=allowed)
