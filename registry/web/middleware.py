"""Security headers for every response, and error pages for domain errors."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from registry.core import errors
from registry.core.errors import SkillsiteError

PAGE_POLICY = "; ".join(
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
# The API reference page needs inline styles. Scripts stay restricted to our own.
_DOCS_POLICY = PAGE_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")

# Features of browsers that no page uses.
_PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer", "browsing-topics", "camera", "display-capture", "geolocation", "gyroscope",
        "hid", "magnetometer", "microphone", "midi", "payment", "publickey-credentials-get", "serial", "usb",
    )
)  # fmt: skip

STATUS: dict[type[SkillsiteError], int] = {
    errors.SkillsiteError: 400,
    errors.InvalidInput: 422,
    errors.InvalidRequest: 422,
    errors.InvalidSkill: 422,
    errors.BlockedByScan: 422,
    errors.InvalidArchive: 422,
    errors.UnsafePath: 422,
    errors.TooLarge: 413,
    errors.NotText: 415,
    errors.Unauthenticated: 403,
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
    errors.Stale: 409,
    errors.PreconditionRequired: 409,
    errors.ConfirmationRequired: 409,
    errors.CallFailed: 502,
    errors.CallTimedOut: 504,
    errors.GateFailed: 503,
    errors.CallUnavailable: 503,
    errors.SourceFailed: 502,
    errors.RateLimited: 429,
    errors.Busy: 503,
}

_HEADINGS = {403: "You don’t have access", 404: "Page not found", 429: "Too many attempts"}
_OTHER_HEADING = "That didn’t work"

_Next = Callable[[HttpRequest], HttpResponse]


class SecurityHeaders:
    def __init__(self, get_response: _Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path.startswith("/t/"):
            # The address contains a token, so it must not leak through a Referer header.
            response["Referrer-Policy"] = "no-referrer"
            response.setdefault("Cache-Control", "private, no-store")
        if "Content-Security-Policy" not in response:
            docs = request.path.startswith("/api/docs/")
            response["Content-Security-Policy"] = _DOCS_POLICY if docs else PAGE_POLICY
        # Pages are personal, so no shared cache may keep them.
        response.setdefault("Cache-Control", "private")
        if response.get("Access-Control-Allow-Origin") == "*":
            # Pages of other origins can embed what any of them may read, such as files of public skills.
            response.setdefault("Cross-Origin-Resource-Policy", "cross-origin")
        for name, value in fixed_headers().items():
            response.setdefault(name, value)
        return response


def fixed_headers() -> dict[str, str]:
    """Return the headers that are the same on every response, unless a view sets another value."""
    headers = {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Permissions-Policy": _PERMISSIONS,
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if settings.SECURE_HSTS_SECONDS:
        # Django sends it only if it knows that this request came over HTTPS. Browsers ignore it over HTTP.
        headers["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}"
    return headers


class Errors:
    """Turn a domain error that no view handled into a page with its message."""

    def __init__(self, get_response: _Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # No valid address contains a NUL character, and PostgreSQL raises an error for one.
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("The address has a NUL character.")
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, SkillsiteError):
            return None
        if isinstance(error, errors.Unauthenticated):
            return redirect("sign-in")
        status = STATUS[type(error)]
        if isinstance(error, errors.RoutingGateFailed):
            return render(request, "routing/refused.html", _repeatable(request, error), status=status)
        context = {"error": error, "status": status, "heading": _HEADINGS.get(status, _OTHER_HEADING)}
        response = render(request, "errors/problem.html", context, status=status)
        if isinstance(error, errors.RateLimited | errors.Busy):
            response["Retry-After"] = str(error.data["retry_after"])
        return response


def _repeatable(request: HttpRequest, error: SkillsiteError) -> dict[str, object]:
    """Return the form that was sent, so that a person can send it again with a reason."""
    left_out = ("csrfmiddlewaretoken", "gate_reason")
    fields = [(name, value) for name, values in request.POST.lists() if name not in left_out for value in values]
    return {"error": error, "fields": fields, "address": request.get_full_path()}
