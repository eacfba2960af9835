"""Files of skills as MCP resources, with the index and manifests for clients without the skills extension."""

import base64
from typing import Any

from django.conf import settings

from registry.core import content_types
from registry.core.bundle import SKILL_MD, FileEntry
from registry.core.errors import SkillsiteError
from registry.core.format import client_compat
from registry.protocols.mcp import uris
from registry.protocols.mcp.context import CACHE_HINTS, Context, MethodResult, meta, paginate
from registry.protocols.mcp.messages import Message, dump, unknown
from registry.services.catalog.catalog import Loaded

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_JSON = "application/json"


def list_resources(context: Context, message: Message) -> MethodResult:
    """List the index and the SKILL.md of every skill, from which clients find the other files."""
    candidates, cursor = paginate(context.candidates, message)
    index = [] if message.params.get("cursor") else [{"uri": uris.INDEX, "name": "index.json", "mimeType": _JSON}]
    listed = [
        {
            "uri": uris.of(candidate.name, SKILL_MD),
            "name": candidate.name,
            "description": candidate.description,
            "mimeType": "text/markdown",
            "_meta": meta(candidate),
        }
        for candidate in candidates
    ]
    return MethodResult({"resources": [*index, *listed], **cursor, **CACHE_HINTS})


def list_templates(context: Context, message: Message) -> MethodResult:
    template = {
        "uriTemplate": "skill://{name}/{+path}",
        "name": "file",
        "description": "One file of a skill. SKILL.md contains the instructions.",
    }
    return MethodResult({"resourceTemplates": [template], **CACHE_HINTS})


def read_resource(context: Context, message: Message) -> MethodResult:
    uri = message.text("uri")
    if uri == uris.INDEX:
        return _read_result(uri, {"mimeType": _JSON, "text": _index(context)})
    name, path = uris.split(uri)
    if not name:
        raise unknown(uri, "The URI of a resource is skill://name/path.")
    try:
        loaded = context.load(name)
        entry = uris.entry(loaded, path)
        if entry is not None:
            contents = _contents(loaded, entry)
        elif path == uris.MANIFEST:
            contents = {"mimeType": _JSON, "text": _manifest(loaded)}
        else:
            raise unknown(uri, "This skill has no such file.")
    except SkillsiteError as error:
        raise unknown(uri, error.message) from error
    loads = ((loaded.name, loaded.candidate.version),) if entry is not None and entry.path == SKILL_MD else ()
    return _read_result(uri, {**contents, "_meta": meta(loaded.candidate)}, loads)


def _read_result(uri: str, contents: dict[str, Any], loads: tuple[tuple[str, str], ...] = ()) -> MethodResult:
    return MethodResult({"contents": [{"uri": uri, **contents}], **CACHE_HINTS}, loads)


def _contents(loaded: Loaded, entry: FileEntry) -> dict[str, Any]:
    """Return UTF-8 text without NUL as text, and everything else as Base64, so that no byte is lost."""
    content = loaded.read(entry)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return {"mimeType": mime_type(entry.path), "blob": base64.b64encode(content).decode()}
    kind = mime_type(entry.path)
    return {"mimeType": "text/plain" if kind == content_types.OCTETS else kind, "text": text}


def describe(loaded: Loaded, entry: FileEntry) -> dict[str, Any]:
    """Return the entry of one file in a listing."""
    resource: dict[str, Any] = {
        "uri": uris.of(loaded.name, entry.path),
        "name": entry.path.rpartition("/")[2],
        "mimeType": mime_type(entry.path),
        "size": entry.size,
    }
    if entry.path == SKILL_MD:
        resource.update(name=loaded.name, description=loaded.candidate.description)
    return resource


def mime_type(path: str) -> str:
    return content_types.content_type(path).partition(";")[0]


def _manifest(loaded: Loaded) -> str:
    files = [{"path": e.path, "size": e.size, "hash": f"sha256:{e.digest}"} for e in loaded.files]
    return dump({"skill": loaded.name, "files": files}).decode()


def _index(context: Context) -> str:
    """Return the discovery index with the URI of each SKILL.md. Skills that it can't carry are named in x-left-out."""
    skills, left_out = [], []
    for loaded in context.load_many(context.candidates):
        if reason := client_compat.listing_fault(loaded.name, loaded.candidate.description, limits=settings.LIMITS):
            left_out.append({"name": loaded.name, "reason": reason})
        else:
            skills.append(_index_entry(loaded))
    return dump({"$schema": SCHEMA, "skills": skills, **({"x-left-out": left_out} if left_out else {})}).decode()


def _index_entry(loaded: Loaded) -> dict[str, str]:
    return {
        "name": loaded.name,
        "type": "skill-md",
        "description": loaded.candidate.description,
        "url": uris.of(loaded.name, SKILL_MD),
        "digest": f"sha256:{loaded.entry(SKILL_MD).digest}",
    }
