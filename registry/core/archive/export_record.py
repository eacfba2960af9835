"""The record of an export: `.skillsite.json` beside the directories of the skills, with one entry for each."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from registry.core import paths
from registry.core.archive import zip_bundle, zip_records
from registry.core.archive.zip_records import Bytes, Member
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidArchive, SkillsiteError
from registry.core.limits import DEFAULT, Limits
from registry.lib.json_values import has_more_values

# Cannot clash with a skill, because skill names do not start with a dot.
RECORD = ".skillsite.json"
FORMAT = 1
# Optional parts. An earlier version of the site ignores them.
GOLDEN_SET, ROUTING = "golden_set", "routing"
RECORD_BYTES = 64 * 1024 * 1024
_MOST_VALUES = 1_000_000  # about 66,000 skills


@dataclass(frozen=True, slots=True)
class Entry:
    """One skill in the record. `enabled` is false if the project had disabled it."""

    name: str
    version: str
    digest: str
    source: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class ExportedSkill:
    """One skill found in an export. `entry` is None if the record does not describe exactly these bytes."""

    name: str
    result: Bundle | SkillsiteError
    entry: Entry | None = None


def write(entries: Iterable[Entry], parts: Mapping[str, Any] | None = None) -> bytes:
    """Return the record. It is deterministic and has one line per skill, so that exports can be diffed.

    `parts` are other values of the record, such as GOLDEN_SET. A list has one line for each item.
    """
    values = {"skills": [asdict(entry) for entry in sorted(entries, key=lambda entry: entry.name)], **(parts or {})}
    rows = [f'  "format": {FORMAT}', *(f'  "{key}": {_written(value)}' for key, value in values.items())]
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def _written(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    return "[\n    " + ",\n    ".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n  ]"


def read(content: bytes) -> dict[str, Entry]:
    """Return the entries of a record by name. Raise InvalidArchive if it is invalid or of another format."""
    entries = [_entry(one) for one in _parsed(content)["skills"]]
    by_name = {entry.name: entry for entry in entries}
    if len(by_name) != len(entries):
        raise _unreadable("it lists a skill twice")
    return by_name


def read_parts(content: bytes) -> dict[str, Any]:
    """Return the optional parts of a record. They are JSON, and not checked."""
    record = _parsed(content)
    return {key: record[key] for key in (GOLDEN_SET, ROUTING) if key in record}


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        text = content.decode()
        if has_more_values(text, _MOST_VALUES):
            raise _unreadable(f"it has more than {_MOST_VALUES:,} values, which is the limit")
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise _unreadable("it is not JSON") from None
    if not isinstance(record, dict) or not isinstance(record.get("skills"), list):
        raise _unreadable("it has no list named “skills”")
    if record.get("format") != FORMAT:
        raise _unreadable(f"its format is {str(record.get('format'))[:40]!r}, but this version reads format {FORMAT}")
    return record


def _entry(item: object) -> Entry:
    keys = item if isinstance(item, dict) else {}
    values = {field.name: keys.get(field.name) for field in fields(Entry)}
    enabled = values.pop("enabled")
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    if len(texts) != len(values) or not isinstance(enabled, bool):
        raise _unreadable("an entry has no valid name, version, digest, source or enabled")
    paths.check_component(texts["name"], what="name")
    paths.check_component(texts["version"], what="version")
    return Entry(**texts, enabled=enabled)


def _unreadable(reason: str) -> InvalidArchive:
    return InvalidArchive(f"{RECORD} cannot be read: {reason}. Nothing was saved.")


def match_entries(
    record: bytes | None, directories: Iterable[tuple[str, Bundle | SkillsiteError]]
) -> Iterator[ExportedSkill]:
    """Yield each directory with its entry, then an error for each entry without a directory.

    An entry only matches the bytes of its digest. A skill that was edited after the export has no entry.
    """
    entries = read(record) if record is not None else {}
    missing = dict(entries)
    for name, result in directories:
        entry = missing.pop(name, None)
        same = entry is not None and isinstance(result, Bundle) and result.digest == entry.digest
        yield ExportedSkill(name, result, entry if same else None)
    for name in missing:
        yield ExportedSkill(name, InvalidArchive(f"{RECORD} lists {name}, but {name}/{SKILL_MD} is missing."))


def read_zip(data: Bytes, *, limits: Limits = DEFAULT) -> Iterator[ExportedSkill]:
    """Yield the skills of a zip, one at a time. An error in one skill does not affect the others.

    Each top-level directory with a SKILL.md is a skill. A single directory around all of them is allowed.
    """
    members = zip_records.members(data)
    return match_entries(_record(data, members), _bundles(data, _wrapper(members), members, limits))


def record_in_zip(data: Bytes) -> bytes | None:
    """Return the record of a zip, or None if it has none."""
    return _record(data, zip_records.members(data))


def _record(data: Bytes, members: Sequence[Member]) -> bytes | None:
    name = _wrapper(members) + RECORD.encode()
    record = next((member for member in members if member.raw_name == name), None)
    if record is not None and record.size > RECORD_BYTES:
        raise _unreadable(f"it has {record.size:,} bytes, and {RECORD_BYTES:,} are allowed")
    return zip_bundle.unpack(data, record) if record is not None else None


def _wrapper(members: Sequence[Member]) -> bytes:
    """Return the single directory around all skills, with its slash, or b"" if there is none."""
    tops = {member.raw_name.partition(b"/")[0] for member in members}
    only = b"".join(tops) + b"/" if len(tops) == 1 else b""
    below = {member.raw_name for member in members}
    inner = any(name.startswith(only) and name.count(b"/") == 2 and name.endswith(b"/SKILL.md") for name in below)
    return only if only and inner and only + SKILL_MD.encode() not in below else b""


def _bundles(
    data: Bytes, top: bytes, members: Sequence[Member], limits: Limits
) -> Iterator[tuple[str, Bundle | SkillsiteError]]:
    grouped: dict[bytes, list[Member]] = {}
    for member in members:
        name, slash, path = member.raw_name.removeprefix(top).partition(b"/")
        if slash and path and not name.startswith(b"."):
            grouped.setdefault(name, []).append(replace(member, raw_name=path))
    for name, group in grouped.items():
        if any(member.raw_name == SKILL_MD.encode() for member in group):
            yield _try_read(data, name, group, limits)


def _try_read(data: Bytes, name: bytes, group: list[Member], limits: Limits) -> tuple[str, Bundle | SkillsiteError]:
    label = name.decode(errors="replace")
    try:
        paths.check_component(label, what="name")
        return label, zip_bundle.read_members(data, group, limits)
    except SkillsiteError as error:
        return label, error
