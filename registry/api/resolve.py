"""Skills that come with a request: resolved into the project's cache, and read from it file by file."""

from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import shapes, write_view
from registry.api.read_view import Answer, Read, as_json, flag
from registry.api.skills import download_link, raw
from registry.api.write_view import Write, actor
from registry.core import content_types, roles
from registry.core.errors import NotText, TooLarge
from registry.remote.resolver import Resolved
from registry.services.agents.tokens import Caller
from registry.services.resolve import resolver

SOURCE = "resolved"


class ResolveInput(serializers.Serializer[Any]):
    skills = serializers.ListField(
        child=serializers.JSONField(),
        required=False,
        help_text="Definitions: name, version and url, s3_path or content; or the platform’s own, with Format.",
    )
    messages = serializers.ListField(
        child=serializers.JSONField(),
        required=False,
        help_text="A chat request: the skills of the last user message with a platform_context are taken.",
    )


class ResolvedEntry(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Exactly as it was given.")
    version = serializers.CharField()
    status = serializers.ChoiceField(choices=["loaded", "cached", "skipped"])
    reason = serializers.CharField(required=False, help_text="Why it was skipped.")
    digest = serializers.CharField(required=False)
    description = serializers.CharField(required=False)
    tokens = serializers.IntegerField(required=False)
    files = shapes.FileShape(many=True, required=False)
    origin = serializers.CharField(required=False, help_text="Where it came from, without what may be a credential.")


class ResolvedShape(serializers.Serializer[Any]):
    skills = ResolvedEntry(many=True)


class ResolvedFileShape(shapes.FileContentShape):
    source = serializers.CharField()  # type: ignore[assignment]  # a field of DRF is called so too
    origin = serializers.CharField()


class Resolve(Write):
    """Nothing of the project changes, so the scope is that of reading; each may make the server fetch, so it counts
    against the smaller limit, that of writes.
    """

    needs = roles.READ

    @extend_schema(
        operation_id="resolve",
        summary="Skills that a platform names with a request: loaded, from the cache, or skipped with a reason",
        request=ResolveInput,
        responses={200: ResolvedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        where, caller = write_view.project(request), cast(Caller, request.user)
        with resolver.turn(where, caller.token_id):
            found = resolver.resolve(where, request.data, allowed=caller.allowed, by=actor(request))
        return Response({"skills": [_entry(one) for one in found]})


class ResolvedFile(Read):
    changes_unseen = True

    @extend_schema(
        operation_id="read_resolved_file",
        summary="One file of a resolved skill",
        parameters=[
            OpenApiParameter("digest", str, description="As resolved; 409 where the copy changed since."),
            OpenApiParameter("download", bool, description="1 gives the raw bytes."),
        ],
        responses={
            (200, "application/json"): ResolvedFileShape,
            **{(200, kind): OpenApiTypes.BINARY for kind in sorted(content_types.KINDS - {"application/json"})},
        },
    )
    def get(self, request: Request, project: str, name: str, version: str, path: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        found = resolver.read(
            caller.project_slug,
            kwargs["name"],
            kwargs["version"],
            kwargs["path"],
            digest=request.GET.get("digest", ""),
            allowed=caller.allowed,
        )
        if flag(request, "download"):
            return raw(found.path, found.content)
        size = len(found.content)
        try:
            text = content_types.as_text(found.path, size, lambda: found.content, limits=settings.LIMITS)
        except (NotText, TooLarge) as error:
            error.data["download"] = download_link(request)
            raise
        copy = found.copy
        return as_json(
            {
                "name": copy.name,
                "source": SOURCE,
                "version": copy.version,
                "digest": copy.digest,
                "path": found.path,
                "size": size,
                "content": text,
                "origin": copy.origin or resolver.BY_HAND,
            }
        )


def _entry(one: Resolved) -> dict[str, Any]:
    said: dict[str, Any] = {"name": _sendable(one.name), "version": _sendable(one.version), "status": one.status}
    if one.status == "skipped":
        return {**said, "reason": _sendable(one.reason)}
    return {
        **said,
        "digest": one.digest,
        "description": one.description,
        "tokens": one.tokens,
        "files": [{"path": file.path, "size": file.size, "digest": file.digest} for file in one.files],
        "origin": one.origin,
    }


def _sendable(text: str) -> str:
    """JSON can spell half a character, and no answer can hold one."""
    return text.encode(errors="replace").decode()
