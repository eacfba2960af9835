"""The skills extension: skills with their frontmatter and the digest of each of their files, and directories."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from registry.core.bundle import SKILL_MD
from registry.core.errors import SkillsiteError
from registry.core.format import client_compat
from registry.lib.lru import MEBIBYTE, LruCache
from registry.protocols.mcp import uris
from registry.protocols.mcp.context import FRESH, PREFIX, Context, Outcome, about, page
from registry.protocols.mcp.messages import Message, dump, unknown
from registry.protocols.mcp.resources import described
from registry.services.catalog.catalog import Loaded

EXTENSION = "io.modelcontextprotocol/skills"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A skill as the extension gives it, or why its rules do not allow it there."""

    said: dict[str, Any]
    fault: str


_entries: LruCache[str, _Entry] = LruCache(64 * MEBIBYTE, largest=2 * MEBIBYTE)


def list_skills(context: Context, message: Message) -> Outcome:
    """What the extension cannot carry is left out and named, and can still be read as a resource."""
    shown, more = page(context.candidates, message)
    loaded = context.load_many(shown)
    entries = {one.name: _entry(one) for one in loaded}
    result = {"skills": [entry.said for entry in entries.values() if not entry.fault], **more, **FRESH}
    left_out = [{"name": name, "reason": entry.fault} for name, entry in entries.items() if entry.fault]
    if left_out:
        result["_meta"] = {f"{PREFIX}leftOut": left_out}
    return Outcome(result)


def get_skill(context: Context, message: Message) -> Outcome:
    uri = message.text("uri")
    name, path = uris.split(uri)
    if path != SKILL_MD:
        raise unknown(uri, "The address of a skill is that of its SKILL.md: skill://name/SKILL.md.")
    entry = _entry(_load(context, uri, name))
    if entry.fault:
        raise unknown(uri, f"{name} cannot be served by this extension. {entry.fault}")
    return Outcome({"skill": entry.said, **FRESH})


def read_directory(context: Context, message: Message) -> Outcome:
    """The direct children of a directory of a skill."""
    uri = message.text("uri")
    name, path = uris.split(uri)
    loaded = _load(context, uri, name)
    if uris.entry(loaded, path) is not None:
        raise unknown(uri, "This is a file, not a directory.")
    directory = uris.directory(loaded, path)
    if directory is None or uri.endswith("/"):
        raise unknown(uri, "There is no such directory.")
    files = [entry for entry in loaded.files if entry.path.startswith(directory)]
    below = {entry.path[len(directory) :].partition("/")[0] for entry in files if "/" in entry.path[len(directory) :]}
    folders = [
        {"uri": uris.of(loaded.name, directory + folder), "name": folder, "mimeType": "inode/directory"}
        for folder in sorted(below)
    ]
    here = [described(loaded, entry) for entry in files if "/" not in entry.path[len(directory) :]]
    return Outcome({"resources": [*here, *folders]})


def _load(context: Context, uri: str, name: str) -> Loaded:
    try:
        return context.load(name)
    except SkillsiteError as error:
        raise unknown(uri, error.message) from error


def _entry(loaded: Loaded) -> _Entry:
    """Read once for each state of a skill: it is a function of its digest."""
    found = loaded.candidate
    tag = f"{found.source} {found.version} {found.digest} {found.name}"
    kept = _entries.get(tag)
    if kept is None:
        document = loaded.skill_md().document
        fault = client_compat.skill_fault(loaded.name, document, loaded.files, limits=settings.LIMITS)
        kept = _Entry({} if fault else _said(loaded, client_compat.as_json(document)), fault)
        _entries.put(tag, kept, len(dump(kept.said)))
    return kept


def _said(loaded: Loaded, frontmatter: dict[str, object]) -> dict[str, Any]:
    return {
        "uri": uris.of(loaded.name, SKILL_MD),
        "frontmatter": frontmatter,
        "resources": [
            {"uri": uris.of(loaded.name, entry.path), "digest": f"sha256:{entry.digest}", "size": entry.size}
            for entry in loaded.files
        ],
        "_meta": about(loaded.candidate),
    }
