"""Views of an agent's instructions, for the agent itself and for people who may read."""

from typing import cast

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema

from registry.api import agent_answers as answers
from registry.api.read_view import Answer, Read, as_json
from registry.core.errors import InvalidRequest
from registry.models import Agent, Project
from registry.services.agents import agents, instructions
from registry.services.agents.instructions import CatalogForm
from registry.services.agents.tokens import Caller

_FORMATS = ("json", "text")
_CATALOGS = ("text", "xml")
_PARAMETERS = [
    OpenApiParameter("format", str, enum=_FORMATS),
    OpenApiParameter(
        "catalog", str, enum=_CATALOGS, description="Adds the list of the skills that the agent may load, at the end."
    ),
    OpenApiParameter("budget", str, description="Maximum size of that list, as for the catalog."),
]
_RESPONSES = {(200, "application/json"): answers.InstructionsShape, (200, "text/plain"): str}


class AgentInstructions(Read):
    """For the agent itself and for people who may read. An agent cannot read another agent's instructions."""

    counts_loads = True

    def is_cached(self, request: HttpRequest, caller: Caller) -> bool:
        return _is_cached(request, caller)

    def permit(self, caller: Caller, **kwargs: str) -> None:
        super().permit(caller, **kwargs)
        if caller.actor.agent_id is not None and caller.actor.name != kwargs["agent"]:
            raise agents.no_such_agent(kwargs["agent"])

    @extend_schema(
        operation_id="instructions",
        summary="Get the complete instructions of an agent: prompt, skills that it uses, and its own instructions",
        parameters=_PARAMETERS,
        responses=_RESPONSES,
    )
    def get(self, request: HttpRequest, caller: Caller, agent: str) -> Answer:
        return _answer(request, caller, agents.get(Project(pk=caller.project_id), agent))


class OwnInstructions(Read):
    """For the agent that the token belongs to, which need not know its name."""

    counts_loads = True

    def is_cached(self, request: HttpRequest, caller: Caller) -> bool:
        return _is_cached(request, caller)

    def other_state(self, caller: Caller) -> str:
        """Keep the answers of two agents apart, because the URL does not name the agent."""
        return f"agent {caller.actor.agent_id}"

    @extend_schema(
        operation_id="own_instructions",
        summary="Get the complete instructions of the agent that the token belongs to",
        parameters=_PARAMETERS,
        responses=_RESPONSES,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        return _answer(request, caller, instructions.own_agent(caller))


def _is_cached(request: HttpRequest, caller: Caller) -> bool:
    """Do not cache the best skills for a prompt, as in the catalog. A person may read any agent's."""
    chosen = caller.best_skills is not None or caller.actor.agent_id is None
    return not (chosen and request.GET.get("catalog"))


def _answer(request: HttpRequest, caller: Caller, agent: Agent) -> Answer:
    form, catalog = _choice(request, "format", _FORMATS) or "json", _choice(request, "catalog", _CATALOGS)
    composed = instructions.compose(agent)
    if catalog:
        budget = request.GET.get("budget", "")
        composed = instructions.with_catalog(composed, agent, caller, form=cast(CatalogForm, catalog), budget=budget)
    if form == "text":
        return Answer(composed.text.encode(), "text/plain; charset=utf-8", loads=composed.loads)
    return as_json(answers.instructions_shape(composed), loads=composed.loads)


def _choice(request: HttpRequest, name: str, known: tuple[str, ...]) -> str:
    value = request.GET.get(name, "")
    if value and value not in known:
        raise InvalidRequest(f"There is no {name} {value[:40]!r}. There are: {', '.join(known)}.")
    return value
