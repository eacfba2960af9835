"""The events of one run, as they happen: a stream of server-sent events.

A stream ends after a minute, and its client connects again with `Last-Event-ID`. So a token that was revoked, or a
client that is gone without a word, costs no more than that.
"""

import json
import time
from dataclasses import dataclass
from typing import Annotated, NotRequired, TypedDict

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema

from registry.api.inputs import row_id
from registry.api.read_view import BaseRead
from registry.api.run_answers import RunSummaryShape, summary_shape
from registry.core.errors import Busy, NotFound, RateLimited
from registry.lib.places import Places
from registry.models import Project
from registry.services.agents.tokens import Caller
from registry.services.following import EventStream, Stream
from registry.services.permissions import Actor
from registry.services.workflows import run_progress, run_versions
from registry.services.workflows.run_versions import RunVersion

LOOK_SECONDS = 1.0
_SOON_SECONDS = 0.25  # after a change, because the next one often follows at once
MOST_SECONDS = 60.0
_HEARTBEAT_SECONDS = 15.0
PER_TOKEN = 8
_RETRY_SECONDS = 5
_RETRY = f"retry: {int(LOOK_SECONDS * 1_000)}\n\n".encode()

_streams = Places(settings.WORKFLOW_STREAMS, PER_TOKEN)
_EVENTS = "text/event-stream"
_NOTHING = -1  # a run that no worker has taken yet has 0 changes


class RunEventShape(RunSummaryShape):
    steps: dict[str, int]
    open_questions: int


class SentEventShape(TypedDict):
    """A server-sent event."""

    event: NotRequired[str]
    id: NotRequired[Annotated[str, "The number of changes of the run. Send it as `Last-Event-ID` to go on from here."]]
    data: NotRequired[
        Annotated[
            str,
            "JSON: the keys of a RunSummaryShape, `steps` with the number of steps in each state, and "
            "`open_questions`.",
        ]
    ]
    retry: NotRequired[str]


class Events(BaseRead):
    @extend_schema(
        operation_id="run_events",
        summary="Follow one run: its state and the numbers of its steps by state, whenever they change",
        description="The event `run` has a summary of the run. Its id is the number of changes. A stream lasts a "
        "minute at most; connect again with `Last-Event-ID`. It ends when the run has ended, and a request with the "
        "last id of a finished run gets 204, so that clients stop.",
        parameters=[OpenApiParameter("Last-Event-ID", str, OpenApiParameter.HEADER)],
        responses={(200, _EVENTS): SentEventShape, 204: None},
    )
    def get(self, request: HttpRequest, caller: Caller, run: str) -> HttpResponseBase:
        where, number = Project(pk=caller.project_id), row_id(run)
        version = run_versions.current(where, number, by=caller.actor)
        last = request.META.get("HTTP_LAST_EVENT_ID", "")
        seen = row_id(last) if last else _NOTHING
        if version.is_finished and seen == version.changes:
            return HttpResponse(status=204, content_type="")
        if request.method == "HEAD":
            return EventStream((), None)
        stream = _RunStream(where, number, caller.actor, caller.token_id, seen)
        if version.is_finished:
            return EventStream((_RETRY, stream.event(version)), None)
        _take(caller.token_id)
        return EventStream((_RETRY, stream.news(version)), stream)

    def _read(self, request: HttpRequest, caller: Caller, **kwargs: str) -> tuple[str, HttpResponseBase]:
        return "", self.get(request, caller, **kwargs)


def _take(token_id: int) -> None:
    if _streams.take(token_id):
        return
    if _streams.has_taken_all(token_id):
        raise RateLimited(
            f"This token follows {PER_TOKEN} runs, which is the limit. Close one of the streams, or read "
            "the runs now and then.",
            retry_after=_RETRY_SECONDS,
        )
    raise Busy(
        f"{_streams.total:,} clients follow runs, which is the limit of this site. Read the run now and then, or "
        f"try again in {_RETRY_SECONDS} seconds.",
        retry_after=_RETRY_SECONDS,
    )


@dataclass
class _RunStream(Stream):
    """The changes of a run since `seen`. Each look costs one query, and a change three more."""

    project: Project
    run_id: int
    by: Actor
    token_id: int
    seen: int
    seconds: float = _SOON_SECONDS
    _has_ended: bool = False

    def __post_init__(self) -> None:
        self._since = self._sent = time.monotonic()

    def look(self) -> bytes | None:
        now = time.monotonic()
        if self._has_ended or now - self._since >= MOST_SECONDS:
            return None
        try:
            news = self.news(run_versions.current(self.project, self.run_id, by=self.by))
        except NotFound:
            return None
        self.seconds = self._pause(has_news=bool(news))
        if not news and now - self._sent >= _HEARTBEAT_SECONDS:
            news = b": nothing new\n\n"
        self._sent = now if news else self._sent
        return news

    def _pause(self, *, has_news: bool) -> float:
        if self._has_ended:
            return 0.0
        return _SOON_SECONDS if has_news else min(LOOK_SECONDS, self.seconds * 1.5)

    def news(self, version: RunVersion) -> bytes:
        return b"" if version.changes == self.seen else self.event(version)

    def event(self, version: RunVersion) -> bytes:
        self.seen, self._has_ended = version.changes, version.is_finished
        progress = run_progress.of(self.project, self.run_id, by=self.by)
        body: RunEventShape = {
            **summary_shape(progress.run),
            "steps": progress.steps,
            "open_questions": progress.open_questions,
        }
        return f"id: {version.changes}\nevent: run\ndata: {json.dumps(body)}\n\n".encode()

    def close(self) -> None:
        _streams.leave(self.token_id)
