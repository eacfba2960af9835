"""Views for errors that Django raises: problem+json below /api/, pages elsewhere."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from registry.api import problems
from registry.core.errors import Forbidden, InvalidRequest, NotFound, SkillsiteError, TooLarge


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return _answer(request, 413, TooLarge(problems.REQUEST_TOO_LARGE))
    return _answer(request, 400, InvalidRequest("The request cannot be read."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 403, Forbidden("You don't have permission to do this."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    message = "The page was open for too long, or cookies are off. Go back, reload the page and try again."
    return render(request, "errors/403.html", {"message": f"{message} Nothing was saved."}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 404, NotFound(problems.NO_SUCH_ADDRESS))


def server_error(request: HttpRequest, *args: Any) -> HttpResponse:
    return _answer(request, 500, None)


def _answer(request: HttpRequest, status: int, error: SkillsiteError | None) -> HttpResponse:
    if not request.path.startswith("/api/"):
        return render(request, f"errors/{status}.html", status=status)
    if error is None:
        return problems.crashed()
    return problems.response(error)
