"""Views that change a run: people answer its questions, and whoever may run workflows cancels or replays it."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry import models
from registry.api import run_answers as answers
from registry.api import run_inputs as inputs
from registry.api import write_view
from registry.api.inputs import NothingInput, row_id, validate
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.services.workflows import questions, run_details, runs


class _Decision(Write):
    body_hint = "Nothing was changed."


class ApproveQuestion(_Decision):
    @extend_schema(
        operation_id="approve_question",
        summary="Approve exactly what a question of a run shows; people only, and never for their own run",
        request=inputs.DecisionInput,
        responses=answers.AnsweredShape,
    )
    def post(self, request: Request, project: str, run: str) -> Response:
        return _decide(request, run, inputs.DecisionInput, questions.approve, approving=True)


class DenyQuestion(_Decision):
    @extend_schema(
        operation_id="deny_question",
        summary="Deny what a question of a run asks for; people only",
        request=inputs.DecisionInput,
        responses=answers.AnsweredShape,
    )
    def post(self, request: Request, project: str, run: str) -> Response:
        return _decide(request, run, inputs.DecisionInput, questions.deny)


class AnswerQuestion(_Decision):
    @extend_schema(
        operation_id="answer_question",
        summary="Give the input that a run asks for, or say whether a call that was cut off has happened; people only",
        request=inputs.AnswerInput,
        responses=answers.AnsweredShape,
    )
    def post(self, request: Request, project: str, run: str) -> Response:
        return _decide(request, run, inputs.AnswerInput, questions.answer)


def _decide(
    request: Request,
    run: str,
    shape: type[inputs.DecisionInput],
    decision: Callable[..., models.Run],
    *,
    approving: bool = False,
) -> Response:
    """Check the permission before the body, so that a caller without it gets 403 for any body."""
    where, by, number = write_view.project(request), actor(request), row_id(run)
    questions.may_decide(where, number, approving=approving, by=by)
    body: dict[str, Any] = validate(shape, request)
    question = body.pop("question")
    decision(where, number, question, **body, by=by)
    found = run_details.question(where, number, question, by=by)
    return Response(answers.answered_shape(runs.find(where, number, by=by), found))


class Cancel(_Decision):
    write_scope = roles.RUN

    @extend_schema(
        operation_id="cancel_run",
        summary="Cancel a run; a call that is on its way may still have an effect",
        request=NothingInput,
        responses={202: answers.RunSummaryShape},
    )
    def post(self, request: Request, project: str, run: str) -> Response:
        where, by = write_view.project(request), actor(request)
        runs.find(where, row_id(run), by=by)
        validate(NothingInput, request)
        return Response(answers.summary_shape(runs.cancel(where, row_id(run), by=by)), status=202)


class Replay(_Decision):
    write_scope = roles.RUN
    body_hint = "Nothing was started."

    @extend_schema(
        operation_id="replay_run",
        summary="Start a finished run again with its recorded outputs; approvals are never taken over",
        request=inputs.ReplayInput,
        responses={202: answers.RunSummaryShape},
    )
    def post(self, request: Request, project: str, run: str) -> Response:
        where, by = write_view.project(request), actor(request)
        runs.find(where, row_id(run), by=by)
        body = validate(inputs.ReplayInput, request)
        again = runs.replay(where, row_id(run), start_at=body["from"], by=by)
        return Response(answers.summary_shape(again), status=202)
