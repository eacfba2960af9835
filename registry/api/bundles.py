"""Whole bundles over the API: look first, then store."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import shapes, write_view
from registry.api.read_view import flag
from registry.api.write_view import Upload, actor
from registry.core import roles
from registry.core.archive import zip_bundle as bundle_files
from registry.core.errors import InvalidRequest
from registry.services.skills import bundles


class Bundles(Upload):
    needs = roles.WRITE
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="import_bundle",
        summary="A zip becomes a new skill or a new version, or a preview of that",
        parameters=[OpenApiParameter("dry_run", bool, description="1 tells what would happen and stores nothing.")],
        request={"multipart/form-data": shapes.UploadInput},
        responses={200: shapes.PreviewShape, 201: shapes.ImportedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        shape = shapes.UploadInput(data=request.data)
        if "file" not in request.FILES:
            raise InvalidRequest("Send the zip as multipart/form-data in a field named “file”.")
        shape.is_valid(raise_exception=True)
        bundle = bundle_files.read_zip(shape.validated_data["file"].read(), limits=settings.LIMITS)
        where, by = write_view.project(request), actor(request)
        if flag(request, "dry_run"):
            return Response(_preview(bundles.preview(where, bundle, by=by)))
        imported = bundles.import_bundle(where, bundle, note=shape.validated_data["note"], by=by)
        return Response(_imported(imported), status=200 if imported.action == bundles.UNCHANGED else 201)


def _imported(imported: bundles.Imported) -> dict[str, Any]:
    return {
        "name": imported.version.skill.name,
        "source": "project",
        "version": imported.version.version,
        "digest": imported.version.digest,
        "action": imported.action,
        "findings": [finding.as_json() for finding in imported.findings],
    }


def _preview(preview: bundles.Preview) -> dict[str, Any]:
    checked = preview.checked
    return {
        "name": checked.name,
        "source": "project",
        "version": preview.version,
        "digest": checked.bundle.digest,
        "action": preview.action,
        "description": checked.said.description,
        "tokens": checked.tokens,
        "size": checked.bundle.size,
        "files": [{"path": e.path, "size": e.size, "digest": e.digest} for e in checked.bundle.manifest],
        "findings": [finding.as_json() for finding in checked.findings],
        "hides": [shapes.hidden(one) for one in preview.hides],
    }
