"""What every write has in common: no body is read beyond its allowed size, and the rate is counted."""

from io import BytesIO
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.views import APIView

from registry.core.errors import InvalidRequest, TooLarge
from registry.models import Project
from registry.services import throttle
from registry.services.agents import bearer
from registry.services.agents.tokens import Caller
from registry.services.permissions import Actor
from registry.services.throttle import Rate

_MULTIPART_EXTRA = 64 * 1024
_PIECE = 64 * 1024
_CHANGING = ("POST", "PUT", "PATCH", "DELETE")


class Json(JSONParser):
    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().parse(*args, **kwargs)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None


class Write(APIView):
    """A view that changes something. `actor` and `project` say who and where.

    `needs` is asked before the body is read; the verb asks again, with all it knows.
    """

    rate: Rate | None = None
    needs: str | None = None
    parser_classes = [Json]
    body_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        _check_size(request, self.body_bytes)
        caller = cast(Caller, request.user)
        self.rate = throttle.take(caller.token_id, writing=True)
        super().initial(request, *args, **kwargs)
        if request.method not in _CHANGING:
            return
        if self.needs:
            bearer.require_scope(caller, self.needs)
        if not request.META.get("CONTENT_LENGTH") and request.META.get("wsgi.input_terminated"):
            _take_in(request._request, self.body_bytes)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        if self.rate is not None and isinstance(answer, HttpResponseBase):
            self.rate.mark(cast(Any, answer))
        return answer


class Upload(Write):
    body_bytes = settings.LIMITS.archive_bytes + _MULTIPART_EXTRA


def _check_size(request: Request, allowed: int) -> None:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or len(length) > 18:
        raise InvalidRequest("Content-Length is not a number.")
    if int(length) > allowed:
        raise TooLarge(f"The request has {int(length):,} bytes. {allowed:,} are allowed. Nothing was stored.")


def _take_in(request: HttpRequest, allowed: int) -> None:
    """Reads a body that comes without its length, as in chunks, and counts: Django would take it for an empty one."""
    body = BytesIO()
    while piece := request.META["wsgi.input"].read(_PIECE):
        if body.tell() + len(piece) > allowed:
            raise TooLarge(f"The request has more than the {allowed:,} bytes that are allowed. Nothing was stored.")
        body.write(piece)
    request.META["CONTENT_LENGTH"] = str(body.tell())
    body.seek(0)
    request._stream = body


def actor(request: Request) -> Actor:
    return cast(Caller, request.user).actor


def project(request: Request) -> Project:
    return cast(Project, request.auth)


def if_match(request: Request) -> str | None:
    """The digest in `If-Match: "sha256:…"`."""
    given = str(request.META.get("HTTP_IF_MATCH", "")).strip()
    if not given:
        return None
    if len(given) < 3 or given[0] != '"' or given[-1] != '"' or "," in given:
        raise InvalidRequest('If-Match takes one digest in quotes: If-Match: "sha256:…"')
    return given[1:-1]
