"""Views of capabilities: list them, and call one under the same policy as a step of a workflow."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import capability_answers as answers
from registry.api import problems, write_view
from registry.api.inputs import StrictInput, validate
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, parse_page
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.core.errors import NotFound, SkillsiteError
from registry.core.workflows.failures import StepFailed
from registry.lib.places import Places
from registry.models import Project
from registry.services.agents.tokens import Caller
from registry.services.capabilities import capability_registry
from registry.services.following import Later, WaitingResponse
from registry.services.permissions import Actor
from registry.services.workflows import call_results, run_versions, runs
from registry.services.workflows.call_results import CallResult

WAIT_SECONDS, MOST_WAIT_SECONDS = 5.0, 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0
_GRACE_SECONDS = 2.0  # for the last look

# Calls that wait for their result. Others are answered at once, with the run to follow.
_waiting = Places(64, 8)


class CallInput(StrictInput):
    inputs = serializers.DictField(child=serializers.JSONField(allow_null=True), required=False)
    wait_seconds = serializers.FloatField(
        required=False,
        default=WAIT_SECONDS,
        min_value=0,
        max_value=MOST_WAIT_SECONDS,
        help_text="How long the answer may wait for the result. The call goes on after that.",
    )


class Capabilities(Read):
    cached = False  # operators change their files without a new revision of the project

    @extend_schema(
        operation_id="capabilities",
        summary="List the capabilities that workflows of this project can use",
        parameters=PAGE_PARAMETERS,
        responses=answers.DefinitionsPage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page = parse_page(request)
        by_id = capability_registry.of(caller.project_id).by_id
        results = [answers.definition_shape(by_id[id_]) for id_ in sorted(by_id)[page.bounds]]
        return as_json(answers.DefinitionsPage(results=results, next=page.next_link(request, len(by_id))))


class OneCapability(Read):
    cached = False

    @extend_schema(
        operation_id="capability",
        summary="Get one capability, by its id or an alias",
        responses=answers.DefinitionShape,
    )
    def get(self, request: HttpRequest, caller: Caller, capability: str) -> Answer:
        try:
            found = capability_registry.of(caller.project_id).get(capability)
        except StepFailed as failed:
            raise NotFound(failed.failure.message) from None
        return as_json(answers.definition_shape(found))


class Call(Write):
    write_scope = roles.RUN
    body_hint = "Nothing was called."

    @extend_schema(
        operation_id="call_capability",
        summary="Call one capability, under the same policy as a step of a workflow",
        description="The answer is 202 with the run if the call takes longer than the answer may wait, and 428 if a "
        "person has to confirm the call. The error says who can, and how to follow it.",
        request=CallInput,
        responses={200: answers.CallShape, 202: answers.CallShape},
    )
    def post(self, request: Request, project: str, capability: str) -> HttpResponse:
        body = validate(CallInput, request)
        where, by = write_view.project(request), actor(request)
        run = runs.start_call(where, capability, inputs=body.get("inputs"), by=by)
        follow = _follow(where, run.pk, body["wait_seconds"], write_view.token_id(request), by=by)
        content = as_json(answers.call_shape(run)).body
        return WaitingResponse(content, follow, status=202, content_type="application/json")


def _follow(where: Project, run_id: int, seconds: float, token_id: int, *, by: Actor) -> Later | None:
    if not seconds or not _waiting.take(token_id):
        return None
    return _Result(where, run_id, by, time.monotonic() + seconds, lambda: _waiting.leave(token_id))


@dataclass
class _Result(Later):
    """The result of a call, as soon as there is one."""

    project: Project
    run_id: int
    by: Actor
    until: float
    leave: Callable[[], None]
    seconds: float = _FIRST_PAUSE
    _changes: int = 0

    @property
    def is_late(self) -> bool:
        return time.monotonic() >= self.until + _GRACE_SECONDS

    def look(self) -> HttpResponse | None:
        """Look with one query, and read the run only if it has changed or the time is over. The pauses get longer."""
        left = self.until - time.monotonic()
        self.seconds = min(_LONGEST_PAUSE, self.seconds * 1.3, max(_FIRST_PAUSE, left))
        version = run_versions.current(self.project, self.run_id, by=self.by)
        if version.changes == self._changes and left > 0:
            return None
        self._changes = version.changes
        try:
            result = call_results.of(self.project, self.run_id, by=self.by)
        except SkillsiteError as error:
            return problems.response(error)
        if result.run.is_finished:
            return _answer(result)
        return _answer(result, status=202) if left <= 0 else None

    def close(self) -> None:
        self.leave()


def _answer(result: CallResult, status: int = 200) -> HttpResponse:
    shape: dict[str, Any] = {**answers.call_shape(result.run, result.outputs)}
    return HttpResponse(as_json(shape).body, status=status, content_type="application/json")
