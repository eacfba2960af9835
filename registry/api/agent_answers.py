"""Answers about agents: their definition, their tokens, and their instructions."""

from typing import Annotated, NotRequired, TypedDict

from registry.api.answers import timestamp
from registry.core import roles
from registry.lib.json_types import OneOf, Timestamp
from registry.models import Agent, Token
from registry.services.agents import instructions
from registry.services.agents.agents import Row
from registry.services.agents.instructions import Instructions, Part
from registry.services.agents.tokens import Issued

TRUST = "Stored for programs that ask for it. It changes neither what the agent sees nor what it may do."

BEST_SKILLS = "The catalog of the agent has only so many skills: those that fit its prompt best. Null for all."


class AgentShape(TypedDict):
    name: str
    prompt: str
    instructions: str
    uses_skills: list[str]
    allowed_skills: list[str] | None
    best_skills: Annotated[int | None, BEST_SKILLS]
    trust: Annotated[str, OneOf(roles.TRUST_LEVELS), TRUST]
    created_at: Timestamp
    last_seen_at: Timestamp | None


class AgentRowShape(AgentShape):
    tokens: Annotated[int, "Tokens that are neither revoked nor expired."]
    loads: Annotated[int, "Skills loaded in the last 30 days."]


class AgentsPage(TypedDict):
    results: list[AgentRowShape]
    next: str | None


class TokenShape(TypedDict):
    id: int
    start: Annotated[str, "The first characters, to tell tokens apart."]
    scopes: list[Annotated[str, OneOf(roles.SCOPES)]]
    made_by: str | None
    created_at: Timestamp
    expires_at: Timestamp | None
    revoked_at: Timestamp | None
    last_used_at: Timestamp | None


class NewTokenShape(TokenShape):
    token: Annotated[str, "The secret. It is shown only once and is not stored."]


class TokensPage(TypedDict):
    results: list[TokenShape]
    next: str | None


class PartShape(TypedDict):
    kind: Annotated[str, OneOf(instructions.KINDS)]
    text: str
    tokens: int
    name: NotRequired[str]
    source: NotRequired[str]
    version: NotRequired[str]
    digest: NotRequired[str]


class InstructionsShape(TypedDict):
    agent: str
    tokens: int
    text: str
    parts: list[PartShape]


def agent_shape(agent: Agent) -> AgentShape:
    return {
        "name": agent.name,
        "prompt": agent.prompt,
        "instructions": agent.instructions,
        "uses_skills": agent.uses_skills,
        "allowed_skills": agent.allowed_skills,
        "best_skills": agent.best_skills,
        "trust": agent.trust,
        "created_at": agent.created_at.isoformat(),
        "last_seen_at": timestamp(agent.last_seen_at),
    }


def agent_row_shape(row: Row) -> AgentRowShape:
    return {**agent_shape(row.agent), "tokens": row.tokens, "loads": row.loads}


def token_shape(token: Token) -> TokenShape:
    return {
        "id": token.pk,
        "start": token.start,
        "scopes": token.scopes,
        "made_by": token.owner.username if token.owner else None,
        "created_at": token.created_at.isoformat(),
        "expires_at": timestamp(token.expires_at),
        "revoked_at": timestamp(token.revoked_at),
        "last_used_at": timestamp(token.last_used_at),
    }


def new_token_shape(issued: Issued) -> NewTokenShape:
    return {**token_shape(issued.token), "token": issued.secret}


def instructions_shape(composed: Instructions) -> InstructionsShape:
    return {
        "agent": composed.agent,
        "tokens": composed.tokens,
        "text": composed.text,
        "parts": [_part_shape(part) for part in composed.parts],
    }


def _part_shape(part: Part) -> PartShape:
    body: PartShape = {"kind": part.kind, "text": part.text, "tokens": part.tokens}
    if part.skill is None:
        return body
    skill = part.skill.candidate
    return {**body, "name": skill.name, "source": skill.source, "version": skill.version, "digest": skill.digest}
