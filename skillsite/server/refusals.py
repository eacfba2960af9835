"""Answers of the server itself, for requests that do not reach Django."""

import json
from functools import cache

from django.template.loader import render_to_string

from registry.web.middleware import PAGE_POLICY, fixed_headers
from skillsite.server.protocol import HttpProtocol, Scope

_HEADINGS = {
    400: "We couldn’t read this request",
    408: "The request was too slow",
    413: "This is too large",
    503: "The site is busy",
}
_RETRY_SECONDS = "5"


def refuse(scope: Scope, proto: HttpProtocol, status: int, code: str, detail: str) -> None:
    """Answer with an error: JSON below /api/, a page in a browser, text elsewhere.

    The connection ends, because the body was not read.
    """
    headers = {"Cache-Control": "no-store", **fixed_headers()}
    if scope.path.startswith("/api/"):
        title = code.replace("-", " ").capitalize()
        problem = {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
        kind, text = "application/problem+json", json.dumps(problem)
    elif "text/html" in scope.headers.get("accept", ""):
        kind, text = "text/html; charset=utf-8", _page(status, detail)
        headers["Content-Security-Policy"] = PAGE_POLICY
    else:
        kind, text = "text/plain; charset=utf-8", f"{detail}\n"
    if status == 503:
        headers["Retry-After"] = _RETRY_SECONDS
    headers |= {"Content-Type": kind, "Connection": "close"}
    proto.response_bytes(status, [*headers.items()], text.encode())


@cache
def _page(status: int, detail: str) -> str:
    """Return the page without a project and a person, so that nothing has to be read from the database."""
    context = {"status": status, "heading": _HEADINGS[status], "error": {"summary": detail}}
    return render_to_string("errors/problem.html", context)
