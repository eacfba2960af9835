"""URLs of the site, and of a bare Django view that returns the same bytes, for comparison."""

from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import include, path


@cache
def _body(name: str) -> bytes:
    return Path(settings.SKILLSITE_DATA, "bare", name).read_bytes()


def bare(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponse(_body(name), content_type="application/json")


def bare_304(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=304)


urlpatterns = [
    path("bare/304", bare_304),
    path("bare/<str:name>", bare),
    path("", include("skillsite.urls")),
]
