"""The MCP tool that finds the skills for a question."""

from typing import Any

from registry.core.format.skill_md import KINDS
from registry.core.routing import request as requests
from registry.core.text.shorten import one_line, shorten
from registry.lib.percent import in_percent
from registry.protocols.mcp.context import Context, MethodResult
from registry.protocols.mcp.tool import TEXT, Arguments, Tool
from registry.services.agents import agent_routing
from registry.services.routing import route_answer
from registry.services.routing.routing import Routed

NONE = "None of these skills fits. Go on without a skill, or call list_skills to see all of them."
_ARGUMENTS = ("query", "limit", "kind")


def _route(context: Context, arguments: Arguments) -> MethodResult:
    routed = agent_routing.route(context.caller, requests.parse(arguments, _ARGUMENTS))
    body: dict[str, Any] = {**route_answer.as_json(routed)}
    return MethodResult(
        {"content": [{"type": "text", "text": _as_text(routed)}], "structuredContent": body, "isError": False}
    )


def _as_text(routed: Routed) -> str:
    if not routed.matches:
        return NONE
    lines = [
        f"{place}. `{skill.candidate.name}` ({in_percent(skill.confidence)}%) — {_short(skill.candidate.description)}"
        for place, skill in enumerate(routed.matches, 1)
    ]
    return "\n".join(["Skills for this question, with the probability that each is right:", *lines, "", _NEXT])


_NEXT = "Load the one that fits with read_skill(skill_id)."
_DESCRIPTION_CHARS = 200


def _short(description: str) -> str:
    return shorten(one_line(description), _DESCRIPTION_CHARS)


def _strings(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, TEXT)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_NUMBER = {"type": "number"}
_MATCH = _object(
    {
        **_strings("name", "title", "link", "reason", "source", "version", "digest", "kind"),
        "score": _NUMBER,
        "confidence": _NUMBER,
    }
)
_OUTPUT = _object(
    {
        "matches": {"type": "array", "items": _MATCH},
        "links": {"type": "array", "items": _object({**_strings("name", "status", "detail"), "ms": _NUMBER})},
        "threshold": _NUMBER,
        **_strings("threshold_from", "answered_by"),
        "none_of_these": {"type": "boolean"},
    }
)

TOOL = Tool(
    "route",
    "Find the skill for a question",
    "The skills that fit a question or a task, best first, or none. Call this first if there are many skills.",
    _route,
    {
        "query": {**TEXT, "minLength": 0, "description": "The question or the task, in the words of the user."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": requests.MOST_MATCHES,
            "description": f"How many skills to return. The default is {requests.DEFAULT_MATCHES}.",
        },
        "kind": {**TEXT, "enum": list(KINDS), "description": "Only skills of this kind."},
    },
    ("query",),
    output=_OUTPUT,
    cacheable=False,
)
