"""What an export says of itself: a record beside the directories of its skills, one entry each."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace

from registry.core import paths
from registry.core.archive import zip_bundle, zip_records
from registry.core.archive.zip_records import Bytes, Member
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidArchive, SkillsiteError
from registry.core.limits import DEFAULT, Limits

# No skill has this name: those that begin with a dot are refused.
RECORD = ".skillsite.json"
FORMAT = 1
RECORD_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """One skill of an export. `enabled` is false where its project had switched it off."""

    name: str
    version: str
    digest: str
    source: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class Arrival:
    """One skill that an export holds: its bundle or why there is none, and the entry of its unchanged bytes."""

    name: str
    found: Bundle | SkillsiteError
    entry: Entry | None = None


def write(entries: Iterable[Entry]) -> bytes:
    """The record, the same bytes for the same skills; one line for each, so that two exports compare line by line."""
    lines = [json.dumps(asdict(entry), ensure_ascii=False) for entry in sorted(entries, key=lambda entry: entry.name)]
    listed = "[\n    " + ",\n    ".join(lines) + "\n  ]" if lines else "[]"
    return f'{{\n  "format": {FORMAT},\n  "skills": {listed}\n}}\n'.encode()


def read(content: bytes) -> dict[str, Entry]:
    """The entries of a record by name; InvalidArchive where it is none that this version can read."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        raise _unreadable("it is not JSON") from None
    if not isinstance(said, dict) or not isinstance(said.get("skills"), list):
        raise _unreadable("it has no list “skills”")
    if said.get("format") != FORMAT:
        raise _unreadable(f"its format is {str(said.get('format'))[:40]!r}, and {FORMAT} is read here")
    entries = [_entry(one) for one in said["skills"]]
    found = {entry.name: entry for entry in entries}
    if len(found) != len(entries):
        raise _unreadable("it names a skill twice")
    return found


def _entry(said: object) -> Entry:
    given = said if isinstance(said, dict) else {}
    values = {field.name: given.get(field.name) for field in fields(Entry)}
    enabled = values.pop("enabled")
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    if len(texts) != len(values) or not isinstance(enabled, bool):
        raise _unreadable("an entry lacks its name, version, digest or source, or whether it is enabled")
    paths.component(texts["name"], what="name")
    paths.component(texts["version"], what="version")
    return Entry(**texts, enabled=enabled)


def _unreadable(reason: str) -> InvalidArchive:
    return InvalidArchive(f"{RECORD} cannot be used: {reason}. Nothing was stored.")


def arrivals(record: bytes | None, directories: Iterable[tuple[str, Bundle | SkillsiteError]]) -> Iterator[Arrival]:
    """What was found in each directory, beside what the record says of it; last what it says and was not found.

    An entry speaks for the bytes that its digest stands for: a skill that was edited since is a new one to count.
    """
    entries = read(record) if record is not None else {}
    missing = dict(entries)
    for name, found in directories:
        entry = missing.pop(name, None)
        same = entry is not None and isinstance(found, Bundle) and found.digest == entry.digest
        yield Arrival(name, found, entry if same else None)
    for name in missing:
        yield Arrival(name, InvalidArchive(f"{RECORD} names {name}, and there is no {name}/{SKILL_MD}."))


def read_zip(data: Bytes, *, limits: Limits = DEFAULT) -> Iterator[Arrival]:
    """The skills of a zip, opened one after the other. A fault of the zip itself costs all, one of a skill only that.

    Each directory at the top that has a SKILL.md is a skill; all of it may stand in one further directory.
    """
    members = zip_records.members(data)
    top = _wrapper(members)
    record = next((member for member in members if member.raw_name == top + RECORD.encode()), None)
    if record is not None and record.size > RECORD_BYTES:
        raise _unreadable(f"it has {record.size:,} bytes, {RECORD_BYTES:,} are allowed")
    content = zip_bundle.unpacked(data, record) if record is not None else None
    return arrivals(content, _opened(data, top, members, limits))


def _wrapper(members: Sequence[Member]) -> bytes:
    """The directory that holds everything, where there is one and it is not a skill."""
    tops = {member.raw_name.partition(b"/")[0] for member in members}
    only = b"".join(tops) + b"/" if len(tops) == 1 else b""
    below = {member.raw_name for member in members}
    inner = any(name.startswith(only) and name.count(b"/") == 2 and name.endswith(b"/SKILL.md") for name in below)
    return only if only and inner and only + SKILL_MD.encode() not in below else b""


def _opened(
    data: Bytes, top: bytes, members: Sequence[Member], limits: Limits
) -> Iterator[tuple[str, Bundle | SkillsiteError]]:
    grouped: dict[bytes, list[Member]] = {}
    for member in members:
        name, slash, path = member.raw_name.removeprefix(top).partition(b"/")
        if slash and path and not name.startswith(b"."):
            grouped.setdefault(name, []).append(replace(member, raw_name=path))
    for name, group in grouped.items():
        if any(member.raw_name == SKILL_MD.encode() for member in group):
            yield _attempt(data, name, group, limits)


def _attempt(data: Bytes, name: bytes, group: list[Member], limits: Limits) -> tuple[str, Bundle | SkillsiteError]:
    label = name.decode(errors="replace")
    try:
        paths.component(label, what="name")
        return label, zip_bundle.opened(data, group, limits)
    except SkillsiteError as error:
        return label, error
