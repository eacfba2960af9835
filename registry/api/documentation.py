"""The OpenAPI document and its page, without the cost of their imports for processes that never serve them."""

from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string


def document(request: HttpRequest) -> HttpResponse:
    return _view("document", request)


def page(request: HttpRequest) -> HttpResponse:
    return _view("page", request)


def _view(name: str, request: HttpRequest) -> HttpResponse:
    response: HttpResponse = import_string(f"registry.api.document_views.{name}")(request)
    return response
