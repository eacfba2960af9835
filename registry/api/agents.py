"""Views of a project's agents and their tokens, for owners."""

from typing import Any

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import agent_answers as answers
from registry.api import write_view
from registry.api.inputs import StrictInput, validate
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, parse_page
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.core.catalog.visibility import BEST_SKILLS, Definition
from registry.models import Project
from registry.services.agents import agents, tokens
from registry.services.agents.tokens import Caller
from registry.services.permissions import require


class AgentChange(StrictInput):
    prompt = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    instructions = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    uses_skills = serializers.ListField(child=serializers.CharField(), required=False)
    allowed_skills = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True)
    best_skills = serializers.IntegerField(
        min_value=1, max_value=BEST_SKILLS, required=False, allow_null=True, help_text=answers.BEST_SKILLS
    )
    trust = serializers.ChoiceField(choices=roles.TRUST_LEVELS, required=False, help_text=answers.TRUST)


class AgentInput(AgentChange):
    name = serializers.CharField()


class TokenInput(StrictInput):
    scopes = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    expires = serializers.CharField(
        required=False, help_text="A number and h, d or w, such as 90d. Without it, the token never expires."
    )


class Agents(Read, Write):
    read_scope = write_scope = roles.MANAGE
    cached = False

    @extend_schema(
        operation_id="agents", summary="List the agents", parameters=PAGE_PARAMETERS, responses=answers.AgentsPage
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page, where = parse_page(request), Project(pk=caller.project_id)
        found = agents.all_of(where)
        results = [answers.agent_row_shape(row) for row in agents.rows(where, found[page.bounds])]
        return as_json(answers.AgentsPage(results=results, next=page.next_link(request, found.count())))

    @extend_schema(
        operation_id="create_agent",
        summary="Create an agent",
        request=AgentInput,
        responses={201: answers.AgentShape},
    )
    def post(self, request: Request, project: str) -> Response:
        body = validate(AgentInput, request)
        name = body.pop("name")
        agent = agents.create(write_view.project(request), name, Definition(**_fields(body)), by=actor(request))
        return Response(answers.agent_shape(agent), status=201)


class OneAgent(Read, Write):
    read_scope = write_scope = roles.MANAGE
    cached = False

    @extend_schema(operation_id="agent", summary="Get one agent", responses=answers.AgentShape)
    def get(self, request: HttpRequest, caller: Caller, agent: str) -> Answer:
        return as_json(answers.agent_shape(agents.get(Project(pk=caller.project_id), agent)))

    @extend_schema(
        operation_id="change_agent",
        summary="Change an agent; fields that you do not send stay as they are",
        request=AgentChange,
        responses=answers.AgentShape,
    )
    def patch(self, request: Request, project: str, agent: str) -> Response:
        where, by = write_view.project(request), actor(request)
        require(by, roles.MANAGE, where)
        body = validate(AgentChange, request)
        return Response(answers.agent_shape(agents.amend(where, agent, _fields(body), by=by)))

    @extend_schema(
        operation_id="remove_agent", summary="Remove an agent and stop its tokens at once", responses={204: None}
    )
    def delete(self, request: Request, project: str, agent: str) -> Response:
        agents.remove(write_view.project(request), agent, by=actor(request))
        return Response(status=204)


class AgentTokens(Read, Write):
    read_scope = write_scope = roles.MANAGE
    cached = False

    @extend_schema(
        operation_id="tokens",
        summary="List the tokens of an agent",
        parameters=PAGE_PARAMETERS,
        responses=answers.TokensPage,
    )
    def get(self, request: HttpRequest, caller: Caller, agent: str) -> Answer:
        page = parse_page(request)
        found = tokens.tokens_of(agents.get(Project(pk=caller.project_id), agent))
        results = [answers.token_shape(token) for token in found[page.bounds]]
        return as_json(answers.TokensPage(results=results, next=page.next_link(request, len(found))))

    @extend_schema(
        operation_id="create_token",
        summary="Create a token; its secret is only in this answer",
        request=TokenInput,
        responses={201: answers.NewTokenShape},
    )
    def post(self, request: Request, project: str, agent: str) -> Response:
        where, by = write_view.project(request), actor(request)
        require(by, roles.MANAGE, where)
        body = validate(TokenInput, request)
        lifetime = tokens.parse_lifetime(body["expires"]) if "expires" in body else None
        issued = tokens.issue_token(
            where, agent=agents.get(where, agent), scopes=body["scopes"], lifetime=lifetime, by=by
        )
        response = Response(answers.new_token_shape(issued), status=201)
        response["Cache-Control"] = "no-store"
        return response


class AgentToken(Write):
    write_scope = roles.MANAGE

    @extend_schema(operation_id="revoke_token", summary="Revoke a token at once", responses={204: None})
    def delete(self, request: Request, project: str, agent: str, token: int) -> Response:
        where, by = write_view.project(request), actor(request)
        require(by, roles.MANAGE, where)
        tokens.revoke_token(where, token, agent=agents.get(where, agent), by=by)
        return Response(status=204)


def _fields(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a `Definition`, which holds tuples instead of lists."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in body.items()}
