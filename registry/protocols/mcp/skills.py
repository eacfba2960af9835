"""The skills extension of MCP: skills with their frontmatter, the digests of their files, and directories."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from registry.core.bundle import SKILL_MD
from registry.core.errors import SkillsiteError
from registry.core.format import client_compat
from registry.lib.lru import MEBIBYTE, ByteCache
from registry.protocols.mcp import uris
from registry.protocols.mcp.context import CACHE_HINTS, PREFIX, Context, MethodResult, meta, paginate
from registry.protocols.mcp.messages import Message, dump, unknown
from registry.protocols.mcp.resources import describe
from registry.services.catalog.catalog import Loaded

EXTENSION = "io.modelcontextprotocol/skills"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A skill in the format of the extension, or the reason why the extension can't carry it."""

    body: dict[str, Any]
    fault: str


_entries: ByteCache[_Entry] = ByteCache(64 * MEBIBYTE, largest=2 * MEBIBYTE)


def list_skills(context: Context, message: Message) -> MethodResult:
    """List skills. Those that the extension can't carry are named in `_meta`; clients can read them as resources."""
    candidates, cursor = paginate(context.candidates, message)
    entries = {loaded.name: _entry(loaded) for loaded in context.load_many(candidates)}
    result = {"skills": [entry.body for entry in entries.values() if not entry.fault], **cursor, **CACHE_HINTS}
    left_out = [{"name": name, "reason": entry.fault} for name, entry in entries.items() if entry.fault]
    if left_out:
        result["_meta"] = {f"{PREFIX}leftOut": left_out}
    return MethodResult(result)


def get_skill(context: Context, message: Message) -> MethodResult:
    uri = message.text("uri")
    name, path = uris.split(uri)
    if path != SKILL_MD:
        raise unknown(uri, "The URI of a skill is that of its SKILL.md: skill://name/SKILL.md.")
    entry = _entry(_load(context, uri, name))
    if entry.fault:
        raise unknown(uri, f"This extension can’t carry {name}. {entry.fault}")
    return MethodResult({"skill": entry.body, **CACHE_HINTS})


def read_directory(context: Context, message: Message) -> MethodResult:
    """List the direct children of a directory of a skill."""
    uri = message.text("uri")
    name, path = uris.split(uri)
    loaded = _load(context, uri, name)
    if uris.entry(loaded, path) is not None:
        raise unknown(uri, "This is a file, not a directory.")
    directory = uris.directory(loaded, path)
    if directory is None or uri.endswith("/"):
        raise unknown(uri, "This skill has no such directory.")
    files = [entry for entry in loaded.files if entry.path.startswith(directory)]
    below = {entry.path[len(directory) :].partition("/")[0] for entry in files if "/" in entry.path[len(directory) :]}
    folders = [
        {"uri": uris.of(loaded.name, directory + folder), "name": folder, "mimeType": "inode/directory"}
        for folder in sorted(below)
    ]
    here = [describe(loaded, entry) for entry in files if "/" not in entry.path[len(directory) :]]
    return MethodResult({"resources": [*here, *folders]})


def _load(context: Context, uri: str, name: str) -> Loaded:
    try:
        return context.load(name)
    except SkillsiteError as error:
        raise unknown(uri, error.message) from error


def _entry(loaded: Loaded) -> _Entry:
    candidate = loaded.candidate
    key = f"{candidate.source} {candidate.version} {candidate.digest} {candidate.name}"
    entry = _entries.get(key)
    if entry is None:
        document = loaded.skill_md().document
        fault = client_compat.skill_fault(loaded.name, document, loaded.files, limits=settings.LIMITS)
        entry = _Entry({} if fault else _body(loaded, client_compat.as_json(document)), fault)
        _entries.put(key, entry, len(dump(entry.body)))
    return entry


def _body(loaded: Loaded, frontmatter: dict[str, object]) -> dict[str, Any]:
    return {
        "uri": uris.of(loaded.name, SKILL_MD),
        "frontmatter": frontmatter,
        "resources": [
            {"uri": uris.of(loaded.name, entry.path), "digest": f"sha256:{entry.digest}", "size": entry.size}
            for entry in loaded.files
        ],
        "_meta": meta(loaded.candidate),
    }
