"""The JSON Schema of the header of SKILL.md, as the site reads it.

It accepts what an author may publish. Values that only some clients reject are described, and lint warns about them.
"""

from typing import Any

from registry.core.format import skill_md
from registry.core.format.client_compat import COMPATIBILITY_CHARS, NAME_PATTERN
from registry.core.limits import DEFAULT, Limits

FILE = "skill-manifest.schema.json"

_LISTS = {
    "tags": "Words to group skills by.",
    "requires": "Names of skills that an agent needs with this one.",
    "triggers": "Words and phrases that people use to ask for this skill. Routing looks at them.",
    "inputs": "Data that the skill needs.",
    "outputs": "Results of the skill.",
}
_OTHER_PLACE = "Write it below `metadata`; some clients reject it at the top level."


def schema(limits: Limits = DEFAULT) -> dict[str, Any]:
    """Return the schema of the header as a JSON value."""
    own = _own_keys()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": FILE,
        "title": "The header of SKILL.md",
        "description": (
            f"The YAML between the two `---` lines of SKILL.md. It has at most {limits.frontmatter_bytes} bytes. "
            "Other keys are allowed, but some clients reject them; write them below `metadata`."
        ),
        "type": "object",
        "required": ["name", "description"],
        "properties": {
            "name": {
                "description": "Lowercase letters (a–z), digits and single hyphens, like the name of the folder.",
                "type": "string",
                "maxLength": limits.name_chars,
                "pattern": f"^{NAME_PATTERN.pattern}$",
            },
            "description": {
                "description": "What the skill does and when to use it, in the words that people use to ask for it.",
                "type": "string",
                "maxLength": limits.description_chars,
                "pattern": r"\S",
            },
            "license": _text("The license of the files."),
            "compatibility": _text("What the skill needs to work.", most=COMPATIBILITY_CHARS),
            "allowed-tools": _text("Names of tools, with spaces between them."),
            "metadata": {
                "description": "Other keys. Values are texts; write lists with commas.",
                "type": "object",
                "properties": own,
            },
            **{key: _described(value, _OTHER_PLACE) for key, value in own.items()},
        },
        "additionalProperties": True,
    }


def _own_keys() -> dict[str, dict[str, Any]]:
    """Return the keys that are read at the top level and below `metadata`."""
    lists = {key: _list(_LISTS[key]) for key in skill_md.LISTS}
    return {
        **lists,
        "kind": {
            "description": "`tool` for a how-to, which is the default, or `knowledge` for reference.",
            "enum": sorted(skill_md.KINDS),
        },
        "version": _text("The version that an import keeps. Without one, the site counts."),
    }


def _text(description: str, *, most: int | None = None) -> dict[str, Any]:
    length: dict[str, Any] = {} if most is None else {"maxLength": most}
    return {"description": description, "type": "string", **length}


def _list(description: str) -> dict[str, Any]:
    return {
        "description": f"{description} One text with commas, or a list of texts.",
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    }


def _described(value: dict[str, Any], more: str) -> dict[str, Any]:
    return {**value, "description": f"{value['description']} {more}"}
