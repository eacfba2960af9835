"""Instructions of an agent: its role prompt, the skills it uses and its own instructions, in that order.

The catalog of the skills that it may load can follow. It is always the last part.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from registry.core.catalog import prompt, token_estimate
from registry.core.catalog.precedence import EffectiveSkill
from registry.core.errors import Conflict, NotFound
from registry.models import Agent, Project
from registry.services.agents import agent_catalog, agents
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded, View

PROMPT, SKILL, INSTRUCTIONS, CATALOG = "prompt", "skill", "instructions", "catalog"
KINDS = (PROMPT, SKILL, INSTRUCTIONS, CATALOG)

CatalogForm = Literal["text", "xml"]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the instructions; `skill` is set where the text is the body of a skill."""

    kind: str
    text: str
    tokens: int
    skill: Loaded | None = None


@dataclass(frozen=True, slots=True)
class Instructions:
    agent: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts)

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)

    @property
    def loads(self) -> tuple[tuple[str, str], ...]:
        """The names and versions of the skills that count as loaded."""
        return tuple((part.skill.name, part.skill.candidate.version) for part in self.parts if part.skill)


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A skill that no agent can load now. `reason` is a predicate, such as “is switched off”."""

    name: str
    reason: str
    exists: bool


def compose(agent: Agent) -> Instructions:
    """Return the complete instructions, or raise Conflict if a skill is unavailable: an agent never gets a part."""
    skills = _load(agent)
    return Instructions(agent.name, tuple(_parts(agent, skills)))


def own_agent(caller: Caller) -> Agent:
    """Return the agent that the token of the caller belongs to. Raise NotFound if it belongs to a person."""
    if caller.actor.agent_id is None:
        raise NotFound(
            "This token belongs to a person, not to an agent, so it has no instructions. "
            "Use a token of an agent, or name the agent."
        )
    return agents.get(Project(pk=caller.project_id), caller.actor.name)


def with_catalog(
    composed: Instructions, agent: Agent, caller: Caller, *, form: CatalogForm = "text", budget: str = ""
) -> Instructions:
    """Add the catalog of the skills that the agent may load, as the last part."""
    fitted = agent_catalog.of_agent(agent, caller.revision, form=form, budget=budget)
    text = prompt.as_xml(fitted) if form == "xml" else prompt.as_text(fitted)
    if not text:
        return composed
    return replace(composed, parts=(*composed.parts, Part(CATALOG, text, token_estimate.estimate(text))))


def _parts(agent: Agent, skills: list[Loaded]) -> Iterator[Part]:
    if role := agent.prompt.strip():
        yield Part(PROMPT, role, token_estimate.estimate(role))
    for loaded in skills:
        yield Part(SKILL, loaded.skill_md().instructions, loaded.candidate.tokens, loaded)
    if own := agent.instructions.strip():
        yield Part(INSTRUCTIONS, own, token_estimate.estimate(own))


def _load(agent: Agent) -> list[Loaded]:
    loaded, missing = [], []
    for name in agent.uses_skills:
        try:
            loaded.append(catalog.load(agent.project_id, name))
        except NotFound:
            missing.append(_unavailable(name, catalog.find(agent.project_id, name)))
    if missing:
        reasons = ", and ".join(f"{skill.name} {skill.reason}" for skill in missing)
        raise Conflict(
            f"The instructions of {agent.name} are incomplete: {reasons}. "
            "Restore the skill, or remove it from uses_skills.",
            skills=[skill.name for skill in missing],
        )
    return loaded


def _unavailable(name: str, skill: EffectiveSkill | None) -> Unavailable:
    if skill is None:
        return Unavailable(name, "is not in this project", exists=False)
    return Unavailable(name, "has no version left" if skill.enabled else "is switched off", exists=True)


def unavailable(names: Iterable[str], view: View) -> list[Unavailable]:
    """Return those of the names that no agent can load now."""
    skills = {skill.name: skill for skill in view.skills}
    served = {candidate.name for candidate in view.served}
    return [_unavailable(name, skills.get(name)) for name in names if name not in served]


def costs(agents: Iterable[Agent], view: View) -> dict[str, int | None]:
    """Return the tokens of each agent's instructions, from the view alone; None where a skill is unavailable."""
    by_skill = {candidate.name: candidate.tokens for candidate in view.served}
    return {agent.name: _cost(agent, by_skill) for agent in agents}


def _cost(agent: Agent, by_skill: dict[str, int]) -> int | None:
    if not by_skill.keys() >= set(agent.uses_skills):
        return None
    own = (token_estimate.estimate(text) for text in (agent.prompt.strip(), agent.instructions.strip()) if text)
    return sum(own) + sum(by_skill[name] for name in agent.uses_skills)
