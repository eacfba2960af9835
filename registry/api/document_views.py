"""Views of the OpenAPI document, as YAML or JSON and as a page. `documentation` imports them at the first request.

They are not in `openapi`, because the views of drf-spectacular import that module from the settings.
"""

import threading
from collections.abc import Iterable
from functools import cache
from typing import Any

from django.http import HttpResponse
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

_lock = threading.Lock()
_contents: dict[str, bytes] = {}  # by media type


class _NegotiationByFormat(DefaultContentNegotiation):
    """Reads `?format=json` or yaml, which tools send. The rest of the API gives `format` other meanings."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        return super().select_renderer(request, renderers, format_suffix or request.query_params.get("format"))


class Document(SpectacularAPIView):
    """Generates the document once per process, because it takes as long as hundreds of other requests."""

    content_negotiation_class = _NegotiationByFormat

    def _get_schema_response(self, request: Request) -> HttpResponse:
        renderer: BaseRenderer = request.accepted_renderer
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        with _lock:
            content = _contents.get(renderer.media_type) or _contents.setdefault(renderer.media_type, _render(renderer))
        response = HttpResponse(content, content_type=f"{renderer.media_type}{charset}")
        response["Content-Disposition"] = f'inline; filename="{self._get_filename(request, None)}"'  # type: ignore[no-untyped-call]
        return response


def _render(renderer: BaseRenderer) -> bytes:
    content = renderer.render(_document(), renderer_context={})
    return content if isinstance(content, bytes) else content.encode()


@cache
def _document() -> Any:
    return Document.generator_class().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]


document = Document.as_view()
page = SpectacularSwaggerSplitView.as_view(url_name="api-schema")
