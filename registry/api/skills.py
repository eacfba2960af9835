"""One skill: load it, read a file of it, take it whole, write it, delete it."""

from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import shapes, write_view
from registry.api.read_view import Answer, Read, as_json, flag
from registry.api.write_view import Write, actor, if_match
from registry.core import content_types, roles
from registry.core.archive import zip_bundle as bundle_files
from registry.core.bundle import Bundle, normalise
from registry.core.catalog import prompt
from registry.core.errors import InvalidRequest, NotText, TooLarge
from registry.core.format import skill_md
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog
from registry.services.catalog.current_version import Approved
from registry.services.skills import skills

_VERSION = OpenApiParameter("version", str, description="One exact version; the current one when not given.")
_IF_MATCH = OpenApiParameter("If-Match", str, "header", description="The digest you started from, in quotes.")


def _load(request: HttpRequest, caller: Caller, name: str) -> catalog.Loaded:
    return catalog.load(caller.project_id, name, version=request.GET.get("version"), allowed=caller.allowed)


class Skills(Write):
    needs = roles.WRITE

    @extend_schema(
        operation_id="create_skill",
        summary="Create a skill of the project",
        request=shapes.SkillInput,
        responses={201: shapes.SavedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        given = _checked(request)
        bundle = skills.from_text(_text(given, given.get("name", "")))
        saved = skills.create(write_view.project(request), bundle, note=given["note"], by=actor(request))
        return Response(_saved(saved), status=201)


class Skill(Read, Write):
    counts_loads = True
    needs = roles.WRITE

    @extend_schema(
        operation_id="load_skill",
        summary="The instructions of one skill, and the list of its files",
        parameters=[_VERSION],
        responses=shapes.SkillShape,
    )
    def get(self, request: Request, project: str, name: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        loaded = _load(request, caller, kwargs["name"])
        found, said = loaded.candidate, loaded.skill_md()
        body: dict[str, Any] = {
            "name": found.name,
            "description": found.description,
            "kind": found.kind,
            "version": found.version,
            "digest": found.digest,
            "source": found.source,
            "instructions": said.instructions,
            "tokens": found.tokens,
            "summary": prompt.summary(found.name, found.tokens),
            "requires": list(found.requires),
            "files": [{"path": e.path, "size": e.size, "digest": e.digest} for e in loaded.files],
        }
        if found.requires:
            body["hint"] = prompt.hint(found.requires)
        if loaded.approval:
            body["approval"] = _approval(loaded.approval)
        return as_json(body, loads=((found.name, found.version),))

    @extend_schema(
        operation_id="save_skill",
        summary="Save the next version; what is not sent stays: other files, and of the header all but the parts given",
        parameters=[_IF_MATCH],
        request=shapes.SkillInput,
        responses={200: shapes.SavedShape, 201: shapes.SavedShape},
    )
    def put(self, request: Request, project: str, name: str) -> Response:
        given, name = _checked(request), normalise(name)
        if "name" in given and normalise(given["name"]) != name:
            raise InvalidRequest(f"The name in the address is {name}, in the body {given['name']}. Make them the same.")
        bundle = _revised(request, given, name)
        saved = skills.save(
            write_view.project(request),
            name,
            bundle,
            base=if_match(request),
            note=given["note"],
            by=actor(request),
        )
        return Response(_saved(saved), status=201 if saved.created else 200)

    @extend_schema(
        operation_id="delete_skill",
        summary="Remove the project's own skill; a bundled one of the name shows again",
        parameters=[_IF_MATCH],
        responses={204: None},
    )
    def delete(self, request: Request, project: str, name: str) -> Response:
        skills.delete(write_view.project(request), name, base=if_match(request), by=actor(request))
        return Response(status=204)


def _approval(approval: Approved) -> dict[str, Any]:
    return {
        "by": approval.by,
        "at": approval.at.isoformat(),
        "digest": approval.digest,
        "proposal": approval.proposal,
    }


class SkillFile(Read):
    @extend_schema(
        operation_id="read_file",
        summary="One file of a skill",
        parameters=[_VERSION, OpenApiParameter("download", bool, description="1 gives the raw bytes.")],
        responses={
            (200, "application/json"): shapes.FileContentShape,
            **{(200, kind): OpenApiTypes.BINARY for kind in sorted(content_types.KINDS - {"application/json"})},
        },
    )
    def get(self, request: Request, project: str, name: str, path: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        path = kwargs["path"]
        loaded = _load(request, caller, kwargs["name"])
        entry = loaded.entry(path)
        if flag(request, "download"):
            return raw(path, loaded.read(entry))
        try:
            text = loaded.read_text(path, settings.LIMITS)
        except (NotText, TooLarge) as error:
            error.data["download"] = download_link(request)
            raise
        found = loaded.candidate
        return as_json(
            {
                "name": found.name,
                "source": found.source,
                "version": found.version,
                "digest": found.digest,
                "path": path,
                "size": entry.size,
                "content": text,
            }
        )


class SkillBundle(Read):
    counts_loads = True

    @extend_schema(
        operation_id="download_bundle",
        summary="The whole skill as a zip that is the same bytes on every node",
        parameters=[_VERSION],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, project: str, name: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        loaded = _load(request, caller, kwargs["name"])
        found = loaded.candidate
        answer = raw(f"{found.name}.zip", bundle_files.write_zip(loaded.bundle()), attach=True)
        return Answer(answer.body, answer.content_type, answer.headers, loads=((found.name, found.version),))


def raw(path: str, content: bytes, *, attach: bool = False) -> Answer:
    """Bytes of a bundle with the headers that keep them inert."""
    headers = dict(content_types.HEADERS)
    if attach or content_types.is_attachment(path):
        headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}"
    return Answer(content, content_types.content_type(path), headers)


def download_link(request: HttpRequest) -> str:
    query = request.GET.copy()
    query["download"] = "1"
    return f"{quote(request.path)}?{query.urlencode()}"


def _checked(request: Request) -> dict[str, Any]:
    shape = shapes.SkillInput(data=request.data)
    shape.is_valid(raise_exception=True)
    return dict(shape.validated_data)


def _text(given: dict[str, Any], name: str) -> str:
    if "skill_md" in given:
        return str(given["skill_md"])
    return skill_md.compose(
        name=name,
        description=given["description"],
        instructions=given["instructions"],
        metadata=given.get("metadata", {}),
    )


def _revised(request: Request, given: dict[str, Any], name: str) -> Bundle:
    if "skill_md" in given:
        return skills.with_text(write_view.project(request), name, given["skill_md"])
    return skills.with_parts(
        write_view.project(request),
        name,
        description=given["description"],
        instructions=given["instructions"],
        metadata=given.get("metadata"),
    )


def _saved(saved: skills.Saved) -> dict[str, Any]:
    version = saved.version
    return {
        "name": version.skill.name,
        "source": "project",
        "version": version.version,
        "digest": version.digest,
        "findings": [finding.as_json() for finding in saved.findings],
    }
