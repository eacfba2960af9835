"""Checks for the strictest clients. Some reject a whole list if one skill in it breaks a rule, so it is left out."""

import re
from collections.abc import Iterable, Mapping

from registry.core.bundle import FileEntry
from registry.core.format.frontmatter import Document
from registry.core.limits import DEFAULT, Limits

COMPATIBILITY_CHARS = 500
NAME_PATTERN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TOLERANT = "frontmatter-tolerant"  # marks a header that is not valid YAML
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]{1,18}\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")


def listing_fault(name: str, description: str, *, limits: Limits = DEFAULT) -> str:
    """Return why a skill index cannot list this skill, or "" if it can."""
    if not (fault := _entry_fault(name, description, limits)) and len(description) > limits.description_chars:
        return f"Its description has {len(description):,} characters. {limits.description_chars:,} are allowed."
    return fault


def file_listing_fault(name: str, description: str, paths: Iterable[str], *, limits: Limits = DEFAULT) -> str:
    """Return the same for the older index, which lists files: any length of description, but no `..` in a path."""
    if bad := next((path for path in paths if ".." in path), None):
        return f"The name of its file {bad} contains two dots in a row. Rename the file."
    return _entry_fault(name, description, limits)


def _entry_fault(name: str, description: str, limits: Limits) -> str:
    if not NAME_PATTERN.fullmatch(name) or len(name) > limits.name_chars:
        return (
            f"Its name must have at most {limits.name_chars} lowercase letters, digits and single hyphens. "
            "Save it under another name."
        )
    if not description.strip():
        return "Its description is empty."
    return ""


def skill_fault(name: str, document: Document, files: Iterable[FileEntry], *, limits: Limits = DEFAULT) -> str:
    """Return how the skill breaks the Agent Skills format or the limits of MCP, or "" if it does not."""
    if any(finding.rule == _TOLERANT for finding in document.warnings):
        return "Its header is not valid YAML. Put values with a colon in quotes."
    header = as_json(document)
    if header.get("name") != name:
        return f"The name in its header is not {name}."
    if not isinstance(header.get("description"), str):
        return "Its description is not text."
    fault = listing_fault(name, str(header["description"]), limits=limits)
    return fault or _field_fault(header) or _size_fault(files, limits)


def _field_fault(header: Mapping[str, object]) -> str:
    for key in ("license", "allowed-tools", "compatibility"):
        if key in header and not isinstance(header[key], str):
            return f"{key} is not text. Put it in quotes."
    compatibility = header.get("compatibility")
    if isinstance(compatibility, str) and not 1 <= len(compatibility) <= COMPATIBILITY_CHARS:
        return f"compatibility has {len(compatibility):,} characters. 1 to {COMPATIBILITY_CHARS} are allowed."
    metadata = header.get("metadata", {})
    if not isinstance(metadata, dict):
        return "metadata is not a map of keys and texts."
    if bad := next((key for key, value in metadata.items() if not isinstance(value, str)), None):
        return f"metadata.{bad} is not text. Put it in quotes."
    return ""


def _size_fault(files: Iterable[FileEntry], limits: Limits) -> str:
    entries = tuple(files)
    total = sum(entry.size for entry in entries)
    if len(entries) > limits.mcp_files:
        return f"It has {len(entries):,} files. {limits.mcp_files:,} are allowed over MCP."
    if total > limits.mcp_bytes:
        return f"It has {total:,} bytes. {limits.mcp_bytes:,} are allowed over MCP."
    return ""


def as_json(document: Document) -> dict[str, object]:
    """Return the header as an ordinary YAML parser would. Unlike ours, it turns numbers into numbers."""
    return {key: _to_json(value, document.read_as, key) for key, value in document.fields.items()}


def _to_json(value: object, read_as: Mapping[str, str], path: str) -> object:
    if isinstance(value, Mapping):
        return {key: _to_json(item, read_as, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, tuple):
        return [_to_json(item, read_as, f"{path}.") for item in value]
    if isinstance(value, str) and read_as.get(path) == "int" and _WHOLE.fullmatch(value):
        return int(value)
    if isinstance(value, str) and read_as.get(path) == "float" and _DECIMAL.fullmatch(value):
        return float(value)
    return value
