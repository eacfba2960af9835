"""Views of the golden set and its evaluations, for people. Agents never read them."""

from typing import Any, TypedDict

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import write_view
from registry.api.inputs import NothingInput, row_id, validate
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, parse_page
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.core.routing import golden_files
from registry.core.routing.golden import CASES, CATEGORIES, NOTE_CHARS, QUERY_CHARS, SKILLS, Case
from registry.models import Project
from registry.services.agents.tokens import Caller
from registry.services.routing import evaluation_records as records
from registry.services.routing import evaluations, golden_set


class CaseInput(serializers.Serializer[Any]):
    """Describes a case for the OpenAPI document. `golden_files` checks it, because errors name field and index."""

    query = serializers.CharField(max_length=QUERY_CHARS, help_text="The question, as somebody asks it.")
    expected = serializers.ListField(
        child=serializers.CharField(),
        max_length=SKILLS,
        required=False,
        allow_null=True,
        help_text="Each of these skills is right. Empty or null if no skill should be found.",
    )
    acceptable = serializers.ListField(
        child=serializers.CharField(),
        max_length=SKILLS,
        required=False,
        allow_null=True,
        help_text="Each of these skills is neither right nor wrong.",
    )
    category = serializers.ChoiceField(choices=CATEGORIES, required=False, help_text="The default follows `expected`.")
    note = serializers.CharField(max_length=NOTE_CHARS, required=False, allow_blank=True)


class CasesInput(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, help_text="The name in a golden file. It is not used.")
    cases = serializers.ListField(child=CaseInput(), min_length=1, max_length=CASES)


class CasesPage(TypedDict):
    results: list[records.CaseShape]
    next: str | None


class AddedShape(TypedDict):
    added: int
    replaced: int
    unchanged: int
    cases: list[records.CaseShape]


class EvaluationsPage(TypedDict):
    results: list[records.EvaluationShape]
    next: str | None


class Cases(Read, Write):
    read_scope = write_scope = roles.WRITE
    cached = False  # another reason for a stale case can come from a built-in skill

    @extend_schema(
        operation_id="eval_cases",
        summary="List the test questions",
        parameters=PAGE_PARAMETERS,
        responses=CasesPage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page, where = parse_page(request), Project(pk=caller.project_id)
        rows = golden_set.cases(where, by=caller.actor)
        stale = _stale(where)
        results = [records.case_shape(row, stale) for row in rows[page.bounds]]
        return as_json(CasesPage(results=results, next=page.next_link(request, len(rows))))

    @extend_schema(
        operation_id="add_eval_cases",
        summary="Add test questions, all or none",
        description="A case replaces the one with the same question. An error has the index of the case in `index`.",
        request=CasesInput,
        responses={201: AddedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        where, by = write_view.project(request), actor(request)
        golden_set.require_person(by, where)
        added = golden_set.add(where, _cases(request.data), by=by)
        stale = _stale(where)
        body = AddedShape(
            added=added.added,
            replaced=added.replaced,
            unchanged=added.unchanged,
            cases=[records.case_shape(row, stale) for row in added.rows],
        )
        return Response(body, status=201)


class OneCase(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="change_eval_case",
        summary="Replace a test question",
        request=CaseInput,
        responses=records.CaseShape,
    )
    def put(self, request: Request, project: str, case: str) -> Response:
        where, by = write_view.project(request), actor(request)
        golden_set.require_person(by, where)
        [changed] = _read([request.data], ["The test question"])
        row = golden_set.change(where, row_id(case), changed, by=by)
        return Response(records.case_shape(row, _stale(where)))

    @extend_schema(operation_id="delete_eval_case", summary="Delete a test question", responses={204: None})
    def delete(self, request: Request, project: str, case: str) -> Response:
        golden_set.delete(write_view.project(request), [row_id(case)], by=actor(request))
        return Response(status=204)


class Run(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="run_evals",
        summary="Run the test questions, store the result, and learn the threshold",
        description="The threshold is learned from the test questions, unless the project fixed it.",
        request=NothingInput,
        responses=records.EvaluationReportShape,
    )
    def post(self, request: Request, project: str) -> Response:
        validate(NothingInput, request)
        evaluation, measured = evaluations.run_in_full(write_view.project(request), by=actor(request))
        return Response(records.evaluation_report_shape(evaluation, measured))


class Runs(Read):
    read_scope = roles.WRITE
    cached = False

    @extend_schema(
        operation_id="eval_runs",
        summary="List the stored evaluations, newest first",
        parameters=PAGE_PARAMETERS,
        responses=EvaluationsPage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page, where = parse_page(request), Project(pk=caller.project_id)
        golden_set.require_person(caller.actor, where)
        rows = evaluations.history(where, evaluations.KEPT + 1)
        results = [records.evaluation_shape(row) for row in rows[page.bounds]]
        return as_json(EvaluationsPage(results=results, next=page.next_link(request, len(rows))))


def _cases(body: Any) -> tuple[Case, ...]:
    """Return the cases of a body, or raise InvalidRequest with the field and the index of the first bad one."""
    entries = body.get("cases") if isinstance(body, dict) else None
    if not isinstance(entries, list) or not set(body) <= {"name", "cases"}:  # a golden file has a name
        raise InvalidRequest('The body is an object with one list: {"cases": [{"query", "expected"}]}.', field="cases")
    return _read(entries, [f"cases[{index}]" for index in range(len(entries))])


def _read(entries: list[Any], labels: list[str]) -> tuple[Case, ...]:
    """Return the checked cases. `labels` name them in errors."""
    for index, (label, entry) in enumerate(zip(labels, entries, strict=True)):
        if isinstance(entry, dict) and (unknown := sorted(set(map(str, entry)) - set(golden_files.KEYS))):
            message = f"{label}: Unknown field: {', '.join(unknown)[:200]}. Known: {', '.join(golden_files.KEYS)}."
            raise InvalidRequest(message, field=unknown[0][:100], index=index)
    return golden_files.read_entries(entries, labels)


def _stale(where: Project) -> dict[str, Any]:
    return {one.case.query: one for one in golden_set.stale(where)}
