"""Views of sources: their entries, import previews, and the jobs that import and update skills."""

from django.http import HttpRequest
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry import models
from registry.api import source_answers as answers
from registry.api import source_inputs as inputs
from registry.api import write_view
from registry.api.inputs import row_id, validate
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, parse_page
from registry.api.write_view import Write, actor, if_match
from registry.core import roles
from registry.services.agents.tokens import Caller
from registry.services.sources import import_preview, sources, uninstalling

_IF_MATCH = OpenApiParameter("If-Match", str, "header", description="The digest that you saw, in quotes.")
_GATE_REASON = OpenApiParameter(
    "gate_reason", str, description="The reason to go back to the earlier version although the routing gate refuses it."
)


class _SourceRead(Read):
    """The worker changes sources without a new revision, so answers are not cached."""

    read_scope = roles.WRITE
    cached = False


class Sources(_SourceRead, Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="sources",
        summary="List the sources of the project, each with the result of its last check",
        parameters=PAGE_PARAMETERS,
        responses=answers.SourcesPage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page = parse_page(request)
        found = sources.listed(models.Project(pk=caller.project_id), by=caller.actor)
        results = [_counted_source(source) for source in found[page.bounds]]
        return as_json(answers.SourcesPage(results=results, next=page.next_link(request, found.count())))

    @extend_schema(
        operation_id="add_source",
        summary="Add a source; the worker checks it next",
        request=inputs.SourceInput,
        responses={201: answers.SourceShape},
    )
    def post(self, request: Request, project: str) -> Response:
        body = validate(inputs.SourceInput, request)
        source = sources.add(
            write_view.project(request),
            body["kind"],
            body["address"],
            ref=body["ref"],
            label=body["label"],
            by=actor(request),
        )
        response = Response(answers.source_shape(source, offered=0, installed=0), status=201)
        response["Location"] = reverse("api-source", args=[project, source.pk])
        return response


class Source(_SourceRead, Write):
    write_scope = roles.WRITE

    @extend_schema(operation_id="source", summary="Get one source", responses=answers.SourceShape)
    def get(self, request: HttpRequest, caller: Caller, source: str) -> Answer:
        where = models.Project(pk=caller.project_id)
        found = sources.find(where, row_id(source), by=caller.actor)
        return as_json(_counted_source(sources.listed(where, by=caller.actor).get(pk=found.pk)))

    @extend_schema(
        operation_id="remove_source",
        summary="Remove a source; skills imported from it stay",
        responses={204: None},
    )
    def delete(self, request: Request, project: str, source: str) -> Response:
        sources.remove(write_view.project(request), row_id(source), by=actor(request))
        return Response(status=204)


class Look(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="look_at_source",
        summary="Check the source again",
        request=None,
        responses={202: answers.JobShape},
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        return _accepted(project, sources.look(write_view.project(request), row_id(source), by=actor(request)), 0)


class Entries(_SourceRead):
    @extend_schema(
        operation_id="source_entries",
        summary="List the entries of a source, and what is installed in the project",
        parameters=[OpenApiParameter("q", str, description="Words of the name or description."), *PAGE_PARAMETERS],
        responses=answers.EntriesPage,
    )
    def get(self, request: HttpRequest, caller: Caller, source: str) -> Answer:
        page, where = parse_page(request), models.Project(pk=caller.project_id)
        found = sources.entries(where, row_id(source), q=request.GET.get("q", "")[:200], by=caller.actor)
        rows = list(found[page.bounds])
        entries = sources.with_state(sources.find(where, row_id(source), by=caller.actor), rows, by=caller.actor)
        results = [answers.entry_shape(entry) for entry in entries]
        return as_json(answers.EntriesPage(results=results, next=page.next_link(request, found.count())))


class Search(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="search_source",
        summary="Search the source itself, which may have more entries than it lists",
        request=inputs.SearchInput,
        responses=answers.EntriesPage,
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        body = validate(inputs.SearchInput, request)
        entries = sources.search(write_view.project(request), row_id(source), body["q"], by=actor(request))
        return Response(answers.EntriesPage(results=[answers.entry_shape(entry) for entry in entries], next=None))


class Preview(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="preview_source_entry",
        summary="Preview the import of one skill: its files, findings, and changes to the project",
        request=inputs.PreviewInput,
        responses=answers.ImportPreviewShape,
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        body = validate(inputs.PreviewInput, request)
        preview = import_preview.load(
            write_view.project(request),
            row_id(source),
            body["name"],
            new_name=body["as"],
            again=body["again"],
            by=actor(request),
        )
        return Response(answers.import_preview_shape(preview))


class _StartJob(Write):
    write_scope = roles.WRITE
    update = False

    def start(self, request: Request, project: str, source: str) -> Response:
        where, by, number = write_view.project(request), actor(request), row_id(source)
        sources.find(where, number, by=by)
        body = validate(inputs.ImportInput, request)
        requests = [inputs.parse_import_request(each) for each in body["skills"]]
        return _accepted(project, sources.start(where, number, requests, update=self.update, by=by), len(requests))


class Import(_StartJob):
    @extend_schema(
        operation_id="import_from_source",
        summary="Import skills in a job, which lists the outcome for each",
        request=inputs.ImportInput,
        responses={202: answers.JobShape},
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        return self.start(request, project, source)


class Update(_StartJob):
    update = True

    @extend_schema(
        operation_id="update_from_source",
        summary="Update skills in a job; an edited skill is only replaced if you send the digest that you saw",
        request=inputs.ImportInput,
        responses={202: answers.JobShape},
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        return self.start(request, project, source)


class Job(_SourceRead):
    @extend_schema(
        operation_id="source_job",
        summary="Get the progress of a job and the outcome for each skill",
        parameters=PAGE_PARAMETERS,
        responses=answers.JobPage,
    )
    def get(self, request: HttpRequest, caller: Caller, source: str, job: str) -> Answer:
        page, where = parse_page(request), models.Project(pk=caller.project_id)
        found = sources.job(where, row_id(source), row_id(job), by=caller.actor)
        total = _count(found, "total")
        body: answers.JobPage = {
            **answers.job_shape(found, request.path, done=_count(found, "done"), total=total),
            "results": [answers.outcome_shape(item) for item in found.items.order_by("position")[page.bounds]],
            "next": page.next_link(request, total),
        }
        return as_json(body)


class Installed(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="uninstall",
        summary="Uninstall a skill of the source; an edited skill needs the digest that you saw",
        parameters=[_IF_MATCH, _GATE_REASON],
        responses={200: answers.OutcomeShape},
    )
    def delete(self, request: Request, project: str, source: str, name: str) -> Response:
        where, by = write_view.project(request), actor(request)
        reason = request.GET.get("gate_reason", "")
        result = uninstalling.uninstall(
            where, row_id(source), name, seen=if_match(request) or "", gate_reason=reason, by=by
        )
        return Response(answers.outcome_shape(result))


def _counted_source(source: models.Source) -> answers.SourceShape:
    return answers.source_shape(source, offered=_count(source, "offered"), installed=_count(source, "installed"))


def _count(row: object, name: str) -> int:
    """Return a count that the queryset annotated."""
    return int(getattr(row, name))


def _accepted(project: str, job: models.SourceJob, total: int) -> Response:
    link = reverse("api-source-job", args=[project, job.source_id, job.pk])
    response = Response(answers.job_shape(job, link, done=0, total=total), status=202)
    response["Location"] = link
    return response
