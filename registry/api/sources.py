"""Sources over the API: where skills come from, what is offered there, and how what was asked for comes along."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry import models
from registry.api import source_shapes as shapes
from registry.api import write_view
from registry.api.read_view import Answer, Read, as_json, page
from registry.api.write_view import Write, actor, if_match
from registry.core import roles
from registry.services.agents.tokens import Caller
from registry.services.sources import import_preview, sources, uninstalling

_PAGE = [OpenApiParameter("limit", int), OpenApiParameter("offset", int)]
_IF_MATCH = OpenApiParameter("If-Match", str, "header", description="The digest of what you saw, in quotes.")


class _Reading(Read):
    """A look or a job of the worker moves no revision, so nothing is kept."""

    scope = roles.WRITE
    changes_unseen = True


class Sources(_Reading, Write):
    needs = roles.WRITE

    @extend_schema(
        operation_id="sources",
        summary="The sources of the project, and what the last look at each found",
        parameters=_PAGE,
        responses=shapes.SourcesPage,
    )
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked = page(request)
        found = sources.listed(models.Project(pk=caller.project_id), by=caller.actor)
        shown = [_counted(one) for one in found[asked.offset : asked.offset + asked.limit]]
        return as_json({"results": shown, "next": asked.next_link(request, found.count())})

    @extend_schema(
        operation_id="add_source",
        summary="Add a source; the worker looks at it next",
        request=shapes.SourceInput,
        responses={201: shapes.SourceShape},
    )
    def post(self, request: Request, project: str) -> Response:
        given = shapes.checked(shapes.SourceInput, request)
        made = sources.add(
            write_view.project(request), given["kind"], given["address"], ref=given["ref"], label=given["label"],
            by=actor(request),
        )  # fmt: skip
        answer = Response(shapes.source(made, offered=0, installed=0), status=201)
        answer["Location"] = reverse("api-source", args=[project, made.pk])
        return answer


class Source(_Reading, Write):
    needs = roles.WRITE

    @extend_schema(operation_id="source", summary="One source", responses=shapes.SourceShape)
    def get(self, request: Request, project: str, source: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        where = models.Project(pk=caller.project_id)
        found = sources.find(where, _id(kwargs["source"]), by=caller.actor)
        return as_json(_counted(sources.listed(where, by=caller.actor).get(pk=found.pk)))

    @extend_schema(
        operation_id="remove_source",
        summary="Remove a source; the skills that came from it stay",
        responses={204: None},
    )
    def delete(self, request: Request, project: str, source: str) -> Response:
        sources.remove(write_view.project(request), _id(source), by=actor(request))
        return Response(status=204)


class Look(Write):
    needs = roles.WRITE

    @extend_schema(
        operation_id="look_at_source",
        summary="Ask the source anew what it offers",
        request=None,
        responses={202: shapes.JobShape},
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        return _accepted(project, sources.look(write_view.project(request), _id(source), by=actor(request)), 0)


class Entries(_Reading):
    @extend_schema(
        operation_id="source_entries",
        summary="What a source offers, with what the project has of it",
        parameters=[OpenApiParameter("q", str, description="Words of the name or the description."), *_PAGE],
        responses=shapes.EntriesPage,
    )
    def get(self, request: Request, project: str, source: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked, where, number = page(request), models.Project(pk=caller.project_id), _id(kwargs["source"])
        found = sources.entries(where, number, q=request.GET.get("q", "")[:200], by=caller.actor)
        shown = list(found[asked.offset : asked.offset + asked.limit])
        offered = sources.with_state(sources.find(where, number, by=caller.actor), shown)
        body = [shapes.entry(one) for one in offered]
        return as_json({"results": body, "next": asked.next_link(request, found.count())})


class Search(Write):
    needs = roles.WRITE

    @extend_schema(
        operation_id="search_source",
        summary="Ask the source itself, which may have more than it lists",
        request=shapes.SearchInput,
        responses=shapes.EntriesPage,
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        given = shapes.checked(shapes.SearchInput, request)
        found = sources.search(write_view.project(request), _id(source), given["q"], by=actor(request))
        return Response({"results": [shapes.entry(one) for one in found], "next": None})


class Preview(Write):
    needs = roles.WRITE

    @extend_schema(
        operation_id="preview_source_entry",
        summary="One skill of a source: its files, what is worth knowing, and what importing it would change",
        request=shapes.PreviewInput,
        responses=shapes.ArrivalShape,
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        given = shapes.checked(shapes.PreviewInput, request)
        found = import_preview.load(
            write_view.project(request), _id(source), given["name"], new_name=given["as"], again=given["again"],
            by=actor(request),
        )  # fmt: skip
        return Response(shapes.arrival(found))


class _Start(Write):
    needs = roles.WRITE
    update = False

    def start(self, request: Request, project: str, source: str) -> Response:
        where, by, number = write_view.project(request), actor(request), _id(source)
        sources.find(where, number, by=by)
        wanted = [shapes.wish(each) for each in shapes.checked(shapes.WishesInput, request)["skills"]]
        return _accepted(project, sources.start(where, number, wanted, update=self.update, by=by), len(wanted))


class Import(_Start):
    @extend_schema(
        operation_id="import_from_source",
        summary="The worker imports these skills; the job tells what came of each",
        request=shapes.WishesInput,
        responses={202: shapes.JobShape},
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        return self.start(request, project, source)


class Update(_Start):
    update = True

    @extend_schema(
        operation_id="update_from_source",
        summary="The worker updates these skills; no edit is lost unless you say which one you saw",
        request=shapes.WishesInput,
        responses={202: shapes.JobShape},
    )
    def post(self, request: Request, project: str, source: str) -> Response:
        return self.start(request, project, source)


class Job(_Reading):
    @extend_schema(
        operation_id="source_job",
        summary="How far a job is, and what came of each skill",
        parameters=_PAGE,
        responses=shapes.JobPage,
    )
    def get(self, request: Request, project: str, source: str, job: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked, where = page(request), models.Project(pk=caller.project_id)
        found = sources.job(where, _id(kwargs["source"]), _id(kwargs["job"]), by=caller.actor)
        items = found.items.order_by("position")[asked.offset : asked.offset + asked.limit]
        body = shapes.job(found, request.path, done=_number(found, "done"), total=_number(found, "total"))
        body |= {"results": [shapes.item(one) for one in items], "next": asked.next_link(request, body["total"])}
        return as_json(body)


class Installed(Write):
    needs = roles.WRITE

    @extend_schema(
        operation_id="uninstall",
        summary="Take away what came from the source; an edited skill only for who saw the edit",
        parameters=[_IF_MATCH],
        responses=shapes.OutcomeShape,
    )
    def delete(self, request: Request, project: str, source: str, name: str) -> Response:
        where, by = write_view.project(request), actor(request)
        done = uninstalling.uninstall(where, _id(source), name, seen=if_match(request) or "", by=by)
        return Response(asdict(done))


def _counted(one: models.Source) -> dict[str, Any]:
    return shapes.source(one, offered=_number(one, "offered"), installed=_number(one, "installed"))


def _number(row: object, name: str) -> int:
    """A count that a queryset made."""
    return int(getattr(row, name))


def _accepted(project: str, job: models.SourceJob, total: int) -> Response:
    link = reverse("api-source-job", args=[project, job.source_id, job.pk])
    answer = Response(shapes.job(job, link, done=0, total=total), status=202)
    answer["Location"] = link
    return answer


def _id(text: str) -> int:
    """0, which no row has, for what is no number."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
