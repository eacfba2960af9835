"""The export of a project as one zip, to move it to another site."""

from django.http import HttpRequest, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema

from registry.api.read_view import StreamedRead, flag
from registry.models import Project
from registry.services.agents.tokens import Caller
from registry.services.transfer import export_zip


class Export(StreamedRead):
    @extend_schema(
        operation_id="export",
        summary="Export the project's skills as a zip: a directory for each, and their versions in `.skillsite.json`",
        parameters=[
            OpenApiParameter(
                "effective", bool, description="1 exports every skill that agents get, also built-in ones."
            )
        ],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: HttpRequest, caller: Caller) -> StreamingHttpResponse:
        archive = export_zip.export_zip(
            Project(pk=caller.project_id),
            effective=flag(request, "effective"),
            allowed=caller.allowed,
            by=caller.actor,
        )
        chunks = archive.chunks if request.method == "GET" else ()
        response = StreamingHttpResponse(chunks, content_type="application/zip")
        response["Content-Length"] = str(archive.length)
        response["Content-Disposition"] = f'attachment; filename="{caller.project_slug}-skills.zip"'
        return response
