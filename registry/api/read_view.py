"""Cached reads: one query for the caller, an ETag made from revisions alone, and the answer cached under it.

An answer is a pure function of its ETag: the directories' fingerprint, the project's revision, the skills the caller
may see, and the request line. So a repeated read costs one query, and so does a 304.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter
from rest_framework.views import APIView

from registry.api import authentication, problems
from registry.core import roles
from registry.core.errors import InvalidRequest, NotFound, SkillsiteError
from registry.lib.lru import MEBIBYTE, ByteCache
from registry.services import throttle
from registry.services.agents import bearer
from registry.services.agents.tokens import Caller
from registry.services.catalog import built_in, catalog, usage


@dataclass(frozen=True, slots=True)
class Answer:
    """The body of a response. `loads` lists the names and versions of the skills that it counts as loaded."""

    body: bytes
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    loads: tuple[tuple[str, str], ...] = ()


def as_json(body: Mapping[str, object], *, loads: tuple[tuple[str, str], ...] = ()) -> Answer:
    return Answer(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(), loads=loads)


_cache: ByteCache[Answer] = ByteCache(64 * MEBIBYTE, largest=2 * MEBIBYTE)


class BaseRead(APIView):
    """A view that answers GET and HEAD before DRF wraps the request. DRF handles other methods."""

    read_scope = roles.READ

    def permit(self, caller: Caller, **kwargs: str) -> None:
        """Raise if the caller may not read this. Called before a cached answer is used."""
        bearer.require_scope(caller, self.read_scope)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in ("GET", "HEAD"):
            return super().dispatch(request, *args, **kwargs)
        try:
            return self._respond(request, **kwargs)
        except SkillsiteError as error:
            return problems.response(error)

    def _respond(self, request: HttpRequest, project: str, **kwargs: str) -> HttpResponseBase:
        caller = authentication.identify(request, project)
        rate = throttle.take(caller.token_id, writing=False)
        self.permit(caller, **kwargs)
        etag, response = self._read(request, caller, **kwargs)
        if etag:
            response["ETag"] = etag
        response["Vary"] = "Authorization, Accept"
        response["Cache-Control"] = "private, no-cache"
        rate.mark(response)
        return response

    def _read(self, request: HttpRequest, caller: Caller, **kwargs: str) -> tuple[str, HttpResponseBase]:
        raise NotImplementedError


class Read(BaseRead):
    """A read whose answer is cached under its ETag.

    Set `cached` to False if the answer can change without a new revision, such as the time an agent was last seen, or
    override `is_cached` if only some answers can. Each request then builds the answer, and the ETag is a digest of it.
    """

    counts_loads = False
    cached = True
    get: Callable[..., Answer]

    def _read(self, request: HttpRequest, caller: Caller, **kwargs: str) -> tuple[str, HttpResponseBase]:
        etag, answer = self._find(request, caller, **kwargs)
        matched = _matches(request, etag)
        if answer is None and (self.counts_loads or not matched):
            etag, answer = self._build(request, caller, etag, **kwargs)
            matched = _matches(request, etag)
        for load in answer.loads if answer is not None and request.method == "GET" else ():
            usage.count_load(caller.project_id, *load, caller=caller.actor.name, now=timezone.now())
        return etag, _not_modified() if matched else _full(request, answer)

    def _find(self, request: HttpRequest, caller: Caller, **kwargs: str) -> tuple[str, Answer | None]:
        """Return the ETag, and the answer if it is cached or was built to compute the ETag."""
        if not self.is_cached(request, caller):
            answer = self.get(request, caller, **kwargs)
            return _quoted(hashlib.sha256(answer.body)), answer
        etag = self._tag(request, caller)
        return etag, _cache.get(etag)

    def is_cached(self, request: HttpRequest, caller: Caller) -> bool:
        return self.cached

    def _tag(self, request: HttpRequest, caller: Caller) -> str:
        return _etag(request, caller, self.other_state(caller))

    def other_state(self, caller: Caller) -> str:
        """Return the state outside the project that the answer depends on."""
        return ""

    def _build(self, request: HttpRequest, caller: Caller, etag: str, **kwargs: str) -> tuple[str, Answer]:
        """Return the answer and its ETag. If a directory changes meanwhile, answer from its new state."""
        try:
            answer = self.get(request, caller, **kwargs)
        except NotFound:
            if self._tag(request, caller) == etag:
                raise
        else:
            if self._tag(request, caller) == etag:
                _cache.put(etag, answer, len(answer.body))
                return etag, answer
        return self._tag(request, caller), self.get(request, caller, **kwargs)


class StreamedRead(BaseRead):
    """A read too long to cache, streamed for each request. Its ETag depends on the kind and scopes of the caller."""

    get: Callable[..., StreamingHttpResponse]

    def _read(self, request: HttpRequest, caller: Caller, **kwargs: str) -> tuple[str, HttpResponseBase]:
        etag = _etag(request, caller, " ".join((caller.actor.kind, *sorted(caller.actor.scopes))))
        return etag, _not_modified() if _matches(request, etag) else self.get(request, caller, **kwargs)


class RowRead(BaseRead):
    """A read of one row that counts its changes. A 304 costs what `row_version` costs, and nothing is cached."""

    get: Callable[..., Answer]
    row_version: Callable[..., str]  # differs whenever the answer differs for this caller

    def _read(self, request: HttpRequest, caller: Caller, **kwargs: str) -> tuple[str, HttpResponseBase]:
        by = caller.actor
        identity = f"{catalog.ANSWERS} {by.kind} {by.agent_id} {by.user_id} {by.maker_id} {sorted(by.scopes)}"
        line = f"{request.path}?{request.META.get('QUERY_STRING', '')}"
        version = self.row_version(caller, **kwargs)
        etag = _quoted(hashlib.sha256("\n".join((identity, version, line)).encode()))
        if _matches(request, etag):
            return etag, _not_modified()
        return etag, _full(request, self.get(request, caller, **kwargs))


def _etag(request: HttpRequest, caller: Caller, more: str = "") -> str:
    inputs = "\n".join(
        (
            built_in.snapshot().fingerprint,
            caller.view_tag,
            more,
            f"{request.path}?{request.META.get('QUERY_STRING', '')}",
            request.META.get("HTTP_ACCEPT", ""),
        )
    )
    return _quoted(hashlib.sha256(inputs.encode()))


def _quoted(digest: "hashlib._Hash") -> str:
    return f'"{digest.hexdigest()[:32]}"'


def _matches(request: HttpRequest, etag: str) -> bool:
    header = request.META.get("HTTP_IF_NONE_MATCH")
    if not header:
        return False
    return header == etag or any(tag in (etag, f"W/{etag}") for tag in parse_etags(header))


def _not_modified() -> HttpResponse:
    response = HttpResponse(status=304)
    del response["Content-Type"]
    return response


def _full(request: HttpRequest, answer: Answer | None) -> HttpResponse:
    assert answer is not None  # noqa: S101 - only a 304 has no answer
    response = HttpResponse(b"" if request.method == "HEAD" else answer.body, content_type=answer.content_type)
    for name, value in answer.headers.items():
        response[name] = value
    response["Content-Length"] = str(len(answer.body))
    return response


@dataclass(frozen=True, slots=True)
class Page:
    """`?limit=` and `?offset=` of a list."""

    limit: int
    offset: int

    @property
    def bounds(self) -> slice:
        return slice(self.offset, self.offset + self.limit)

    def next_link(self, request: HttpRequest, total: int) -> str | None:
        if self.offset + self.limit >= total:
            return None
        query = request.GET.copy()
        query["offset"], query["limit"] = str(self.offset + self.limit), str(self.limit)
        return f"{quote(request.path)}?{query.urlencode()}"


PAGE_PARAMETERS = [
    OpenApiParameter("limit", int, description="1 to 1,000. The default is 100."),
    OpenApiParameter("offset", int, description="The number of results to skip."),
]


def parse_page(request: HttpRequest) -> Page:
    return Page(_integer(request, "limit", 100, 1, 1_000), _integer(request, "offset", 0, 0, 10**9))


def _integer(request: HttpRequest, name: str, default: int, least: int, most: int) -> int:
    text = request.GET.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or len(text) > 10 or not least <= int(text) <= most:
        raise InvalidRequest(f"{name} is a whole number from {least} to {most:,}; not {text[:40]!r}.")
    return int(text)


def flag(request: HttpRequest, name: str) -> bool:
    """Return the value of `?name=1`, false by default. Any other word is refused."""
    text = request.GET.get(name, "0").lower()
    if text not in ("0", "1", "false", "true"):
        raise InvalidRequest(f"{name} is 1 or 0; not {text[:40]!r}.")
    return text in ("1", "true")
