"""The history of a skill: what it was, back to an old state, and a version taken out of reach."""

from typing import Any

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import shapes, source_shapes, write_view
from registry.api.read_view import Answer, Read, as_json, page
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.models import Project, Version
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog
from registry.services.skills import versions


class Versions(Read):
    scope = roles.WRITE

    @extend_schema(
        operation_id="versions",
        summary="Every version of a skill, newest first",
        parameters=[OpenApiParameter("limit", int), OpenApiParameter("offset", int)],
        responses=shapes.VersionsPage,
    )
    def get(self, request: Request, project: str, name: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked = page(request)
        catalog.permit(kwargs["name"], caller.allowed)
        found = versions.history(Project(pk=caller.project_id), kwargs["name"])
        shown = [_version(version) for version in found[asked.offset : asked.offset + asked.limit]]
        return as_json({"results": shown, "next": asked.next_link(request, len(found))})


class Restore(Write):
    needs = roles.WRITE

    @extend_schema(
        operation_id="restore_version",
        summary="An old version becomes the newest one",
        request=shapes.NoteInput,
        responses={201: shapes.VersionShape},
    )
    def post(self, request: Request, project: str, name: str, version: str) -> Response:
        shape = shapes.NoteInput(data=request.data)
        shape.is_valid(raise_exception=True)
        restored = versions.restore(
            write_view.project(request), name, version, note=shape.validated_data["note"], by=actor(request)
        )
        return Response(_version(restored), status=201)


class Yank(Write):
    needs = roles.WRITE

    @extend_schema(
        operation_id="yank_version",
        summary="Make one version unavailable on every path",
        request=shapes.ReasonInput,
        responses=shapes.VersionShape,
    )
    def post(self, request: Request, project: str, name: str, version: str) -> Response:
        shape = shapes.ReasonInput(data=request.data)
        shape.is_valid(raise_exception=True)
        yanked = versions.yank(
            write_view.project(request), name, version, reason=shape.validated_data["reason"], by=actor(request)
        )
        return Response(_version(yanked))


def _version(version: Version) -> dict[str, Any]:
    came = getattr(version, "provenance", None)
    return {
        "version": version.version,
        "digest": version.digest,
        "source": "project",
        "current": version.skill.overrides and version.skill.current_id == version.pk,
        "note": version.note,
        "by": version.by,
        "agent": version.agent_id is not None,
        "created_at": version.created_at.isoformat(),
        "size": version.size,
        "tokens": version.tokens,
        "yanked_at": version.yanked_at.isoformat() if version.yanked_at else None,
        "yank_reason": version.yank_reason,
        "provenance": source_shapes.provenance(came) if came else None,
    }
