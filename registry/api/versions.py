"""Views of a skill's versions: list them, restore one, yank one, quarantine one."""

from typing import Annotated, TypedDict

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import write_view
from registry.api.answers import timestamp
from registry.api.inputs import GatedInput, NoteInput, StrictInput, validate
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, parse_page
from registry.api.scans import ScanSummaryShape, summary_shape
from registry.api.source_answers import ProvenanceShape, provenance_shape
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.lib.json_types import Timestamp
from registry.models import Project, Version
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog, current_version
from registry.services.skills import quarantine, versions


class QuarantineShape(TypedDict):
    at: Timestamp
    reason: str
    by: Annotated[str | None, "The person who set it, or null for the security scan."]


class VersionShape(TypedDict):
    version: str
    digest: str
    source: str
    current: bool
    note: str
    by: str
    agent: bool
    created_at: Timestamp
    size: int
    tokens: int
    yanked_at: Timestamp | None
    yank_reason: str
    deleted_at: Annotated[Timestamp | None, "The deletion of the skill that ended this version, if any."]
    scan: Annotated[ScanSummaryShape | None, "The security scan. Null before the first one."]
    quarantine: Annotated[QuarantineShape | None, "Set while agents do not get the version. It can be lifted."]
    provenance: Annotated[ProvenanceShape | None, "The source it was imported from, if any."]


class VersionsPage(TypedDict):
    results: list[VersionShape]
    next: str | None


class ReasonInput(StrictInput):
    reason = serializers.CharField(required=False, default="No reason was given over the API.")


class RestoreInput(NoteInput, GatedInput):
    """The body of a request to restore a version."""


class QuarantineInput(StrictInput):
    reason = serializers.CharField(help_text="Shown to the people of the project.")


class ReleaseInput(StrictInput):
    reason = serializers.CharField(required=False, allow_blank=True, default="")


class Versions(Read):
    read_scope = roles.WRITE

    @extend_schema(
        operation_id="versions",
        summary="List the versions of a skill, newest first",
        parameters=PAGE_PARAMETERS,
        responses=VersionsPage,
    )
    def get(self, request: HttpRequest, caller: Caller, name: str) -> Answer:
        page = parse_page(request)
        catalog.permit(name, caller.allowed)
        history = versions.history(Project(pk=caller.project_id), name)
        results = [_version_shape(version) for version in history[page.bounds]]
        return as_json(VersionsPage(results=results, next=page.next_link(request, len(history))))


class Restore(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="restore_version",
        summary="Publish an old version again as the newest one",
        request=RestoreInput,
        responses={201: VersionShape},
    )
    def post(self, request: Request, project: str, name: str, version: str) -> Response:
        body = validate(RestoreInput, request)
        restored = versions.restore(
            write_view.project(request),
            name,
            version,
            note=body["note"],
            gate_reason=body["gate_reason"],
            by=actor(request),
        )
        return Response(_version_shape(restored), status=201)


class Yank(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="yank_version",
        summary="Yank a version: nobody can load it any more",
        request=ReasonInput,
        responses=VersionShape,
    )
    def post(self, request: Request, project: str, name: str, version: str) -> Response:
        body = validate(ReasonInput, request)
        yanked = versions.yank(write_view.project(request), name, version, reason=body["reason"], by=actor(request))
        return Response(_version_shape(yanked))


class Quarantine(Write):
    write_scope = roles.REVIEW

    @extend_schema(
        operation_id="quarantine_version",
        summary="Take a version from agents until the quarantine is lifted",
        request=QuarantineInput,
        responses=VersionShape,
    )
    def post(self, request: Request, project: str, name: str, version: str) -> Response:
        body = validate(QuarantineInput, request)
        held = quarantine.quarantine(
            write_view.project(request), name, version, reason=body["reason"], by=actor(request)
        )
        return Response(_version_shape(held))


class Release(Write):
    write_scope = roles.REVIEW

    @extend_schema(
        operation_id="release_version",
        summary="Lift the quarantine of a version",
        request=ReleaseInput,
        responses=VersionShape,
    )
    def post(self, request: Request, project: str, name: str, version: str) -> Response:
        body = validate(ReleaseInput, request)
        released = quarantine.release(
            write_view.project(request), name, version, reason=body["reason"], by=actor(request)
        )
        return Response(_version_shape(released))


def _quarantine_shape(version: Version) -> QuarantineShape | None:
    if version.quarantined_at is None:
        return None
    person = version.quarantined_by
    return {
        "at": version.quarantined_at.isoformat(),
        "reason": version.quarantine_reason,
        "by": person.display_name if person else None,
    }


def _version_shape(version: Version) -> VersionShape:
    provenance = getattr(version, "provenance", None)
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
        "yanked_at": timestamp(version.yanked_at),
        "yank_reason": version.yank_reason,
        "deleted_at": timestamp(version.deleted_at),
        "scan": summary_shape(current_version.summarised(version.scan)),
        "quarantine": _quarantine_shape(version),
        "provenance": provenance_shape(provenance) if provenance else None,
    }
