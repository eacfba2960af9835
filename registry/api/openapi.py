"""The OpenAPI document itself, as YAML or JSON."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.views import SpectacularAPIView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class _ByFormat(DefaultContentNegotiation):
    """`?format=json` or yaml, as tools ask for the document; elsewhere in the API that word is our own."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        return super().select_renderer(request, renderers, format_suffix or request.query_params.get("format"))


class Document(SpectacularAPIView):
    content_negotiation_class = _ByFormat
