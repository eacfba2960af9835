"""Templates and requests of the design system, rendered without a site."""

from types import SimpleNamespace

from django.http import HttpRequest
from django.template import Context, Template
from django.test import RequestFactory
from django_htmx.middleware import HtmxDetails


def draw(source: str, **context: object) -> str:
    return Template("{% load ui %}" + source).render(Context(context))


def ask(**headers: str) -> HttpRequest:
    request = RequestFactory().get("/", headers={name.replace("_", "-"): text for name, text in headers.items()})
    request.htmx = HtmxDetails(request)  # type: ignore[attr-defined]
    request.user = SimpleNamespace(is_staff=False, is_authenticated=False)  # type: ignore[assignment]
    return request
