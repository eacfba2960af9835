"""The catalog that one caller gets: search, filters, the order by a prompt, and the limit of an agent."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from registry.core.catalog import prompt
from registry.core.catalog.precedence import Candidate
from registry.core.routing.request import readable
from registry.models import Agent
from registry.services.agents import agents
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog
from registry.services.routing import prompt_order, routing


@dataclass(frozen=True, slots=True)
class CatalogQuery:
    """Search words, a prompt to order by, and filters. An empty value leaves the catalog as it is."""

    q: str = ""
    prompt: str = ""
    tag: str = ""
    kind: str = ""
    source: str = ""


def of_caller(caller: Caller, query: CatalogQuery, *, form: prompt.Form, budget: str = "") -> prompt.Catalog:
    """Return the catalog. A search looks at all skills of the caller, also if the agent is limited to the best."""
    view = catalog.view(caller.project_id, caller.revision, allowed=caller.allowed)
    chosen = catalog.matching(view.served, tag=query.tag, kind=query.kind, source=query.source)
    searching = bool(query.q.strip())
    if searching:
        found = routing.search(caller.project_id, caller.revision, readable(query.q), allowed=caller.allowed)
        by_name = {candidate.name: candidate for candidate in chosen}
        chosen = [by_name[one.name] for one in found if one.name in by_name]
    keep = None if searching else caller.best_skills
    text = query.prompt or (_prompt_of(caller) if keep else "")
    if text.strip():
        chosen = prompt_order.by_relevance(caller.project_id, caller.revision, text, chosen)
    return _fitted(chosen, form=form, budget=budget, keep=keep)


def of_agent(agent: Agent, revision: int, *, form: prompt.Form, budget: str = "") -> prompt.Catalog:
    """Return the catalog for the instructions of an agent."""
    served: Sequence[Candidate] = catalog.view(agent.project_id, revision, allowed=agents.sees(agent)).served
    if agent.best_skills:
        served = prompt_order.by_relevance(agent.project_id, revision, compared_text(agent), served)
    return _fitted(served, form=form, budget=budget, keep=agent.best_skills)


def compared_text(agent: Agent) -> str:
    """Return the text by which the best skills are chosen: the prompt, or else the own instructions."""
    return agent.prompt.strip() or agent.instructions.strip()


def _prompt_of(caller: Caller) -> str:
    agent = Agent.objects.filter(pk=caller.actor.agent_id or 0).only("prompt", "instructions").first()
    return compared_text(agent) if agent else ""


def _fitted(skills: Sequence[Candidate], *, form: prompt.Form, budget: str, keep: int | None) -> prompt.Catalog:
    return prompt.fit(
        [prompt.CatalogLine(skill.name, skill.description) for skill in skills],
        budget=prompt.parse_budget(budget) if budget else None,
        form=form,
        limits=settings.LIMITS,
        keep=keep,
    )
