"""All that one agent is told: its prompt, the bodies of the skills it uses, its own instructions, in that order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from registry.core.catalog import token_estimate
from registry.core.catalog.precedence import EffectiveSkill
from registry.core.errors import Conflict, NotFound
from registry.models import Agent
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded, View

PROMPT, SKILL, INSTRUCTIONS = "prompt", "skill", "instructions"


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of what the agent is told; `skill` is the skill it is the body of."""

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


def compose(agent: Agent) -> Instructions:
    """A skill that cannot be had is an error that names it: an agent never works with a part of what it must know."""
    skills = _load(agent)
    return Instructions(agent.name, tuple(_parts(agent, skills)))


def _parts(agent: Agent, skills: list[Loaded]) -> Iterator[Part]:
    if prompt := agent.prompt.strip():
        yield Part(PROMPT, prompt, token_estimate.estimate(prompt))
    for loaded in skills:
        yield Part(SKILL, loaded.skill_md().instructions, loaded.candidate.tokens, loaded)
    if said := agent.instructions.strip():
        yield Part(INSTRUCTIONS, said, token_estimate.estimate(said))


def _load(agent: Agent) -> list[Loaded]:
    loaded, missing = [], {}
    for name in agent.uses_skills:
        try:
            loaded.append(catalog.load(agent.project_id, name))
        except NotFound:
            missing[name] = _reason(agent.project_id, name)
    if missing:
        listed = " ".join(f"It uses {name}, {reason}." for name, reason in missing.items())
        raise Conflict(
            f"The instructions of {agent.name} cannot be put together. {listed} "
            "Bring the skill back, or take it out of uses_skills.",
            skills=list(missing),
        )
    return loaded


def _reason(project_id: int, name: str) -> str:
    return _why(catalog.find(project_id, name))


def _why(found: EffectiveSkill | None) -> str:
    if found is None:
        return "which is not in this project"
    return "which has no version left" if found.enabled else "which is switched off"


def unavailable(names: Iterable[str], view: View) -> dict[str, str]:
    """Those of the names that no agent can load now, with the reason."""
    skills = {skill.name: skill for skill in view.skills}
    served = {candidate.name for candidate in view.served}
    return {name: _why(skills.get(name)) for name in names if name not in served}


def costs(found: Iterable[Agent], view: View) -> dict[str, int | None]:
    """What each agent is told, in tokens, from a view at hand; None where it cannot be put together."""
    by_skill = {candidate.name: candidate.tokens for candidate in view.served}
    return {agent.name: _cost(agent, by_skill) for agent in found}


def _cost(agent: Agent, by_skill: dict[str, int]) -> int | None:
    if not by_skill.keys() >= set(agent.uses_skills):
        return None
    own = (token_estimate.estimate(text) for text in (agent.prompt.strip(), agent.instructions.strip()) if text)
    return sum(own) + sum(by_skill[name] for name in agent.uses_skills)
