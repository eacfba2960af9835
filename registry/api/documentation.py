"""The view that serves the OpenAPI document as YAML or JSON.

It is not in `openapi`, because the views of drf-spectacular import that module from the settings.
"""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.views import SpectacularAPIView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class _NegotiationByFormat(DefaultContentNegotiation):
    """Reads `?format=json` or yaml, which tools send. The rest of the API gives `format` other meanings."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        return super().select_renderer(request, renderers, format_suffix or request.query_params.get("format"))


class Document(SpectacularAPIView):
    content_negotiation_class = _NegotiationByFormat
