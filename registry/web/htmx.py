"""Rendering for htmx: the same address gives a fragment to htmx and the whole page to a browser."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render as render_page
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Return whether htmx swaps a part of the page. Boosted links and history steps replace the whole page."""
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def render(
    request: HttpRequest,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    partial: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render `partial` for htmx if it is given, else the page. Use status 422 for an invalid form."""
    chosen = partial if partial is not None and wants_fragment(request) else template
    response = render_page(request, chosen, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
