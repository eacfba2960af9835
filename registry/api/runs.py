"""Views of runs of workflows: start, list and read them."""

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import run_answers as answers
from registry.api import run_inputs as inputs
from registry.api import write_view
from registry.api.inputs import row_id, validate
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, flag, parse_page
from registry.api.run_values import RunRead
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.models import Project
from registry.services.agents.tokens import Caller
from registry.services.workflows import run_details, run_list, runs
from registry.services.workflows.run_list import Filter

_FILTERS = [
    OpenApiParameter("state", str, enum=list(run_list.STATES)),
    OpenApiParameter("skill", str, description="The name of a skill."),
    OpenApiParameter("by", str, description="The name of the person or agent who started the run."),
    OpenApiParameter("mine", bool, description="1 lists only the runs that you started. An agent sees no others."),
    *PAGE_PARAMETERS,
]


class Runs(Read, Write):
    cached = False  # a run changes without a new revision of the project
    write_scope = roles.RUN
    body_hint = "Nothing was started."

    @extend_schema(
        operation_id="runs",
        summary="List runs, newest first; an agent sees only its own",
        parameters=_FILTERS,
        responses=answers.RunsPage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page = parse_page(request)
        found = run_list.list_runs(Project(pk=caller.project_id), _filter(request), by=caller.actor)
        results = [answers.summary_shape(run) for run in found[page.bounds]]
        return as_json(answers.RunsPage(results=results, next=page.next_link(request, found.count())))

    @extend_schema(
        operation_id="start_run",
        summary="Start the workflow of a skill; follow the run with its id",
        request=inputs.RunInput,
        responses={202: answers.RunSummaryShape},
    )
    def post(self, request: Request, project: str) -> Response:
        body = validate(inputs.RunInput, request)
        run = runs.start(
            write_view.project(request),
            body["skill"],
            inputs=body.get("inputs"),
            version=body.get("version"),
            frame=body.get("frame"),
            options=inputs.options_of(body),
            by=actor(request),
        )
        return Response(answers.summary_shape(run), status=202)


class Run(RunRead):
    @extend_schema(
        operation_id="run",
        summary="Get one run: its state, steps, questions, outputs, lock and trace",
        parameters=PAGE_PARAMETERS,
        responses=answers.RunShape,
    )
    def get(self, request: HttpRequest, caller: Caller, run: str) -> Answer:
        page = parse_page(request)
        found = run_details.details(
            Project(pk=caller.project_id), row_id(run), first=page.offset, most=page.limit, by=caller.actor
        )
        return as_json(answers.run_shape(found, next_link=page.next_link(request, found.total_steps)))


def _filter(request: HttpRequest) -> Filter:
    state = request.GET.get("state", "")
    if state and state not in run_list.STATES:
        raise InvalidRequest(f"state is one of {', '.join(run_list.STATES)}; not {state[:40]!r}.")
    return Filter(
        state=state,
        skill=request.GET.get("skill", "")[:128],
        by=request.GET.get("by", "")[:150],
        is_mine=flag(request, "mine"),
    )
