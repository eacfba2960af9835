"""Download of all skills of a project."""

from django.http import StreamingHttpResponse
from django.views.decorators.http import require_safe

from registry.services.transfer import export_zip
from registry.web.access import ProjectRequest, in_project


@in_project
@require_safe
def download(request: ProjectRequest) -> StreamingHttpResponse:
    archive = export_zip.export_zip(request.project, by=request.actor)
    chunks = archive.chunks if request.method == "GET" else ()
    response = StreamingHttpResponse(chunks, content_type="application/zip")
    response["Content-Length"] = str(archive.length)
    response["Content-Disposition"] = f'attachment; filename="{request.project.slug}-skills.zip"'
    response["Cache-Control"] = "private, no-store"
    return response
