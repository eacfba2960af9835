"""Errors as `application/problem+json`, and the HTTP status of each."""

import json
from typing import Any, cast

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpResponse
from rest_framework import exceptions
from rest_framework.response import Response

from registry.api.answers import ProblemShape, finding_shapes
from registry.core import errors
from registry.core.errors import SkillsiteError
from registry.services.agents import bearer
from registry.services.throttle import Rate

NO_SUCH_ADDRESS = "There is nothing at this address."
REQUEST_TOO_LARGE = "The request is larger than allowed. Nothing was saved."
STATUS: dict[type[SkillsiteError], int] = {
    errors.SkillsiteError: 400,
    errors.InvalidInput: 422,
    errors.InvalidRequest: 400,
    errors.InvalidSkill: 422,
    errors.BlockedByScan: 422,
    errors.InvalidArchive: 422,
    errors.UnsafePath: 400,
    errors.TooLarge: 413,
    errors.NotText: 415,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.SafetyDenied: 403,
    errors.CallDenied: 403,
    errors.NotFound: 404,
    errors.Quarantined: 404,
    errors.Conflict: 409,
    errors.AlreadyExists: 409,
    errors.VersionConflict: 409,
    errors.AlreadyDecided: 409,
    errors.RoutingGateFailed: 409,
    errors.StaleProposal: 409,
    errors.Stale: 412,
    errors.PreconditionRequired: 428,
    errors.ConfirmationRequired: 428,
    errors.CallFailed: 502,
    errors.CallTimedOut: 504,
    errors.GateFailed: 503,
    errors.CallUnavailable: 503,
    errors.SourceFailed: 502,
    errors.RateLimited: 429,
    errors.Busy: 503,
}

_CODES = {400: "invalid-request", 403: "forbidden", 404: "not-found", 405: "method-not-allowed",
          406: "not-acceptable", 413: "too-large", 415: "unsupported-media-type"}  # fmt: skip


def response(error: SkillsiteError) -> HttpResponse:
    status = STATUS[type(error)]
    body = problem(status, error.code, error.message, **error.data)
    if error.field:
        body["field"] = error.field
    if error.findings:
        body["findings"] = finding_shapes(error.findings)
    answer = _respond(status, body)
    if isinstance(error, errors.Unauthenticated):
        answer["WWW-Authenticate"] = bearer.CHALLENGE
    if isinstance(error, errors.Busy):
        answer["Retry-After"] = str(error.data["retry_after"])
    if isinstance(error, errors.RateLimited):
        retry_after = cast(int, error.data["retry_after"])
        answer["Retry-After"] = str(retry_after)
        Rate(cast(int, error.data.get("limit", 0)), 0, retry_after).mark(answer)
    return answer


def crashed() -> HttpResponse:
    """Return the answer to an unexpected error. The details are only in the log."""
    return _respond(500, problem(500, "internal-error", "Something went wrong on the server. The error was logged."))


def problem(status: int, code: str, detail: str, **data: Any) -> dict[str, Any]:
    title = code.replace("-", " ").capitalize()
    body: ProblemShape = {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
    return {**body, **data}


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse | Response | None:
    """Return the problem for our errors and those of DRF. Return None for an unexpected error, so that it is raised."""
    if isinstance(error, SkillsiteError):
        return response(error)
    if isinstance(error, Http404):
        error = exceptions.NotFound(NO_SUCH_ADDRESS)
    if isinstance(error, (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)):
        return response(errors.TooLarge(REQUEST_TOO_LARGE))
    if not isinstance(error, exceptions.APIException):
        return None
    if isinstance(error, exceptions.ValidationError):
        return response(errors.InvalidRequest(_sentence(error.detail)))
    code = _CODES.get(error.status_code, "invalid-request")
    answer = _respond(error.status_code, problem(error.status_code, code, str(error.detail)))
    if isinstance(error, exceptions.MethodNotAllowed):
        answer["Allow"] = ", ".join(context["view"].allowed_methods)
    return answer


def _sentence(detail: Any) -> str:
    """Join `{"note": ["Too long."]}` into one line that names the field."""
    if isinstance(detail, dict):
        return " ".join(
            _sentence(value) if key == "non_field_errors" else f"{key}: {_sentence(value)}"
            for key, value in detail.items()
        )
    if isinstance(detail, list):
        return " ".join(_sentence(item) for item in detail)
    return str(detail)


def _respond(status: int, body: dict[str, Any]) -> HttpResponse:
    # A message may quote the request, and JSON can spell a lone surrogate, which UTF-8 cannot encode.
    content = json.dumps(body, ensure_ascii=False).encode(errors="replace")
    answer = HttpResponse(content, status=status, content_type="application/problem+json")
    answer["Cache-Control"] = "no-store"
    return answer
