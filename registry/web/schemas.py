"""The JSON Schemas of the files that people write, for editors and other programs."""

from hashlib import sha256

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import etag, require_safe

from registry.core import content_types
from registry.services import schemas

_TYPE = "application/schema+json"


def _etag(request: HttpRequest, name: str) -> str | None:
    content = schemas.stored().get(name)
    return None if content is None else f'"{sha256(content).hexdigest()}"'


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    listed = [(name, schemas.title(content)) for name, content in schemas.stored().items()]
    return render(request, "client/schemas.html", {"schemas": listed})


@require_safe
@etag(_etag)
def schema(request: HttpRequest, name: str) -> HttpResponse:
    content = schemas.stored().get(name)
    if content is None:
        raise Http404
    response = HttpResponse(content, content_type=_TYPE, headers=content_types.HEADERS)
    # Editors in a browser load schemas from other origins. The name stays the same from one release to the next.
    response["Access-Control-Allow-Origin"] = "*"
    response["Cache-Control"] = "public, max-age=3600"
    return response
