"""Views of skills that a request names: resolve them into the project's cache, and read their files."""

from typing import Annotated, Any, NotRequired, TypedDict, cast

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import write_view
from registry.api.answers import FileShape, file_shapes
from registry.api.read_view import Answer, Read, as_json, flag
from registry.api.skills import DOWNLOAD, RAW_TYPES, download_link, raw
from registry.api.write_view import Write, actor
from registry.core import content_types, roles
from registry.core.errors import InvalidRequest, NotText, TooLarge
from registry.lib.json_types import OneOf
from registry.remote.resolver import Resolved
from registry.services.agents.tokens import Caller
from registry.services.resolve import resolver

SOURCE = "resolved"


class ResolveInput(serializers.Serializer[Any]):
    skills = serializers.ListField(
        child=serializers.JSONField(),
        required=False,
        help_text="Definitions: name, version and url, s3_path or content; or a platform's own format, with Format.",
    )
    messages = serializers.ListField(
        child=serializers.JSONField(),
        required=False,
        help_text="A chat request. The skills of the last user message with a platform_context are resolved.",
    )


class ResolvedEntry(TypedDict):
    name: Annotated[str, "Exactly as you sent it."]
    version: str
    status: Annotated[str, OneOf(("loaded", "cached", "skipped"))]
    reason: NotRequired[Annotated[str, "The reason why the skill was skipped."]]
    digest: NotRequired[str]
    description: NotRequired[str]
    tokens: NotRequired[int]
    files: NotRequired[list[FileShape]]
    origin: NotRequired[Annotated[str, "The address it was fetched from, without anything that may be a credential."]]


class ResolvedShape(TypedDict):
    skills: list[ResolvedEntry]


class ResolvedFileShape(TypedDict):
    name: str
    source: str
    version: str
    digest: str
    path: str
    size: int
    content: str
    origin: str


class Resolve(Write):
    """Needs the scope for reading, because the project does not change. It counts against the smaller rate limit for
    writes, because each request may make the server fetch.
    """

    write_scope = roles.READ
    body_bytes = resolver.BODY_BYTES
    body_hint = (
        f"A request may have {resolver.BOUNDS.most:,} definitions, and each inline SKILL.md "
        f"{settings.LIMITS.skill_md_bytes:,} bytes. Send several requests."
    )

    @extend_schema(
        operation_id="resolve",
        summary="Resolve skills that a platform names in a request: loaded, cached, or skipped with a reason",
        description=(
            f"At most {resolver.BOUNDS.most:,} definitions, and {resolver.BODY_BYTES:,} bytes in sum. Definitions "
            "whose skills are cached are always answered. 503 with Retry-After if the site cannot download more now."
        ),
        request=ResolveInput,
        responses={200: ResolvedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        where, caller = write_view.project(request), cast(Caller, request.user)
        skills = resolver.resolve(
            where, request.data, allowed=caller.allowed, token_id=caller.token_id, by=actor(request)
        )
        return Response(ResolvedShape(skills=[_entry(skill) for skill in skills]))


class ResolvedFile(Read):
    cached = False

    @extend_schema(
        operation_id="read_resolved_file",
        summary="Read one file of a resolved skill",
        parameters=[
            OpenApiParameter(
                "digest", str, required=True, description="The digest as resolved. 409 if the copy has changed since."
            ),
            DOWNLOAD,
        ],
        responses={(200, "application/json"): ResolvedFileShape, **RAW_TYPES},
    )
    def get(self, request: HttpRequest, caller: Caller, name: str, version: str, path: str) -> Answer:
        digest = request.GET.get("digest", "")
        if not digest:
            raise InvalidRequest("The digest is missing. Add ?digest=sha256:… from the answer of /resolve.")
        file = resolver.read(caller.project_slug, name, version, path, digest=digest, allowed=caller.allowed)
        if flag(request, "download"):
            return raw(file.path, file.content)
        try:
            text = content_types.decode_text(file.path, len(file.content), lambda: file.content, limits=settings.LIMITS)
        except (NotText, TooLarge) as error:
            error.data["download"] = download_link(request)
            raise
        return as_json(
            ResolvedFileShape(
                name=file.copy.name,
                source=SOURCE,
                version=file.copy.version,
                digest=file.copy.digest,
                path=file.path,
                size=len(file.content),
                content=text,
                origin=file.copy.origin or resolver.BY_HAND,
            )
        )


def _entry(skill: Resolved) -> ResolvedEntry:
    entry: ResolvedEntry = {
        "name": _encodable(skill.name),
        "version": _encodable(skill.version),
        "status": skill.status,
    }
    if skill.status == "skipped":
        return {**entry, "reason": _encodable(skill.reason)}
    return {
        **entry,
        "digest": skill.digest,
        "description": skill.description,
        "tokens": skill.tokens,
        "files": file_shapes(skill.files),
        "origin": skill.origin,
    }


def _encodable(text: str) -> str:
    """Replace lone surrogates, which JSON can spell but UTF-8 cannot encode."""
    return text.encode(errors="replace").decode()
