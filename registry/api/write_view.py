"""The base class of writes: it limits the size of the body and the rate of requests."""

from io import BytesIO
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from rest_framework.request import Request
from rest_framework.views import APIView

from registry.api.json_body import JsonParser
from registry.core.errors import InvalidRequest, TooLarge
from registry.models import Project
from registry.services import throttle
from registry.services.agents import bearer
from registry.services.agents.tokens import Caller
from registry.services.permissions import Actor
from registry.services.throttle import Rate

_MULTIPART_EXTRA = 64 * 1024
_CHUNK = 64 * 1024
_WRITE_METHODS = ("POST", "PUT", "PATCH", "DELETE")


class Write(APIView):
    """A view that changes something.

    `write_scope` is checked before the body is read. The service checks permissions again, with the details.
    """

    rate: Rate | None = None
    write_scope: str | None = None
    counts_as_write = True  # against the limit for writes, which is smaller than that for reads
    parser_classes = [JsonParser]
    body_bytes = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body_hint = "Nothing was saved."

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        _check_size(request, self.body_bytes, self.body_hint)
        caller = cast(Caller, request.user)
        self.rate = throttle.take(caller.token_id, writing=self.counts_as_write)
        super().initial(request, *args, **kwargs)
        if request.method not in _WRITE_METHODS:
            return
        if self.write_scope:
            bearer.require_scope(caller, self.write_scope)
        if not request.META.get("CONTENT_LENGTH") and request.META.get("wsgi.input_terminated"):
            _read_chunked(request._request, self.body_bytes, self.body_hint)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        final = super().finalize_response(request, response, *args, **kwargs)
        if self.rate is not None and isinstance(final, HttpResponseBase):
            self.rate.mark(cast(Any, final))
        return final


class Upload(Write):
    body_bytes = settings.LIMITS.archive_bytes + _MULTIPART_EXTRA


def _check_size(request: Request, allowed: int, hint: str) -> None:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or len(length) > 18:
        raise InvalidRequest("Content-Length is not a number.")
    if int(length) > allowed:
        raise TooLarge(f"The request has {int(length):,} bytes. {allowed:,} are allowed. {hint}", allowed=allowed)


def _read_chunked(request: HttpRequest, allowed: int, hint: str) -> None:
    """Read a body without Content-Length, up to `allowed` bytes. Django would treat it as empty."""
    body = BytesIO()
    while chunk := request.META["wsgi.input"].read(_CHUNK):
        if body.tell() + len(chunk) > allowed:
            raise TooLarge(f"The request has more than the allowed {allowed:,} bytes. {hint}", allowed=allowed)
        body.write(chunk)
    request.META["CONTENT_LENGTH"] = str(body.tell())
    body.seek(0)
    request._stream = body


def actor(request: Request) -> Actor:
    return cast(Caller, request.user).actor


def token_id(request: Request) -> int:
    return cast(Caller, request.user).token_id


def project(request: Request) -> Project:
    return cast(Project, request.auth)


def if_match(request: Request) -> str | None:
    """Return the digest in `If-Match: "sha256:…"`."""
    header = str(request.META.get("HTTP_IF_MATCH", "")).strip()
    if not header:
        return None
    if len(header) < 3 or header[0] != '"' or header[-1] != '"' or "," in header:
        raise InvalidRequest('If-Match takes one digest in quotes: If-Match: "sha256:…"')
    return header[1:-1]
