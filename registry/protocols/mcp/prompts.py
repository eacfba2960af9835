"""MCP prompts: the instructions of the agent that the token belongs to, followed by the catalog."""

from registry.core.errors import Conflict, SkillsiteError
from registry.protocols.mcp.context import CACHE_HINTS, PREFIX, Context, MethodResult
from registry.protocols.mcp.messages import INTERNAL_ERROR, INVALID_PARAMS, Message, Refused
from registry.services.agents import instructions

NAME = "instructions"


def list_prompts(context: Context, message: Message) -> MethodResult:
    """List the one prompt of an agent. A token of a person has none."""
    if message.params.get("cursor") is not None:
        raise Refused(INVALID_PARAMS, "The cursor is invalid. There is only one page.")
    actor = context.caller.actor
    prompt = {
        "name": NAME,
        "title": f"Instructions of {actor.name}",
        "description": "The role, the skills and the instructions of this agent, then the list of skills to load.",
        "arguments": [],
    }
    return MethodResult({"prompts": [prompt] if actor.agent_id is not None else [], **CACHE_HINTS})


def get_prompt(context: Context, message: Message) -> MethodResult:
    """Return the instructions as one message. Incomplete instructions are an error of the server, not of the caller."""
    name, arguments = message.text("name"), message.params.get("arguments")
    if name != NAME:
        raise Refused(INVALID_PARAMS, f"Unknown prompt: {name[:80]}")
    if arguments not in (None, {}):
        raise Refused(INVALID_PARAMS, f"The prompt {NAME} has no arguments.")
    try:
        agent = instructions.own_agent(context.caller)
    except SkillsiteError as error:
        raise Refused(INVALID_PARAMS, error.message) from error
    try:
        composed = instructions.with_catalog(instructions.compose(agent), agent, context.caller)
    except Conflict as error:
        raise Refused(INTERNAL_ERROR, error.message) from error
    body = {
        "description": f"Instructions of {agent.name}",
        "messages": [{"role": "user", "content": {"type": "text", "text": composed.text}}],
        "_meta": {f"{PREFIX}agent": agent.name, f"{PREFIX}tokens": composed.tokens},
    }
    return MethodResult(body, composed.loads)
