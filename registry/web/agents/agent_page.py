"""The page of one agent: exactly what it gets in every prompt, and what that costs."""

from dataclasses import dataclass
from functools import cached_property

from django.conf import settings
from django.urls import reverse

from registry.core.catalog import prompt
from registry.core.catalog.prompt import Catalog
from registry.core.errors import Conflict
from registry.models import Agent, Project
from registry.services.agents import agent_catalog, agents, instructions
from registry.services.agents.instructions import Instructions, Unavailable
from registry.services.catalog import skill_list
from registry.services.catalog.catalog import View

_LABELS = {instructions.PROMPT: "Role prompt", instructions.INSTRUCTIONS: "Own instructions"}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the instructions. `skill` and `version` are empty where the part is not a skill."""

    label: str
    text: str
    tokens: int
    skill: str = ""
    version: str = ""

    @property
    def description(self) -> str:
        return f"Instructions of {self.skill}" if self.skill else self.label


class AgentPage:
    def __init__(self, project: Project, agent: Agent, view: View) -> None:
        self.project, self.agent = project, agent
        self._project_view = view
        self._view, self.catalog_tokens = visible(agent, view, project.revision)

    @cached_property
    def instructions(self) -> Instructions | None:
        """The instructions, or None where a skill is unavailable and the agent gets an error."""
        try:
            return instructions.compose(self.agent)
        except Conflict:
            return None

    @cached_property
    def parts(self) -> list[Part]:
        return [_part(part) for part in self.instructions.parts] if self.instructions else []

    @property
    def missing(self) -> list[Unavailable]:
        """Skills that the agent uses and that are unavailable: without them it gets no instructions."""
        return instructions.unavailable(self.agent.uses_skills, self._project_view)

    @property
    def unseen(self) -> list[Unavailable]:
        """Selected skills that are unavailable. The agent works without them."""
        return instructions.unavailable(self.agent.allowed_skills or (), self._project_view)

    @cached_property
    def fitted(self) -> Catalog:
        return agent_catalog.of_agent(self.agent, self.project.revision, form="text")

    @property
    def catalog(self) -> str:
        return prompt.as_text(self.fitted)

    @property
    def listed_count(self) -> int:
        """The number of skills in the list, which `best_skills` may limit."""
        return len(self.fitted.lines)

    @property
    def skill_count(self) -> int:
        return len(self._view.served)

    @property
    def total(self) -> int:
        return (self.instructions.tokens if self.instructions else 0) + self.catalog_tokens

    @property
    def request(self) -> str:
        """The command that reads the instructions over the API."""
        path = reverse("api-instructions", args=[self.project.slug, self.agent.name])
        return f'curl -H "Authorization: Bearer $TOKEN" "{settings.PUBLIC_URL}{path}?format=text"'


def _part(part: instructions.Part) -> Part:
    if part.skill is None:
        return Part(_LABELS[part.kind], part.text, part.tokens)
    skill = part.skill.candidate
    return Part(skill.name, part.text, part.tokens, skill.name, skill.version)


def visible(agent: Agent, view: View, revision: int) -> tuple[View, int]:
    """Return the view of the skills that the agent may see, and the tokens of its catalog."""
    allowed = agents.sees(agent)
    own = view if allowed is None else view.only(allowed)
    if allowed is None and agent.best_skills is None:
        return own, skill_list.cost(own).tokens
    return own, prompt.cost(agent_catalog.of_agent(agent, revision, form="text"), "text", "tokens")
