"""Views of one skill: load it, read its files, download it, save it, delete it."""

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import skill_answers as answers
from registry.api import write_view
from registry.api.catalog import EffectiveShape, effective_shape
from registry.api.inputs import GatedInput, NothingInput, validate
from registry.api.read_view import Answer, Read, as_json, flag
from registry.api.write_view import Write, actor, if_match
from registry.core import content_types, roles
from registry.core.archive import zip_bundle as bundle_files
from registry.core.bundle import Bundle, normalise
from registry.core.errors import InvalidRequest, NotText, TooLarge
from registry.core.format import skill_md
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog
from registry.services.permissions import require_reach
from registry.services.skills import skills

_VERSION = OpenApiParameter("version", str, description="An exact version. The default is the current one.")
_IF_MATCH = OpenApiParameter("If-Match", str, "header", description="The digest that you started from, in quotes.")
DOWNLOAD = OpenApiParameter("download", bool, description="1 returns the raw bytes.")
RAW_TYPES = {(200, kind): OpenApiTypes.BINARY for kind in sorted(content_types.MEDIA_TYPES - {"application/json"})}


class SkillInput(GatedInput):
    skill_md = serializers.CharField(required=False, trim_whitespace=False, help_text="The whole SKILL.md, unchanged.")
    name = serializers.CharField(required=False)
    description = serializers.CharField(required=False)
    instructions = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    metadata = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    note = serializers.CharField(required=False, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        parts = {"name", "description", "instructions", "metadata"} & set(attrs)
        if ("skill_md" in attrs) == bool(parts):
            raise serializers.ValidationError(
                "Send either skill_md, or description and instructions (optionally with name and metadata)."
            )
        if parts and not {"description", "instructions"} <= parts:
            raise serializers.ValidationError("Send both description and instructions.")
        return attrs


class Skills(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="create_skill",
        summary="Create a skill in the project",
        request=SkillInput,
        responses={201: answers.SavedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        body = validate(SkillInput, request)
        bundle = skills.from_text(_compose(body, body.get("name", "")))
        where, by = write_view.project(request), actor(request)
        saved = skills.create(where, bundle, note=body["note"], gate_reason=body["gate_reason"], by=by)
        return Response(answers.saved_shape(saved), status=201)


class Skill(Read, Write):
    counts_loads = True
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="load_skill",
        summary="Load a skill: its instructions and the list of its files",
        parameters=[_VERSION],
        responses=answers.SkillShape,
    )
    def get(self, request: HttpRequest, caller: Caller, name: str) -> Answer:
        loaded = _load(request, caller, name)
        return as_json(answers.skill_shape(loaded), loads=(_load_key(loaded),))

    @extend_schema(
        operation_id="save_skill",
        summary="Save the next version; other files and header fields that you do not send stay as they are",
        parameters=[_IF_MATCH],
        request=SkillInput,
        responses={200: answers.SavedShape, 201: answers.SavedShape},
    )
    def put(self, request: Request, project: str, name: str) -> Response:
        body, name = validate(SkillInput, request), normalise(name)
        if "name" in body and normalise(body["name"]) != name:
            raise InvalidRequest(f"The name in the address is {name}, in the body {body['name']}. Make them the same.")
        require_reach(actor(request), name)  # before the skill is read, so that the answer does not tell if it exists
        saved = skills.save(
            write_view.project(request),
            name,
            _revise(request, body, name),
            base=if_match(request),
            note=body["note"],
            gate_reason=body["gate_reason"],
            by=actor(request),
        )
        return Response(answers.saved_shape(saved), status=201 if saved.created else 200)

    @extend_schema(
        operation_id="delete_skill",
        summary="Delete the project's skill; a built-in skill of the same name applies again",
        parameters=[_IF_MATCH],
        responses={204: None},
    )
    def delete(self, request: Request, project: str, name: str) -> Response:
        skills.delete(write_view.project(request), name, base=if_match(request), by=actor(request))
        return Response(status=204)


class Disable(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="disable_skill",
        summary="Switch a skill off: agents can no longer load it, whether it is built in or the project's own",
        request=NothingInput,
        responses=EffectiveShape,
    )
    def post(self, request: Request, project: str, name: str) -> Response:
        validate(NothingInput, request)
        skills.disable(write_view.project(request), name, by=actor(request))
        return _effective(request, name)


class Enable(Write):
    write_scope = roles.WRITE

    @extend_schema(
        operation_id="enable_skill",
        summary="Switch a skill on again",
        request=NothingInput,
        responses=EffectiveShape,
    )
    def post(self, request: Request, project: str, name: str) -> Response:
        validate(NothingInput, request)
        skills.enable(write_view.project(request), name, by=actor(request))
        return _effective(request, name)


def _effective(request: Request, name: str) -> Response:
    return Response(effective_shape(catalog.get(write_view.project(request).pk, name)))


class SkillFile(Read):
    @extend_schema(
        operation_id="read_file",
        summary="Read one file of a skill",
        parameters=[_VERSION, DOWNLOAD],
        responses={(200, "application/json"): answers.FileContentShape, **RAW_TYPES},
    )
    def get(self, request: HttpRequest, caller: Caller, name: str, path: str) -> Answer:
        loaded = _load(request, caller, name)
        entry = loaded.entry(path)
        if flag(request, "download"):
            return raw(path, loaded.read(entry))
        try:
            text = loaded.read_text(path, settings.LIMITS)
        except (NotText, TooLarge) as error:
            error.data["download"] = download_link(request)
            raise
        return as_json(answers.file_content_shape(loaded, entry, text))


class SkillBundle(Read):
    counts_loads = True

    @extend_schema(
        operation_id="download_bundle",
        summary="Download a skill as a zip, which has the same bytes on every node",
        parameters=[_VERSION],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: HttpRequest, caller: Caller, name: str) -> Answer:
        loaded = _load(request, caller, name)
        answer = raw(f"{loaded.candidate.name}.zip", bundle_files.write_zip(loaded.bundle()), attach=True)
        return replace(answer, loads=(_load_key(loaded),))


def _load(request: HttpRequest, caller: Caller, name: str) -> catalog.Loaded:
    return catalog.load(caller.project_id, name, version=request.GET.get("version"), allowed=caller.allowed)


def _load_key(loaded: catalog.Loaded) -> tuple[str, str]:
    return loaded.candidate.name, loaded.candidate.version


def raw(path: str, content: bytes, *, attach: bool = False) -> Answer:
    """Return file content with headers that stop a browser from running it."""
    headers = dict(content_types.HEADERS)
    if attach or content_types.is_attachment(path):
        headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}"
    return Answer(content, content_types.content_type(path), headers)


def download_link(request: HttpRequest) -> str:
    query = request.GET.copy()
    query["download"] = "1"
    return f"{quote(request.path)}?{query.urlencode()}"


def _compose(body: dict[str, Any], name: str) -> str:
    """Return the text of a new SKILL.md."""
    if "skill_md" in body:
        return str(body["skill_md"])
    return skill_md.compose(
        name=name,
        description=body["description"],
        instructions=body["instructions"],
        metadata=body.get("metadata", {}),
    )


def _revise(request: Request, body: dict[str, Any], name: str) -> Bundle:
    """Return the current bundle with its SKILL.md replaced, or only the parts of it that were sent."""
    if "skill_md" in body:
        return skills.with_text(write_view.project(request), name, body["skill_md"])
    return skills.with_parts(
        write_view.project(request),
        name,
        description=body["description"],
        instructions=body["instructions"],
        metadata=body.get("metadata"),
    )
