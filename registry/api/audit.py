"""The audit log of a project: who did what to what, when, and whether the record still holds."""

from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api.read_view import Answer, Read, Streamed, as_json, page
from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.models import Project
from registry.services import audit
from registry.services.agents.tokens import Caller
from registry.services.audit import Filter

_JSON_LINES = "application/x-ndjson"


class ActorShape(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField()
    id = serializers.IntegerField(allow_null=True, help_text="Of the person or the agent; a name may change hands.")


class EventShape(serializers.Serializer[Any]):
    sequence = serializers.IntegerField()
    at = serializers.DateTimeField()
    verb = serializers.CharField()
    target = serializers.CharField(allow_blank=True)
    actor = ActorShape()
    address = serializers.CharField(allow_blank=True, help_text="Where the request came from.")
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)
    details = serializers.DictField()
    previous = serializers.CharField()
    hash = serializers.CharField()


class EventsPage(serializers.Serializer[Any]):
    results = EventShape(many=True)
    next = serializers.CharField(allow_null=True)


class BrokenShape(serializers.Serializer[Any]):
    sequence = serializers.IntegerField()
    reason = serializers.CharField()


class VerifiedShape(serializers.Serializer[Any]):
    verified = serializers.BooleanField()
    events = serializers.IntegerField(help_text="How many hold.")
    broken = BrokenShape(many=True)


class _Lines(Streamed):
    """As JSON Lines the whole of what was asked for is sent as it is read, oldest first; nothing of it is kept."""

    scope = roles.REVIEW

    def stream(self, request: HttpRequest, caller: Caller, **kwargs: str) -> StreamingHttpResponse:
        found = audit.events(Project(pk=caller.project_id), _filter(request), by=caller.actor)
        read = found.reverse().iterator(chunk_size=1_000) if request.method == "GET" else ()
        response = StreamingHttpResponse(audit.json_lines(read), content_type=_JSON_LINES)
        response["Content-Disposition"] = f'attachment; filename="{caller.project_slug}-audit.jsonl"'
        return response


class Audit(Read):
    scope = roles.REVIEW

    @extend_schema(
        operation_id="audit",
        summary="What was done in the project, newest first",
        parameters=[
            OpenApiParameter(
                "verb", str, description="`skill.saved`; with a dot at its end, as `proposal.`, all such."
            ),
            OpenApiParameter("actor", str),
            OpenApiParameter("target", str, description="The name of a skill, an agent or a member."),
            OpenApiParameter("since", str, description="A date or a moment, as 2026-01-31 or 2026-01-31T12:00:00Z."),
            OpenApiParameter("format", str, enum=["json", "jsonl"]),
            OpenApiParameter("limit", int),
            OpenApiParameter("offset", int),
        ],
        responses={(200, "application/json"): EventsPage, (200, _JSON_LINES): OpenApiTypes.STR},
    )
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method in ("GET", "HEAD") and request.GET.get("format") == "jsonl":
            return _Lines().dispatch(request, *args, **kwargs)
        return super().dispatch(request, *args, **kwargs)

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        if request.GET.get("format", "json") != "json":
            raise InvalidRequest(f"format is json or jsonl; not {request.GET['format'][:40]!r}.")
        asked = page(request)
        found = audit.events(Project(pk=caller.project_id), _filter(request), by=caller.actor)
        shown = [audit.as_record(event) for event in found[asked.offset : asked.offset + asked.limit]]
        return as_json({"results": shown, "next": asked.next_link(request, found.count())})


class Verify(Read):
    scope = roles.REVIEW
    changes_unseen = True

    @extend_schema(
        operation_id="verify_audit",
        summary="Whether every event of the project still follows the one before it",
        responses=VerifiedShape,
    )
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        good, broken = audit.verify(Project(pk=caller.project_id))
        faults = [{"sequence": fault.sequence, "reason": fault.reason} for fault in broken]
        return as_json({"verified": not faults, "events": good, "broken": faults})


def _filter(request: HttpRequest) -> Filter:
    return Filter(
        verb=request.GET.get("verb", ""),
        actor=request.GET.get("actor", ""),
        target=request.GET.get("target", ""),
        since=_since(request.GET.get("since", "")),
    )


def _since(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InvalidRequest(
            f"since is a date or a moment, as 2026-01-31 or 2026-01-31T12:00:00Z; not {text[:40]!r}."
        ) from None
