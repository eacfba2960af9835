"""MCP tools for agents: list skills, find one, load it, read a file, propose a change, run a workflow."""

from collections.abc import Sequence

from django.conf import settings

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.catalog import prompt
from registry.core.catalog.precedence import PROJECT
from registry.core.errors import InvalidRequest, SkillsiteError
from registry.core.workflows.plan import FILE as WORKFLOW
from registry.protocols.mcp import proposal_tools, route_tool, run_tools
from registry.protocols.mcp.context import CACHE_HINTS, Context, MethodResult
from registry.protocols.mcp.messages import INVALID_PARAMS, Message, Refused
from registry.protocols.mcp.run_results import fields_json
from registry.protocols.mcp.tool import TEXT, Arguments, Tool, structured, text_result
from registry.services.agents import agent_catalog
from registry.services.agents.agent_catalog import CatalogQuery
from registry.services.catalog.catalog import Loaded
from registry.services.workflows import locks


def _list_skills(context: Context, arguments: Arguments) -> MethodResult:
    query = CatalogQuery(q=arguments.get("query", ""))
    fitted = agent_catalog.of_caller(context.caller, query, form="text", budget=arguments.get("budget", ""))
    text = prompt.as_text(fitted)
    return text_result(text or ("No skill matches these words." if query.q.strip() else "There are no skills."))


def _read_skill(context: Context, arguments: Arguments) -> MethodResult:
    loaded = context.load(arguments["skill_id"])
    skill, skill_md = loaded.candidate, loaded.skill_md()
    lines = [
        prompt.summary(skill.name, skill.tokens),
        f"Version {skill.version}, {skill.digest}, from {skill.source}.",
        prompt.hint(skill.requires),
        _workflow_hint(context, loaded),
        _labelled("Triggers", skill_md.triggers),
        _labelled("Inputs", skill_md.inputs),
        _labelled("Outputs", skill_md.outputs),
        _labelled("Files, for read_skill_resource", [e.path for e in loaded.files if e.path != SKILL_MD]),
    ]
    text = "\n".join(line for line in lines if line)
    return text_result(f"{text}\n\n{skill_md.instructions}", loaded, counts=True)


def _workflow_hint(context: Context, loaded: Loaded) -> str:
    """Return how to start the workflow of a skill, for a caller who can and a workflow that can run."""
    if not context.caller.actor.may(roles.RUN) or all(entry.path != WORKFLOW for entry in loaded.files):
        return ""
    try:
        inputs = locks.plan_of(loaded).inputs
    except InvalidRequest:
        return ""
    return prompt.workflow_hint(loaded.name, [f"{name} ({type_})" for name, type_ in fields_json(inputs).items()])


def _labelled(label: str, items: Sequence[str]) -> str:
    return f"{label}: {', '.join(items)}" if items else ""


def _read_skill_resource(context: Context, arguments: Arguments) -> MethodResult:
    loaded = context.load(arguments["skill_id"])
    return text_result(loaded.read_text(arguments["path"], settings.LIMITS), loaded)


def _load(context: Context, arguments: Arguments) -> MethodResult:
    loaded = context.load(arguments["name"])
    body = {
        "ok": True,
        "name": loaded.name,
        "source": "db" if loaded.candidate.source == PROJECT else "fs",
        "skillDirectory": None,
        "content": loaded.skill_md().instructions,
        "version": loaded.candidate.version,
        "digest": loaded.candidate.digest,
    }
    return MethodResult(structured(body), ((loaded.name, loaded.candidate.version),))


def _read_file(context: Context, arguments: Arguments) -> MethodResult:
    loaded = context.load(arguments["name"])
    text = loaded.read_text(arguments["path"], settings.LIMITS)
    return MethodResult(structured({"ok": True, "name": loaded.name, "path": arguments["path"], "content": text}))


_SKILL = {"skill_id": {**TEXT, "description": "The name of the skill from list_skills."}}

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "list_skills",
            "List skills",
            "Names and descriptions of all skills. Call this before a task that a skill may describe.",
            _list_skills,
            {
                "query": {**TEXT, "description": "Only skills that match some of these words, best first."},
                "budget": {**TEXT, "description": "Maximum size of the list: 2000 (tokens) or 8000c (characters)."},
            },
        ),
        Tool(
            "read_skill",
            "Load a skill",
            "The full instructions of one skill, and the names of its files.",
            _read_skill,
            _SKILL,
            ("skill_id",),
        ),
        Tool(
            "read_skill_resource",
            "Read a file of a skill",
            "One text file of a skill, by the path in its instructions.",
            _read_skill_resource,
            {**_SKILL, "path": {**TEXT, "description": "Path relative to the skill, such as references/terms.md."}},
            ("skill_id", "path"),
        ),
        route_tool.TOOL,
        *proposal_tools.TOOLS,
        *run_tools.TOOLS,
    )
}

# Names from older systems. They work, but are not listed beside their equivalents above.
_UNLISTED: dict[str, Tool] = {
    "skills.load": Tool("skills.load", "", "", _load, {"name": TEXT}, ("name",)),
    "skills.readFile": Tool("skills.readFile", "", "", _read_file, {"name": TEXT, "path": TEXT}, ("name", "path")),
}


def list_tools(context: Context, message: Message) -> MethodResult:
    """List the tools that the scopes of the caller allow."""
    listed = [tool.as_json() for tool in TOOLS.values() if context.caller.actor.may(tool.scope)]
    return MethodResult({"tools": listed, **CACHE_HINTS})


def call_tool(context: Context, message: Message) -> MethodResult:
    """Call a tool. Mistakes of the model are results that it can read; an unknown tool is a protocol error."""
    name, arguments = message.text("name"), message.params.get("arguments", {})
    tool = TOOLS.get(name) or _UNLISTED.get(name)
    if tool is None or not context.caller.actor.may(tool.scope):
        raise Refused(INVALID_PARAMS, f"Unknown tool: {name[:80]}")
    if not isinstance(arguments, dict):
        raise Refused(INVALID_PARAMS, "arguments must be an object.")
    try:
        tool.check(arguments)
        return tool.call(context, arguments)
    except SkillsiteError as error:
        if name in _UNLISTED:
            return MethodResult(structured({"ok": False, "error": error.message}))
        return MethodResult({"content": [{"type": "text", "text": error.message}], "isError": True})


def is_cacheable(context: Context, message: Message) -> bool:
    """Return whether the result depends only on what the caller may see.

    Results of proposal tools do not, and neither does what routing has chosen: its index may still be incomplete.
    """
    name, arguments = message.params.get("name"), message.params.get("arguments")
    tool = (TOOLS.get(name) or _UNLISTED.get(name)) if isinstance(name, str) else None
    if tool is None or tool.scope != roles.READ or not tool.cacheable:
        return False
    searches = isinstance(arguments, dict) and bool(arguments.get("query"))
    return name != "list_skills" or not (searches or context.caller.best_skills)
