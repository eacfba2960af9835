"""Zips and folders to bundles and back: the only place that opens an archive, in memory, all or nothing."""

import stat
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, takewhile

from registry.core import paths
from registry.core.archive import tarball, zip_records
from registry.core.archive.skill_root import at_root
from registry.core.archive.zip_records import Bytes, Member, refusal
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidArchive, SkillsiteError, TooLarge
from registry.core.findings import Finding, Severity
from registry.core.limits import DEFAULT, MIB, Limits

# Below this a high ratio is the ordinary sign of a small text or an empty image, and harms nobody.
RATIO_FROM_BYTES = 1 * MIB
# A zip from a Mac holds a `._` twin for each file, and most tools add directories.
ENTRIES_PER_FILE = 4

_MOST_ENTRIES, _MOST_BYTES = 0xFFFE, 0xFFFFFFFE  # one more and it would have to be a zip64
_JANUARY_1980 = (1 << 5) | 1
_VERSION, _UNIX = 20, 3
_ORDINARY_FILE = (stat.S_IFREG | 0o644) << 16


def read_zip(data: bytes, *, limits: Limits = DEFAULT) -> Bundle:
    """The bundle in a zip; InvalidArchive, TooLarge or UnsafePath for anything that is not plainly one.

    Sizes in headers are promises: each cap is held against them first, so that the refusal can name the
    number, and inflating stops at the first byte over what was promised.
    """
    return opened(data, _members(data, limits), limits)


def read_skills(data: bytes, *, limits: Limits = DEFAULT) -> dict[str, Bundle | SkillsiteError]:
    """Every skill in a zip by its directory (no slash at the end, "" is the top): its bundle, or why there is none.

    What lies below a skill is part of it, further files SKILL.md too. Only a skill at the very top leaves those below
    it to be skills as well. What belongs to none is not opened, and no fault of one skill costs the others.
    """
    members = sorted(_members(data, limits), key=lambda member: member.raw_name)
    groups = {root: _below(root, members) for root in skill_directories(member.raw_name for member in members)}
    total = sum({member.start: member.size for group in groups.values() for member in group}.values())
    _cap("expanded-too-large", total, limits.expanded_bytes, f"The skills have {total:,} bytes together.")
    found: dict[str, Bundle | SkillsiteError] = {}
    for root, group in groups.items():
        name = root.decode(errors="backslashreplace")
        directory = name.removesuffix("/") or name  # that of `/SKILL.md` is not the top
        try:
            if root:
                paths.check(directory, limits=limits)
            found[directory] = opened(data, group, limits)
        except SkillsiteError as error:
            found[directory] = error
    return found


def _below(root: bytes, members: list[Member]) -> list[Member]:
    """Those of the sorted members that lie in a directory, named as seen from it."""
    first = bisect_right(members, root, key=lambda member: member.raw_name) if root else 0
    inside = takewhile(lambda member: member.raw_name.startswith(root), islice(members, first, None))
    return [replace(member, raw_name=member.raw_name[len(root) :]) for member in inside]


def skill_directories(names: Iterable[bytes]) -> list[bytes]:
    """The directories of skills among raw names of files, each with its slash and "" for the top, in byte order."""
    suffix = f"/{SKILL_MD}".encode()
    files = (name for name in names if b"/" + name == suffix or name.endswith(suffix))
    holding = sorted(name[: -len(SKILL_MD)] for name in files if not is_junk(name.decode(errors="replace")))
    kept: list[bytes] = []
    for directory in holding:
        if not (kept and kept[-1] and directory.startswith(kept[-1])):
            kept.append(directory)
    return kept


def _members(data: bytes, limits: Limits) -> tuple[Member, ...]:
    _cap("zip-too-large", len(data), limits.archive_bytes, f"This zip has {len(data):,} bytes.")
    _, _, count = zip_records.end_record(data)
    _cap("zip-entries", count, limits.files * ENTRIES_PER_FILE, f"This zip has {count:,} entries.")
    return zip_records.members(data)


def opened(data: Bytes, members: Collection[Member], limits: Limits) -> Bundle:
    """The bundle in these members of a zip, with its caps."""
    names = [_safe_name(member, limits) for member in members]
    paths.check_collisions(member.raw_name.decode() for member in members)  # before two forms of a name become one
    _check_sizes(((m.label, m.size) for m in members), limits)
    _check_ratio(members, len(data), limits)
    kept = {name for name in names if not name.endswith("/") and not is_junk(name)}
    _cap("too-many-files", len(kept), limits.files, f"This zip opens to {len(kept):,} files.")
    # What is dropped is opened too: a damaged or lying member is refused wherever it stands.
    contents = ((name, unpacked(data, member)) for name, member in zip(names, members, strict=True))
    return _bundle({name: content for name, content in contents if name in kept}, limits)


def read_folder(files: Mapping[str, bytes], *, limits: Limits = DEFAULT) -> Bundle:
    """The bundle in a folder that a browser sent, whose paths start with the name of the folder."""
    named = [(_composed(name), content) for name, content in files.items()]
    for name, _ in named:
        paths.check(name, limits=limits)
    paths.check_collisions(files)
    _check_sizes(((paths.shown(name), len(content)) for name, content in named), limits)
    kept = {name: content for name, content in named if not is_junk(name)}
    _cap("too-many-files", len(kept), limits.files, f"This folder has {len(kept):,} files.")
    return _bundle(kept, limits)


def read_archive(data: bytes, *, limits: Limits = DEFAULT) -> Bundle:
    """The bundle in a zip or in a .tar.gz, as other sites publish them."""
    if not data.startswith(tarball.GZIP_SIGN):
        return read_zip(data, limits=limits)
    _cap("zip-too-large", len(data), limits.archive_bytes, f"This archive has {len(data):,} bytes.")
    return read_folder(tarball.unpack(data, limits=limits), limits=limits)


def write_zip(bundle: Bundle) -> bytes:
    """The same bytes for the same bundle on every machine."""
    return b"".join(write_zip_stream(bundle.items()))


def write_zip_stream(entries: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """A zip piece by piece, members stored as they are, in the order given; the paths are taken as checked.

    Written here record by record, since how the standard library fills them may change with its version.
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
        _cap("zip-too-large", offset, _MOST_BYTES, f"The zip to write has {offset:,} bytes.")
        yield local
        yield content
    count = len(table) // 2
    _cap("zip-entries", count, _MOST_ENTRIES, f"The zip to write has {count:,} files.")
    length = sum(map(len, table))
    yield b"".join(table) + zip_records.END.pack(zip_records.END_SIGN, 0, 0, count, count, length, offset, 0)


def zip_length(entries: Iterable[tuple[str, int]]) -> int:
    """How many bytes `write_zip_stream` makes of files of these sizes; TooLarge where no such zip can be written."""
    count = length = 0
    for path, size in entries:
        name = len(path.encode())
        count, length = count + 1, length + zip_records.LOCAL.size + zip_records.CENTRAL.size + 2 * name + size
    _cap("zip-entries", count, _MOST_ENTRIES, f"The zip to write has {count:,} files.")
    _cap("zip-too-large", length, _MOST_BYTES, f"The zip to write has {length:,} bytes.")
    return length + zip_records.END.size


def is_junk(path: str) -> bool:
    """What macOS adds to a folder or zip without being asked."""
    segments = path.rstrip("/").split("/")
    return "__MACOSX" in segments or segments[-1] == ".DS_Store" or segments[-1].startswith("._")


def _bundle(files: Mapping[str, bytes], limits: Limits) -> Bundle:
    promoted = at_root(files)
    size = len(promoted[SKILL_MD])
    _cap("skill-md-too-large", size, limits.skill_md_bytes, f"SKILL.md has {size:,} bytes.", SKILL_MD)
    return Bundle(promoted)


def _composed(name: str) -> str:
    """macOS writes é as e and an accent; bundles store it as one letter."""
    return unicodedata.normalize("NFC", name)


def _safe_name(member: Member, limits: Limits) -> str:
    """The checked path; that of a directory keeps its slash."""
    label = member.label
    try:
        name = _composed(member.raw_name.decode())
    except UnicodeDecodeError:
        message = f"The name {label} is not in UTF-8."
        fix = "Rename the file to plain letters, or zip it with a tool that writes UTF-8 names."
        raise refusal("zip-name-encoding", message, member=label, fix=fix) from None
    paths.check(name.removesuffix("/"), limits=limits)
    kind = stat.S_IFMT(member.mode)
    if kind == stat.S_IFLNK:
        fix = "Put the file itself in its place."
        raise refusal("zip-symlink", f"{label} is a symbolic link.", member=label, fix=fix)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        message = f"{label} is a device, pipe or socket."
        raise refusal("zip-special-file", message, member=label, fix="Remove it.")
    is_directory = name.endswith("/")
    if (is_directory and member.size) or (kind == stat.S_IFDIR and not is_directory):
        raise refusal("zip-directory", f"{label} is a file and a directory at once.", member=label)
    return name


def _check_sizes(sizes: Iterable[tuple[str, int]], limits: Limits) -> None:
    total = 0
    for label, size in sizes:
        _cap("file-too-large", size, limits.file_bytes, f"{label} has {size:,} bytes.", label[1:-1])
        total += size
    _cap("expanded-too-large", total, limits.expanded_bytes, f"The files have {total:,} bytes together.")


def _check_ratio(members: Iterable[Member], archive_bytes: int, limits: Limits) -> None:
    """Each member against its packed bytes, and all of them against the whole archive."""
    total = 0
    for member in members:
        total += member.size
        if member.size > RATIO_FROM_BYTES:
            times = -(-member.size // max(1, member.packed))
            message = f"{member.label} opens to {times:,} times its packed size."
            _cap("zip-ratio", times, limits.ratio, message, member.label[1:-1])
    if total > RATIO_FROM_BYTES:
        times = -(-total // archive_bytes)
        _cap("zip-ratio", times, limits.ratio, f"This zip opens to {times:,} times its size.")


def unpacked(data: Bytes, member: Member) -> bytes:
    """The bytes of one member, exactly as many as it promises."""
    packed = memoryview(data)[member.start : member.start + member.packed]
    as_is = member.method == zip_records.STORED or not packed
    content = bytes(packed) if as_is else _inflated(packed, member)
    if len(content) != member.size:
        raise _lying_size(member)
    if zlib.crc32(content) != member.crc:
        message = f"{member.label} is damaged: its checksum does not match."
        raise refusal("zip-crc", message, member=member.label)
    return content


def _inflated(packed: memoryview, member: Member) -> bytes:
    """Inflates to one byte over the promised size at most."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(packed, member.size + 1)
    except zlib.error:
        message = f"{member.label} is damaged: it cannot be inflated."
        raise refusal("zip-damaged", message, member=member.label) from None
    if len(content) > member.size:
        raise _lying_size(member)
    if inflater.unused_data or not inflater.eof:
        raise refusal("zip-damaged", f"{member.label} ends before or after its data.", member=member.label)
    return content


def _lying_size(member: Member) -> InvalidArchive:
    message = f"{member.label} does not open to the {member.size:,} bytes that the zip promises."
    return refusal("zip-size-mismatch", message, member=member.label)


def _cap(rule: str, actual: int, allowed: int, sentence: str, file: str = "") -> None:
    if actual <= allowed:
        return
    message = f"{sentence} {allowed:,} are allowed."
    finding = Finding(rule, Severity.ERROR, file, None, message, "Make it smaller or leave files out.")
    raise TooLarge(f"{message} Nothing was stored.", findings=[finding], actual=actual, allowed=allowed)
