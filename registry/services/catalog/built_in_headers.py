"""Headers of built-in skills, kept on disk because parsing YAML and counting tokens is slow.

A header is stored under the content that it was read from. So the file is never out of date, and can be deleted.
"""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from registry.core.bundle import content_digest
from registry.core.catalog import token_estimate
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md
from registry.core.limits import Limits
from registry.lib.derived_store import DerivedStore, key_of
from registry.lib.lru import MEBIBYTE
from registry.services.files import node_files

FORMAT = "1"  # increment if `of_content` returns something else for the same content
_MOST_BYTES = 256 * MEBIBYTE

Where = TypeVar("Where", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Header:
    name: str
    version: str | None
    description: str
    kind: str
    tags: tuple[str, ...]
    requires: tuple[str, ...]
    triggers: tuple[str, ...]
    tokens: int


def read_each(
    contents: Mapping[Where, tuple[str, bytes]], limits: Limits, refused: Callable[[Where, SkillsiteError], None]
) -> dict[Where, Header]:
    """Return the headers of files by where they are. The values of `contents` are the name of a folder and its file."""
    keys = {where: _key(folder, content, limits) for where, (folder, content) in contents.items()}
    stored = _store().get(set(keys.values())) if keys else {}
    found: dict[Where, Header] = {}
    made: dict[bytes, bytes] = {}
    for where, (folder, content) in contents.items():
        header = _unpacked(stored.get(keys[where]))
        if header is None:
            try:
                header = of_content(folder, content, limits)
            except SkillsiteError as error:
                refused(where, error)
                continue
            made[keys[where]] = json.dumps(asdict(header)).encode()
        found[where] = header
    _store().put(made)
    return found


def of_content(folder: str, content: bytes, limits: Limits) -> Header:
    skill = skill_md.read(content, fallback_name=folder, limits=limits)
    return Header(
        skill.name, skill.version, skill.description, skill.kind, skill.tags, skill.requires, skill.triggers,
        token_estimate.estimate(skill.instructions),
    )  # fmt: skip


def sweep() -> int:
    """Delete what was not read for a month. Return the number of headers."""
    return node_files.sweep("built_in", "headers", most_bytes=_MOST_BYTES)


def _store() -> DerivedStore:
    return node_files.store("built_in", "headers", most_bytes=_MOST_BYTES)


def _key(folder: str, content: bytes, limits: Limits) -> bytes:
    return key_of(FORMAT, repr(limits), folder, content_digest(content))


def _unpacked(stored: bytes | None) -> Header | None:
    """Return a stored header, or None if there is none in this format."""
    if stored is None:
        return None
    try:
        values: dict[str, Any] = json.loads(stored)
        return Header(**values | {key: tuple(values[key]) for key in ("tags", "requires", "triggers")})
    except (ValueError, TypeError, KeyError):
        return None
