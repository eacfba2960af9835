"""Reads that stay cheap: one query for the caller, an ETag from revisions alone, the answer kept under it.

An answer is a pure function of its ETag: the directories' fingerprint, the project's revision, what the caller may see,
and the request line. So a repeated read costs one query, and a 304 needs no more than that.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import parse_etags
from rest_framework.views import APIView

from registry.api import authentication, problems
from registry.core import roles
from registry.core.errors import InvalidRequest, NotFound, SkillsiteError
from registry.lib.lru import MEBIBYTE, LruCache
from registry.services import throttle
from registry.services.agents import bearer
from registry.services.agents.tokens import Caller
from registry.services.catalog import built_in, usage


@dataclass(frozen=True, slots=True)
class Answer:
    """`loads` names the skills and versions whose loading this answer counts as."""

    body: bytes
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    loads: tuple[tuple[str, str], ...] = ()


def as_json(value: Any, **kwargs: Any) -> Answer:
    return Answer(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), **kwargs)


_answers: LruCache[str, Answer] = LruCache(64 * MEBIBYTE, largest=2 * MEBIBYTE)


class Read(APIView):
    """A view whose GET is answered by `answer` before DRF wraps the request; other methods go DRF's way.

    `changes_unseen` is for answers that hold more than the revision vouches for, such as when an agent was last seen:
    they are made anew each time, and their ETag is that of their bytes.
    """

    scope = roles.READ
    counts_loads = False
    changes_unseen = False

    def permit(self, caller: Caller, **kwargs: str) -> None:
        """Asked before any kept answer is given."""
        bearer.require_scope(caller, self.scope)

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        raise NotImplementedError

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in ("GET", "HEAD"):
            return super().dispatch(request, *args, **kwargs)
        try:
            return self._respond(request, **kwargs)
        except SkillsiteError as error:
            return problems.response(error)

    def _admit(self, request: HttpRequest, project: str, **kwargs: str) -> tuple[Caller, throttle.Rate]:
        caller = authentication.identify(request, project)
        rate = throttle.take(caller.token_id, writing=False)
        self.permit(caller, **kwargs)
        return caller, rate

    def _respond(self, request: HttpRequest, project: str, **kwargs: str) -> HttpResponseBase:
        caller, rate = self._admit(request, project, **kwargs)
        etag, answer = self._find(request, caller, **kwargs)
        matched = _matches(request, etag)
        if answer is None and (self.counts_loads or not matched):
            etag, answer = self._make(request, caller, etag, **kwargs)
            matched = _matches(request, etag)
        for load in answer.loads if answer is not None and request.method == "GET" else ():
            usage.count_load(caller.project_id, *load, caller=caller.actor.name, now=timezone.now())
        return _marked(_not_modified() if matched else _whole(request, answer), etag, rate)

    def _find(self, request: HttpRequest, caller: Caller, **kwargs: str) -> tuple[str, Answer | None]:
        """The ETag of the answer, and the answer itself where it is at hand."""
        if self.changes_unseen:
            answer = self.answer(request, caller, **kwargs)
            return _quoted(hashlib.sha256(answer.body)), answer
        etag = _etag(request, caller)
        return etag, _answers.get(etag)

    def _make(self, request: HttpRequest, caller: Caller, etag: str, **kwargs: str) -> tuple[str, Answer]:
        """The answer with the ETag it belongs to: a directory that changes meanwhile is answered from its new state."""
        try:
            answer = self.answer(request, caller, **kwargs)
        except NotFound:
            if _etag(request, caller) == etag:
                raise
        else:
            if _etag(request, caller) == etag:
                _answers.put(etag, answer, len(answer.body))
                return etag, answer
        return _etag(request, caller), self.answer(request, caller, **kwargs)


class Streamed(Read):
    """A read that is too long to keep: made anew each time and sent as it is made. Its ETag is made as of the others.

    People and agents may be told apart by it.
    """

    def stream(self, request: HttpRequest, caller: Caller, **kwargs: str) -> StreamingHttpResponse:
        raise NotImplementedError

    def _respond(self, request: HttpRequest, project: str, **kwargs: str) -> HttpResponseBase:
        caller, rate = self._admit(request, project, **kwargs)
        etag = _etag(request, caller, caller.actor.kind)
        if _matches(request, etag):
            return _marked(_not_modified(), etag, rate)
        return _marked(self.stream(request, caller, **kwargs), etag, rate)


def _marked(response: HttpResponseBase, etag: str, rate: throttle.Rate) -> HttpResponseBase:
    response["ETag"] = etag
    response["Vary"] = "Authorization, Accept"
    response["Cache-Control"] = "private, no-cache"
    rate.mark(response)
    return response


def _etag(request: HttpRequest, caller: Caller, more: str = "") -> str:
    said = "\n".join(
        (
            built_in.snapshot().fingerprint,
            caller.view_tag,
            more,
            f"{request.path}?{request.META.get('QUERY_STRING', '')}",
            request.META.get("HTTP_ACCEPT", ""),
        )
    )
    return _quoted(hashlib.sha256(said.encode()))


def _quoted(digest: "hashlib._Hash") -> str:
    return f'"{digest.hexdigest()[:32]}"'


def _matches(request: HttpRequest, etag: str) -> bool:
    given = request.META.get("HTTP_IF_NONE_MATCH")
    if not given:
        return False
    return given == etag or any(tag in (etag, f"W/{etag}") for tag in parse_etags(given))


def _not_modified() -> HttpResponse:
    response = HttpResponse(status=304)
    del response["Content-Type"]
    return response


def _whole(request: HttpRequest, answer: Answer | None) -> HttpResponse:
    assert answer is not None  # noqa: S101 - only a 304 goes without one
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

    def next_link(self, request: HttpRequest, total: int) -> str | None:
        if self.offset + self.limit >= total:
            return None
        query = request.GET.copy()
        query["offset"], query["limit"] = str(self.offset + self.limit), str(self.limit)
        return f"{quote(request.path)}?{query.urlencode()}"


def page(request: HttpRequest) -> Page:
    return Page(_whole_number(request, "limit", 100, 1, 1_000), _whole_number(request, "offset", 0, 0, 10**9))


def _whole_number(request: HttpRequest, name: str, default: int, least: int, most: int) -> int:
    text = request.GET.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or len(text) > 10 or not least <= int(text) <= most:
        raise InvalidRequest(f"{name} is a whole number from {least} to {most:,}; not {text[:40]!r}.")
    return int(text)


def flag(request: HttpRequest, name: str) -> bool:
    """`?name=1`; a word that is neither yes nor no is refused rather than guessed at."""
    text = request.GET.get(name, "0").lower()
    if text not in ("0", "1", "false", "true"):
        raise InvalidRequest(f"{name} is 1 or 0; not {text[:40]!r}.")
    return text in ("1", "true")
