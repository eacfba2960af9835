"""The outcome of a request, as one character."""

from functools import cache
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction
from django.test import RequestFactory

from registry.lib import lru
from tests.matrix.world import World

PASSED, SIGN_IN, MISSING, FORBIDDEN, UNKNOWN, NO_METHOD, CRASHED = "+", ">", "0", "-", "?", "x", "!"
_STATUS = {404: MISSING, 403: FORBIDDEN, 401: UNKNOWN, 405: NO_METHOD}


def ask(world: World, identity: str, method: str, path: str) -> Any:
    """Send a request with an empty body, and undo its changes."""
    for_program = path.startswith("/api/") or path.endswith("/mcp")
    body, kind = ("{}", "application/json") if for_program else ("", "application/x-www-form-urlencoded")
    request: Any = RequestFactory().generic(
        method, path, body if method != "GET" else "", kind, headers=world.headers(identity)
    )
    request._dont_enforce_csrf_checks = True  # as the test client of Django does
    with transaction.atomic():
        response = _handler().get_response(request)
        if response.streaming:
            b"".join(response)  # type: ignore[arg-type]
        transaction.set_rollback(True)
    if method != "GET" and response.status_code < 400:
        lru.clear_all()  # the ids and revisions of rows that were undone are used again
    return response


@cache
def _handler() -> WSGIHandler:
    """Return the site without the test client, which loads the middleware and copies all contexts each time."""
    return WSGIHandler()


def outcome(response: Any) -> str:
    if response.status_code >= 500:
        return CRASHED
    if response.status_code == 302 and response["Location"].startswith("/sign-in/"):
        return SIGN_IN
    return _STATUS.get(response.status_code, PASSED)
