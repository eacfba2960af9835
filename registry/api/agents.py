"""Agents of a project and their tokens, for owners; and what an agent is told, for itself."""

from typing import Any

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import write_view
from registry.api.read_view import Answer, Read, as_json, page
from registry.api.shapes import Strict
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.core.errors import InvalidRequest
from registry.models import Agent, Project, Token
from registry.services.agents import agents, instructions, tokens
from registry.services.agents.tokens import Caller
from registry.services.permissions import require

_TRUST = "Kept for programs that ask. It changes neither what the agent sees nor what it may do."


class AgentShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    prompt = serializers.CharField()
    instructions = serializers.CharField()
    uses_skills = serializers.ListField(child=serializers.CharField())
    allowed_skills = serializers.ListField(child=serializers.CharField(), allow_null=True)
    trust = serializers.ChoiceField(choices=roles.TRUST_LEVELS, help_text=_TRUST)
    created_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField(allow_null=True)


class AgentRowShape(AgentShape):
    tokens = serializers.IntegerField(help_text="Tokens that are neither revoked nor expired.")
    loads = serializers.IntegerField(help_text="Skills loaded in the last 30 days.")


class AgentsPage(serializers.Serializer[Any]):
    results = AgentRowShape(many=True)
    next = serializers.CharField(allow_null=True)


class AgentChange(Strict):
    prompt = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    instructions = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    uses_skills = serializers.ListField(child=serializers.CharField(), required=False)
    allowed_skills = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True)
    trust = serializers.ChoiceField(choices=roles.TRUST_LEVELS, required=False, help_text=_TRUST)


class AgentInput(AgentChange):
    name = serializers.CharField()


class TokenShape(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    start = serializers.CharField(help_text="The first characters, to tell tokens apart.")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=roles.SCOPES))
    made_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)


class NewTokenShape(TokenShape):
    token = serializers.CharField(help_text="The secret. It is shown this once and not kept.")


class TokensPage(serializers.Serializer[Any]):
    results = TokenShape(many=True)
    next = serializers.CharField(allow_null=True)


class TokenInput(Strict):
    scopes = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    expires = serializers.CharField(required=False, help_text="A number and h, d or w, as in 90d; never if not given.")


class PartShape(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=[instructions.PROMPT, instructions.SKILL, instructions.INSTRUCTIONS])
    text = serializers.CharField()
    tokens = serializers.IntegerField()
    name = serializers.CharField(required=False)
    source = serializers.CharField(required=False)  # type: ignore[assignment]  # a field of DRF is called so too
    version = serializers.CharField(required=False)
    digest = serializers.CharField(required=False)


class InstructionsShape(serializers.Serializer[Any]):
    agent = serializers.CharField()
    tokens = serializers.IntegerField()
    text = serializers.CharField()
    parts = PartShape(many=True)


_PAGING = [OpenApiParameter("limit", int), OpenApiParameter("offset", int)]


class Agents(Read, Write):
    scope = needs = roles.MANAGE
    changes_unseen = True

    @extend_schema(operation_id="agents", summary="The agents", parameters=_PAGING, responses=AgentsPage)
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked, where = page(request), Project(pk=caller.project_id)
        found = agents.all_of(where)
        rows = agents.rows(where, found[asked.offset : asked.offset + asked.limit])
        shown = [{**_agent(row.agent), "tokens": row.tokens, "loads": row.loads} for row in rows]
        return as_json({"results": shown, "next": asked.next_link(request, found.count())})

    @extend_schema(operation_id="create_agent", summary="Add an agent", request=AgentInput, responses={201: AgentShape})
    def post(self, request: Request, project: str) -> Response:
        given = _checked(AgentInput(data=request.data))
        name = given.pop("name")
        made = agents.create(write_view.project(request), name, Definition(**_fields(given)), by=actor(request))
        return Response(_agent(made), status=201)


class OneAgent(Read, Write):
    scope = needs = roles.MANAGE
    changes_unseen = True

    @extend_schema(operation_id="agent", summary="One agent", responses=AgentShape)
    def get(self, request: Request, project: str, agent: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        return as_json(_agent(agents.get(Project(pk=caller.project_id), kwargs["agent"])))

    @extend_schema(
        operation_id="change_agent",
        summary="Change what is given; the rest stays",
        request=AgentChange,
        responses=AgentShape,
    )
    def patch(self, request: Request, project: str, agent: str) -> Response:
        where, by = write_view.project(request), actor(request)
        require(by, roles.MANAGE, where)
        given = _checked(AgentChange(data=request.data))
        return Response(_agent(agents.amend(where, agent, _fields(given), by=by)))

    @extend_schema(
        operation_id="remove_agent", summary="Remove the agent; its tokens stop at once", responses={204: None}
    )
    def delete(self, request: Request, project: str, agent: str) -> Response:
        agents.remove(write_view.project(request), agent, by=actor(request))
        return Response(status=204)


class AgentTokens(Read, Write):
    scope = needs = roles.MANAGE
    changes_unseen = True

    @extend_schema(operation_id="tokens", summary="The tokens of an agent", parameters=_PAGING, responses=TokensPage)
    def get(self, request: Request, project: str, agent: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked = page(request)
        found = tokens.tokens_of(agents.get(Project(pk=caller.project_id), kwargs["agent"]))
        shown = [_token(token) for token in found[asked.offset : asked.offset + asked.limit]]
        return as_json({"results": shown, "next": asked.next_link(request, len(found))})

    @extend_schema(
        operation_id="create_token",
        summary="Make a token; the answer is the only place where it is shown",
        request=TokenInput,
        responses={201: NewTokenShape},
    )
    def post(self, request: Request, project: str, agent: str) -> Response:
        where, by = write_view.project(request), actor(request)
        require(by, roles.MANAGE, where)
        given = _checked(TokenInput(data=request.data))
        lifetime = tokens.parse_lifetime(given["expires"]) if "expires" in given else None
        issued = tokens.issue_token(
            where, agent=agents.get(where, agent), scopes=given["scopes"], lifetime=lifetime, by=by
        )
        response = Response({**_token(issued.token), "token": issued.secret}, status=201)
        response["Cache-Control"] = "no-store"
        return response


class AgentToken(Write):
    needs = roles.MANAGE

    @extend_schema(operation_id="revoke_token", summary="Stop one token at once", responses={204: None})
    def delete(self, request: Request, project: str, agent: str, token: int) -> Response:
        where, by = write_view.project(request), actor(request)
        require(by, roles.MANAGE, where)
        tokens.revoke_token(where, token, agent=agents.get(where, agent), by=by)
        return Response(status=204)


class AgentInstructions(Read):
    """For the agent itself and for people who may read; no agent learns what another one is told."""

    counts_loads = True

    @extend_schema(
        operation_id="instructions",
        summary="All that an agent is told: prompt, skills it uses, its own instructions, and what each costs",
        parameters=[OpenApiParameter("format", str, enum=["json", "text"])],
        responses={(200, "application/json"): InstructionsShape, (200, "text/plain"): str},
    )
    def get(self, request: Request, project: str, agent: str) -> Response:
        raise NotImplementedError

    def permit(self, caller: Caller, **kwargs: str) -> None:
        super().permit(caller, **kwargs)
        if caller.actor.agent_id is not None and caller.actor.name != kwargs["agent"]:
            raise agents.no_such_agent(kwargs["agent"])

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        form = request.GET.get("format", "json")
        if form not in ("json", "text"):
            raise InvalidRequest(f"There is no format {form!r}. There are: json, text.")
        told = instructions.compose(agents.get(Project(pk=caller.project_id), kwargs["agent"]))
        loads = tuple((part.skill.name, part.skill.candidate.version) for part in told.parts if part.skill)
        if form == "text":
            return Answer(told.text.encode(), "text/plain; charset=utf-8", loads=loads)
        body = {
            "agent": told.agent,
            "tokens": told.tokens,
            "text": told.text,
            "parts": [_part(part) for part in told.parts],
        }
        return as_json(body, loads=loads)


def _checked(shape: Strict) -> dict[str, Any]:
    shape.is_valid(raise_exception=True)
    return dict(shape.validated_data)


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """What was given, as a definition holds it."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}


def _agent(agent: Agent) -> dict[str, Any]:
    return {
        "name": agent.name,
        "prompt": agent.prompt,
        "instructions": agent.instructions,
        "uses_skills": agent.uses_skills,
        "allowed_skills": agent.allowed_skills,
        "trust": agent.trust,
        "created_at": agent.created_at.isoformat(),
        "last_seen_at": agent.last_seen_at.isoformat() if agent.last_seen_at else None,
    }


def _token(token: Token) -> dict[str, Any]:
    return {
        "id": token.pk,
        "start": token.start,
        "scopes": token.scopes,
        "made_by": token.owner.username if token.owner else None,
        "created_at": token.created_at.isoformat(),
        "expires_at": token.expires_at.isoformat() if token.expires_at else None,
        "revoked_at": token.revoked_at.isoformat() if token.revoked_at else None,
        "last_used_at": token.last_used_at.isoformat() if token.last_used_at else None,
    }


def _part(part: instructions.Part) -> dict[str, Any]:
    said: dict[str, Any] = {"kind": part.kind, "text": part.text, "tokens": part.tokens}
    if part.skill is not None:
        found = part.skill.candidate
        said.update(name=found.name, source=found.source, version=found.version, digest=found.digest)
    return said
