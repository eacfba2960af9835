"""The tools of agents: which skills there are, load one, read one of its files, suggest a better one."""

from django.conf import settings

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.catalog import prompt
from registry.core.catalog.precedence import PROJECT
from registry.core.errors import SkillsiteError
from registry.protocols.mcp import proposal_tools
from registry.protocols.mcp.context import FRESH, Context, Outcome
from registry.protocols.mcp.messages import INVALID_PARAMS, Message, Refused
from registry.protocols.mcp.tool import TEXT, Arguments, Tool, said, structured
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded


def _list_skills(context: Context, arguments: Arguments) -> Outcome:
    budget = arguments.get("budget", "")
    lines = [
        prompt.CatalogLine(found.name, found.description)
        for found in catalog.matching(context.candidates, q=arguments.get("query", ""))
    ]
    fitted = prompt.fit(
        lines, budget=prompt.parse_budget(budget) if budget else None, form="text", limits=settings.LIMITS
    )
    if not lines:
        return said("No skill has all of these words." if arguments.get("query") else "There are no skills.")
    return said(prompt.as_text(fitted))


def _read_skill(context: Context, arguments: Arguments) -> Outcome:
    loaded = context.load(arguments["skill_id"])
    found = loaded.candidate
    lines = [
        prompt.summary(found.name, found.tokens),
        f"Version {found.version}, {found.digest}, from {found.source}.",
        prompt.hint(found.requires),
        _files(loaded),
    ]
    text = "\n".join(line for line in lines if line)
    return said(f"{text}\n\n{loaded.skill_md().instructions}", loaded, counts=True)


def _files(loaded: Loaded) -> str:
    others = [entry.path for entry in loaded.files if entry.path != SKILL_MD]
    return f"Files, for read_skill_resource: {', '.join(others)}" if others else ""


def _read_skill_resource(context: Context, arguments: Arguments) -> Outcome:
    loaded = context.load(arguments["skill_id"])
    return said(loaded.read_text(arguments["path"], settings.LIMITS), loaded)


def _load(context: Context, arguments: Arguments) -> Outcome:
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
    return Outcome(structured(body), ((loaded.name, loaded.candidate.version),))


def _read_file(context: Context, arguments: Arguments) -> Outcome:
    loaded = context.load(arguments["name"])
    text = loaded.read_text(arguments["path"], settings.LIMITS)
    return Outcome(structured({"ok": True, "name": loaded.name, "path": arguments["path"], "content": text}))


_SKILL = {"skill_id": {**TEXT, "description": "The name of the skill, as list_skills gives it."}}

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "list_skills",
            "List skills",
            "Names and descriptions of the skills there are. Call this before a task that somebody may have written "
            "down how to do.",
            _list_skills,
            {
                "query": {**TEXT, "description": "Only skills with all of these words, best first."},
                "budget": {**TEXT, "description": "The most the list may cost: 2000 (tokens) or 8000c (characters)."},
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
            "One text file of a skill, by the path that its instructions give.",
            _read_skill_resource,
            {**_SKILL, "path": {**TEXT, "description": "Relative to the skill, such as references/terms.md."}},
            ("skill_id", "path"),
        ),
        *proposal_tools.TOOLS,
    )
}

# Names that agents of older systems know. They answer when called, and are not listed beside their equals above.
_UNLISTED: dict[str, Tool] = {
    "skills.load": Tool("skills.load", "", "", _load, {"name": TEXT}, ("name",)),
    "skills.readFile": Tool("skills.readFile", "", "", _read_file, {"name": TEXT, "path": TEXT}, ("name", "path")),
}


def list_tools(context: Context, message: Message) -> Outcome:
    """Those that the token of the caller opens."""
    listed = [tool.as_json() for tool in TOOLS.values() if context.caller.actor.may(tool.scope)]
    return Outcome({"tools": listed, **FRESH})


def call_tool(context: Context, message: Message) -> Outcome:
    """A mistake of the model comes back as a result that it can read; a tool that is not there is an error."""
    name, arguments = message.text("name"), message.params.get("arguments", {})
    tool = TOOLS.get(name) or _UNLISTED.get(name)
    if tool is None or not context.caller.actor.may(tool.scope):
        raise Refused(INVALID_PARAMS, f"Unknown tool: {name[:80]}")
    if not isinstance(arguments, dict):
        raise Refused(INVALID_PARAMS, "arguments is an object.")
    try:
        tool.check(arguments)
        return tool.call(context, arguments)
    except SkillsiteError as error:
        if name in _UNLISTED:
            return Outcome(structured({"ok": False, "error": error.message}))
        return Outcome({"content": [{"type": "text", "text": error.message}], "isError": True})


def is_kept(message: Message) -> bool:
    """Whether what a call gives is a function of what the caller may see: of reading it is, of proposals not."""
    name = message.params.get("name")
    tool = (TOOLS.get(name) or _UNLISTED.get(name)) if isinstance(name, str) else None
    return tool is not None and tool.scope == roles.READ
