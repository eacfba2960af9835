"""The upload of a zip: a preview of the import, then the import itself."""

from typing import Annotated, TypedDict

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import write_view
from registry.api.answers import FileShape, HiddenShape, file_shapes, finding_shapes, hidden_shapes
from registry.api.inputs import GatedInput
from registry.api.read_view import flag
from registry.api.write_view import Upload, actor
from registry.core import roles
from registry.core.archive import zip_bundle as bundle_files
from registry.core.errors import InvalidRequest
from registry.core.findings import FindingShape
from registry.lib.json_types import OneOf
from registry.services.skills import bundles

_Action = Annotated[str, OneOf(("create", "override", "new-version", "unchanged"))]


class ImportedShape(TypedDict):
    name: str
    source: str
    version: str
    digest: str
    action: _Action
    findings: list[FindingShape]


class PreviewShape(TypedDict):
    name: str
    source: str
    version: str
    digest: str
    action: _Action
    description: str
    tokens: int
    size: int
    files: list[FileShape]
    findings: list[FindingShape]
    hides: list[HiddenShape]


class UploadInput(GatedInput):
    file = serializers.FileField(
        allow_empty_file=True, help_text="A zip with SKILL.md at its root or in its only directory."
    )
    note = serializers.CharField(required=False, allow_blank=True, default="")


class Bundles(Upload):
    write_scope = roles.WRITE
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="import_bundle",
        summary="Import a zip as a new skill or a new version",
        parameters=[OpenApiParameter("dry_run", bool, description="1 returns a preview and stores nothing.")],
        request={"multipart/form-data": UploadInput},
        responses={200: PreviewShape | ImportedShape, 201: ImportedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        upload = UploadInput(data=request.data)
        if "file" not in request.FILES:
            raise InvalidRequest("Send the zip as multipart/form-data in a field named “file”.")
        upload.is_valid(raise_exception=True)
        bundle = bundle_files.read_zip(upload.validated_data["file"].read(), limits=settings.LIMITS)
        where, by = write_view.project(request), actor(request)
        if flag(request, "dry_run"):
            return Response(_preview_shape(bundles.preview(where, bundle, by=by)))
        body = upload.validated_data
        imported = bundles.import_bundle(where, bundle, note=body["note"], gate_reason=body["gate_reason"], by=by)
        return Response(_imported_shape(imported), status=200 if imported.action == bundles.UNCHANGED else 201)


def _imported_shape(imported: bundles.Imported) -> ImportedShape:
    return {
        "name": imported.version.skill.name,
        "source": "project",
        "version": imported.version.version,
        "digest": imported.version.digest,
        "action": imported.action,
        "findings": finding_shapes(imported.findings),
    }


def _preview_shape(preview: bundles.Preview) -> PreviewShape:
    checked = preview.checked
    return {
        "name": checked.name,
        "source": "project",
        "version": preview.version,
        "digest": checked.bundle.digest,
        "action": preview.action,
        "description": checked.parsed.description,
        "tokens": checked.tokens,
        "size": checked.bundle.size,
        "files": file_shapes(checked.bundle.manifest),
        "findings": finding_shapes(checked.findings),
        "hides": hidden_shapes(preview.hides),
    }
