"""Files of skills as resources, with the index and the manifests that clients older than the extension ask for."""

import base64
from typing import Any

from django.conf import settings

from registry.core import content_types
from registry.core.bundle import SKILL_MD, FileEntry
from registry.core.errors import SkillsiteError
from registry.core.format import client_compat
from registry.protocols.mcp import uris
from registry.protocols.mcp.context import FRESH, Context, Outcome, about, page
from registry.protocols.mcp.messages import Message, dump, unknown
from registry.services.catalog.catalog import Loaded

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_JSON = "application/json"


def list_resources(context: Context, message: Message) -> Outcome:
    """The index, and SKILL.md of every skill; other files are found through them."""
    shown, more = page(context.candidates, message)
    index = [] if message.params.get("cursor") else [{"uri": uris.INDEX, "name": "index.json", "mimeType": _JSON}]
    listed = [
        {
            "uri": uris.of(one.name, SKILL_MD),
            "name": one.name,
            "description": one.description,
            "mimeType": "text/markdown",
            "_meta": about(one),
        }
        for one in shown
    ]
    return Outcome({"resources": [*index, *listed], **more, **FRESH})


def list_templates(context: Context, message: Message) -> Outcome:
    template = {
        "uriTemplate": "skill://{name}/{+path}",
        "name": "file",
        "description": "One file of a skill; SKILL.md has its instructions.",
    }
    return Outcome({"resourceTemplates": [template], **FRESH})


def read_resource(context: Context, message: Message) -> Outcome:
    uri = message.text("uri")
    if uri == uris.INDEX:
        return _answer(uri, {"mimeType": _JSON, "text": _index(context)})
    name, path = uris.split(uri)
    if not name:
        raise unknown(uri, "Resources stand at skill://name/path.")
    try:
        loaded = context.load(name)
        entry = uris.entry(loaded, path)
        if entry is not None:
            contents = _contents(loaded, entry)
        elif path == uris.MANIFEST:
            contents = {"mimeType": _JSON, "text": _manifest(loaded)}
        else:
            raise unknown(uri, "There is no such file in this skill.")
    except SkillsiteError as error:
        raise unknown(uri, error.message) from error
    loads = ((loaded.name, loaded.candidate.version),) if entry is not None and entry.path == SKILL_MD else ()
    return _answer(uri, {**contents, "_meta": about(loaded.candidate)}, loads)


def _answer(uri: str, contents: dict[str, Any], loads: tuple[tuple[str, str], ...] = ()) -> Outcome:
    return Outcome({"contents": [{"uri": uri, **contents}], **FRESH}, loads)


def _contents(loaded: Loaded, entry: FileEntry) -> dict[str, Any]:
    """Text where the bytes are text, so that they come back exactly; Base64 otherwise."""
    content = loaded.read(entry)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return {"mimeType": mime_type(entry.path), "blob": base64.b64encode(content).decode()}
    kind = mime_type(entry.path)
    return {"mimeType": "text/plain" if kind == content_types.OCTETS else kind, "text": text}


def described(loaded: Loaded, entry: FileEntry) -> dict[str, Any]:
    """What a listing says about one file."""
    said: dict[str, Any] = {
        "uri": uris.of(loaded.name, entry.path),
        "name": entry.path.rpartition("/")[2],
        "mimeType": mime_type(entry.path),
        "size": entry.size,
    }
    if entry.path == SKILL_MD:
        said.update(name=loaded.name, description=loaded.candidate.description)
    return said


def mime_type(path: str) -> str:
    return content_types.content_type(path).partition(";")[0]


def _manifest(loaded: Loaded) -> str:
    files = [{"path": e.path, "size": e.size, "hash": f"sha256:{e.digest}"} for e in loaded.files]
    return dump({"skill": loaded.name, "files": files}).decode()


def _index(context: Context) -> str:
    """Every skill by the address of its SKILL.md, in the shape of the discovery index; what is left out is named."""
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
