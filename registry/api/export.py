"""A whole project as one zip, for moving it to another site."""

from django.http import HttpRequest, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api.read_view import Streamed, flag
from registry.models import Project
from registry.services.agents.tokens import Caller
from registry.services.transfer import export_zip


class Export(Streamed):
    @extend_schema(
        operation_id="export",
        summary="The project's skills as one zip: a directory each, and `.skillsite.json` with their versions",
        parameters=[
            OpenApiParameter("effective", bool, description="1 gives all that agents get, bundled skills included.")
        ],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def stream(self, request: HttpRequest, caller: Caller, **kwargs: str) -> StreamingHttpResponse:
        archive = export_zip.export_zip(
            Project(pk=caller.project_id),
            effective=flag(request, "effective"),
            allowed=caller.allowed,
            by=caller.actor,
        )
        pieces = archive.pieces if request.method == "GET" else ()
        response = StreamingHttpResponse(pieces, content_type="application/zip")
        response["Content-Length"] = str(archive.length)
        response["Content-Disposition"] = f'attachment; filename="{caller.project_slug}-skills.zip"'
        return response
