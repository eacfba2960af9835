"""Views of a project's audit log: its events, and a check of its hash chain."""

from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema

from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, StreamedRead, as_json, parse_page
from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.models import Project
from registry.services import audit
from registry.services.agents.tokens import Caller
from registry.services.audit import EventShape, Filter
from registry.services.audit_log import verification

_JSON_LINES = "application/x-ndjson"


class EventsPage(TypedDict):
    results: list[EventShape]
    next: str | None


class BrokenShape(TypedDict):
    sequence: int
    reason: str


class VerifiedShape(TypedDict):
    verified: bool
    events: Annotated[int, "The number of events that are intact."]
    broken: list[BrokenShape]


class _JsonLines(StreamedRead):
    """Streams every matching event as JSON Lines, oldest first."""

    read_scope = roles.REVIEW

    def get(self, request: HttpRequest, caller: Caller) -> StreamingHttpResponse:
        events = audit.events(Project(pk=caller.project_id), _filter(request), by=caller.actor)
        rows = events.reverse().iterator(chunk_size=1_000) if request.method == "GET" else ()
        response = StreamingHttpResponse(audit.json_lines(rows), content_type=_JSON_LINES)
        response["Content-Disposition"] = f'attachment; filename="{caller.project_slug}-audit.jsonl"'
        return response


class Audit(Read):
    read_scope = roles.REVIEW

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method in ("GET", "HEAD") and request.GET.get("format") == "jsonl":
            return _JsonLines().dispatch(request, *args, **kwargs)
        return super().dispatch(request, *args, **kwargs)

    @extend_schema(
        operation_id="audit",
        summary="List the events of the project, newest first",
        parameters=[
            OpenApiParameter(
                "verb",
                str,
                description="`skill.saved`, or `proposal.` with a final dot for every verb about proposals.",
            ),
            OpenApiParameter("actor", str),
            OpenApiParameter("target", str, description="The name of a skill, an agent or a member."),
            OpenApiParameter("since", str, description="A date or a time: 2026-01-31 or 2026-01-31T12:00:00Z."),
            OpenApiParameter("format", str, enum=["json", "jsonl"]),
            *PAGE_PARAMETERS,
        ],
        responses={(200, "application/json"): EventsPage, (200, _JSON_LINES): OpenApiTypes.STR},
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        if request.GET.get("format", "json") != "json":
            raise InvalidRequest(f"format is json or jsonl; not {request.GET['format'][:40]!r}.")
        page = parse_page(request)
        events = audit.events(Project(pk=caller.project_id), _filter(request), by=caller.actor)
        results = [audit.as_record(event) for event in events[page.bounds]]
        return as_json(EventsPage(results=results, next=page.next_link(request, events.count())))


class Verify(Read):
    read_scope = roles.REVIEW
    cached = False

    @extend_schema(
        operation_id="verify_audit",
        summary="Check that every event of the project follows the one before it",
        responses=VerifiedShape,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        intact, faults = verification.verify(Project(pk=caller.project_id))
        broken: list[BrokenShape] = [{"sequence": fault.sequence, "reason": fault.reason} for fault in faults]
        return as_json(VerifiedShape(verified=not broken, events=intact, broken=broken))


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
            f"since is a date or a time, such as 2026-01-31 or 2026-01-31T12:00:00Z; not {text[:40]!r}."
        ) from None
