"""One URL, two renderings: the fragment for htmx, the whole page for everyone else."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render as render_page
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """A boosted link and a step back in the history replace the page, so they get the whole of it."""
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
    """Without `partial` everyone gets the page. A form that did not validate is answered with 422."""
    chosen = partial if partial is not None and wants_fragment(request) else template
    response = render_page(request, chosen, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
