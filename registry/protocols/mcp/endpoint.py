"""MCP over HTTP: one message per request, a JSON response, no sessions."""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from registry.core import errors, roles
from registry.core.errors import SkillsiteError
from registry.lib.lru import MEBIBYTE, ByteCache
from registry.protocols import authentication
from registry.protocols.mcp import messages, prompts, resources, revisions, skills, tools
from registry.protocols.mcp.context import CACHE_HINTS, Context, LaterResult, MethodResult
from registry.protocols.mcp.messages import Id, Message, Refused
from registry.services.agents import bearer
from registry.services.agents.tokens import Caller
from registry.services.catalog import built_in, usage
from registry.services.following import Later, WaitingResponse
from registry.services.workflows import run_watch

log = logging.getLogger(__name__)

BODY_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
_SERVER = {"name": "skillsite", "title": "Skillsite", "version": settings.SPECTACULAR_SETTINGS["VERSION"]}
_CAPABILITIES = {
    "prompts": {},
    "resources": {},
    "tools": {},
    "extensions": {skills.EXTENSION: {"directoryRead": True}},
}
_HINT = (
    "Skills describe how this team works. Before a task, call route with the question, or list_skills for all of them. "
    "Load the skill that fits with read_skill, and follow it."
)


def _discover(context: Context, message: Message) -> MethodResult:
    server = {"supportedVersions": list(revisions.SUPPORTED), "capabilities": _CAPABILITIES, "instructions": _HINT}
    return MethodResult({**server, **CACHE_HINTS})


def _initialize(context: Context, message: Message) -> MethodResult:
    version = revisions.negotiate(message.params.get("protocolVersion"))
    server = {"capabilities": _CAPABILITIES, "serverInfo": _SERVER, "instructions": _HINT}
    return MethodResult({"protocolVersion": version, **server})


def _never(context: Context, message: Message) -> bool:
    return False


def _ping(context: Context, message: Message) -> MethodResult:
    return MethodResult({})


@dataclass(frozen=True, slots=True)
class _Method:
    """A method. `cacheable` returns whether the result depends only on the parameters and what the caller may see."""

    run: Callable[[Context, Message], MethodResult]
    cacheable: Callable[[Context, Message], bool] = lambda context, message: True


_METHODS: dict[str, _Method] = {
    "server/discover": _Method(_discover),
    "initialize": _Method(_initialize, cacheable=_never),
    "ping": _Method(_ping, cacheable=_never),
    "skills/list": _Method(skills.list_skills),
    "skills/get": _Method(skills.get_skill),
    "resources/directory/read": _Method(skills.read_directory),
    "resources/list": _Method(resources.list_resources),
    "resources/templates/list": _Method(resources.list_templates),
    "resources/read": _Method(resources.read_resource),
    # Not cached: the key of the cache is the same for two agents that see the same skills.
    "prompts/list": _Method(prompts.list_prompts, cacheable=_never),
    "prompts/get": _Method(prompts.get_prompt, cacheable=_never),
    "tools/list": _Method(tools.list_tools, cacheable=_never),
    "tools/call": _Method(tools.call_tool, cacheable=tools.is_cacheable),
}
_GRACE_SECONDS = 5.0  # after the end of a wait, for a busy server to look once more
_LEGACY_ONLY = frozenset({"initialize", "ping"})

_results: ByteCache[tuple[bytes, tuple[tuple[str, str], ...]]] = ByteCache(64 * MEBIBYTE, largest=2 * MEBIBYTE)


@csrf_exempt
def mcp(request: HttpRequest, secret: str = "") -> HttpResponse:
    """Handle a request. `secret` is a token in the URL; without it the token must be in the header."""
    try:
        response = _respond(request, secret)
    except Refused as refused:
        response = HttpResponse(messages.error(refused), status=refused.status, content_type="application/json")
        for name, value in refused.headers.items():
            response[name] = value
    response["Cache-Control"] = "private, no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _respond(request: HttpRequest, secret: str) -> HttpResponse:
    if request.method != "POST":
        raise Refused(messages.INVALID_REQUEST, "Send a POST.", status=405, headers={"Allow": "POST"})
    _check_origin(request)
    caller = _caller(request, secret)
    context = Context(caller)
    message = messages.parse(_body(request))
    try:
        modern = revisions.is_modern(message, request.META)
        if message.id is None:
            return HttpResponse(status=202)
        body, loads, later = _result(context, message, modern)
    except Refused as refused:
        refused.id = message.id
        raise
    for skill, skill_version in loads:
        usage.count_load(caller.project_id, skill, skill_version, caller=caller.actor.name, now=timezone.now())
    content = messages.result(message.id, body)
    if later is None:
        return HttpResponse(content, content_type="application/json")
    return WaitingResponse(content, _Waiting(later, message.id), content_type="application/json")


@dataclass
class _Waiting(Later):
    """The answer to a message that waits for a run."""

    later: LaterResult
    id: Id
    seconds: float = run_watch.LOOK_SECONDS

    @property
    def is_late(self) -> bool:
        return self.later.wait.is_over(grace=_GRACE_SECONDS)

    def look(self) -> HttpResponse | None:
        if not (self.later.wait.is_over() or self.later.wait.has_news()):
            return None
        return HttpResponse(messages.result(self.id, _encoded(self.later.body())), content_type="application/json")

    def close(self) -> None:
        self.later.wait.close()


def _check_origin(request: HttpRequest) -> None:
    """Refuse requests that a page of another site sends through a browser."""
    origin = request.META.get("HTTP_ORIGIN")
    if origin is None:
        return
    here = f"{request.scheme}://{request.get_host()}"
    known = {_origin(address) for address in (here, settings.PUBLIC_URL, *settings.CORS_ALLOWED_ORIGINS)}
    normalised = _origin(origin)
    if not normalised or normalised not in known:
        raise Refused(messages.INVALID_REQUEST, "Requests from this origin are not allowed.", status=403)


def _origin(address: str) -> str:
    """Return scheme and host of an address, or an empty string if one is missing, as in `null`."""
    try:
        scheme, host = urlsplit(address.lower())[:2]
    except ValueError:
        return ""
    return f"{scheme}://{host}" if scheme and host else ""


def _caller(request: HttpRequest, secret: str) -> Caller:
    try:
        return authentication.by_path(secret) if secret else authentication.by_header(request)
    except errors.Unauthenticated as error:
        raise _refused(error, 401, _challenge(request, bool(request.headers.get("Authorization") or secret))) from error
    except errors.Forbidden as error:
        raise _refused(error, 403, f'{_challenge(request, False)}, error="insufficient_scope", scope="read"') from error
    except errors.RateLimited as error:
        refused = _refused(error, 429)
        refused.headers = {"Retry-After": str(error.data["retry_after"])}
        raise refused from error


def _challenge(request: HttpRequest, token_sent: bool) -> str:
    metadata = request.build_absolute_uri("/.well-known/oauth-protected-resource/mcp")
    challenge = f'{bearer.CHALLENGE}, resource_metadata="{metadata}"'
    return f'{challenge}, error="invalid_token"' if token_sent else challenge


def _refused(error: SkillsiteError, status: int, challenge: str = "") -> Refused:
    headers = {"WWW-Authenticate": challenge} if challenge else {}
    return Refused(messages.INVALID_REQUEST, error.message, status=status, headers=headers)


def _body(request: HttpRequest) -> bytes:
    if request.content_type != "application/json":
        raise Refused(messages.INVALID_REQUEST, "Content-Type must be application/json.", status=415)
    length = request.META.get("CONTENT_LENGTH") or "0"
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        message = "Chunked bodies are not supported. Send the body with Content-Length."
        raise Refused(messages.INVALID_REQUEST, message, status=411)
    if not length.isdecimal() or int(length) > BODY_BYTES:
        message = f"The request has {length[:20]} bytes. At most {BODY_BYTES:,} are allowed."
        raise Refused(messages.INVALID_REQUEST, message, status=413)
    return request.body


def _result(
    context: Context, message: Message, modern: bool
) -> tuple[bytes, tuple[tuple[str, str], ...], LaterResult | None]:
    method = _METHODS.get(message.method)
    if method is None or (modern and message.method in _LEGACY_ONLY):
        status = 404 if modern else 200
        raise Refused(messages.METHOD_NOT_FOUND, f"Unknown method: {message.method[:80]}", status=status)
    key = _cache_key(context, message) if method.cacheable(context, message) else ""
    cached = _results.get(key) if key else None
    if cached is not None:
        return *cached, None
    result = _call(method, context, message)
    body = _encoded(result.body)
    if key and not result.body.get("isError"):
        _results.put(key, (body, result.loads), len(body))
    return body, result.loads, result.later


def _encoded(body: dict[str, Any]) -> bytes:
    meta = {**body.get("_meta", {}), revisions.SERVER_INFO: _SERVER}
    return messages.dump({"resultType": "complete", **body, "_meta": meta})


def _call(method: _Method, context: Context, message: Message) -> MethodResult:
    try:
        return method.run(context, message)
    except SkillsiteError as error:
        raise Refused(messages.INVALID_PARAMS, error.message) from error
    except Refused:
        raise
    except Exception as error:
        log.exception("The method %s failed.", message.method)
        raise Refused(messages.INTERNAL_ERROR, "Internal error. It was logged.", status=500) from error


def _cache_key(context: Context, message: Message) -> str:
    params = {key: value for key, value in message.params.items() if key != "_meta"}
    # `read_skill` tells callers who can start the workflow of a skill how to do it.
    caller = [context.caller.view_tag, context.caller.actor.may(roles.RUN)]
    dependencies = messages.dump([built_in.snapshot().fingerprint, *caller, message.method, params])
    return hashlib.sha256(dependencies).hexdigest()
