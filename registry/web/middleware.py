"""What every answer of the site carries, and the one place where errors become pages."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from registry.core import errors
from registry.core.errors import SkillsiteError

_PAGE_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
# The reader of the API document builds its page with styles of its own; scripts stay ours.
_DOCS_POLICY = _PAGE_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")

STATUS: dict[type[SkillsiteError], int] = {
    errors.SkillsiteError: 400,
    errors.InvalidInput: 422,
    errors.InvalidRequest: 422,
    errors.InvalidSkill: 422,
    errors.InvalidArchive: 422,
    errors.UnsafePath: 422,
    errors.TooLarge: 413,
    errors.NotText: 415,
    errors.Unauthenticated: 403,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.AlreadyExists: 409,
    errors.VersionConflict: 409,
    errors.AlreadyDecided: 409,
    errors.StaleProposal: 409,
    errors.Stale: 409,
    errors.PreconditionRequired: 409,
    errors.SourceFailed: 502,
    errors.RateLimited: 429,
}

_Next = Callable[[HttpRequest], HttpResponse]


class SecurityHeaders:
    def __init__(self, get_response: _Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path.startswith("/t/"):
            # There is a token in this address: no page of ours may tell it on, whatever it says.
            response["Referrer-Policy"] = "no-referrer"
            response.setdefault("Cache-Control", "private, no-store")
        if "Content-Security-Policy" not in response:
            docs = request.path.startswith("/api/docs/")
            response["Content-Security-Policy"] = _DOCS_POLICY if docs else _PAGE_POLICY
        # What one person sees is for no cache that others share.
        response.setdefault("Cache-Control", "private")
        response.setdefault("X-Content-Type-Options", "nosniff")
        response.setdefault("X-Frame-Options", "DENY")
        return response


class Errors:
    """An error that a view did not turn into something better becomes a page that says what and how to go on."""

    def __init__(self, get_response: _Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # No name, path or word of ours has a NUL, and PostgreSQL refuses to be asked about one.
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("The address has a NUL character.")
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, SkillsiteError):
            return None
        if isinstance(error, errors.Unauthenticated):
            return redirect("sign-in")
        status = STATUS[type(error)]
        return render(request, "errors/problem.html", {"error": error, "status": status}, status=status)
