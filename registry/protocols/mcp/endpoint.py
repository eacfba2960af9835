"""MCP over HTTP: one message a request, plain JSON back, nothing remembered between two requests."""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from registry.core import errors
from registry.core.errors import SkillsiteError
from registry.lib.lru import MEBIBYTE, LruCache
from registry.protocols import authentication
from registry.protocols.mcp import messages, resources, revisions, skills, tools
from registry.protocols.mcp.context import FRESH, Context, Outcome
from registry.protocols.mcp.messages import Message, Refused
from registry.services.agents import bearer
from registry.services.agents.tokens import Caller
from registry.services.catalog import built_in, usage

log = logging.getLogger(__name__)

BODY_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
_SERVER = {"name": "skillsite", "title": "Skillsite", "version": settings.SPECTACULAR_SETTINGS["VERSION"]}
_CAPABILITIES = {"resources": {}, "tools": {}, "extensions": {skills.EXTENSION: {"directoryRead": True}}}
_HINT = (
    "Skills tell how this team does its work. Look with list_skills before a task, load the one that fits with "
    "read_skill, and follow it."
)


def _discover(context: Context, message: Message) -> Outcome:
    said = {"supportedVersions": list(revisions.SUPPORTED), "capabilities": _CAPABILITIES, "instructions": _HINT}
    return Outcome({**said, **FRESH})


def _initialize(context: Context, message: Message) -> Outcome:
    said = {"capabilities": _CAPABILITIES, "serverInfo": _SERVER, "instructions": _HINT}
    return Outcome({"protocolVersion": revisions.negotiated(message.params.get("protocolVersion")), **said})


def _never(message: Message) -> bool:
    return False


def _ping(context: Context, message: Message) -> Outcome:
    return Outcome({})


@dataclass(frozen=True, slots=True)
class _Method:
    """`kept` tells of a message whether its result is a function of what the caller may see and the parameters."""

    answer: Callable[[Context, Message], Outcome]
    kept: Callable[[Message], bool] = lambda message: True


_METHODS: dict[str, _Method] = {
    "server/discover": _Method(_discover),
    "initialize": _Method(_initialize, kept=_never),
    "ping": _Method(_ping, kept=_never),
    "skills/list": _Method(skills.list_skills),
    "skills/get": _Method(skills.get_skill),
    "resources/directory/read": _Method(skills.read_directory),
    "resources/list": _Method(resources.list_resources),
    "resources/templates/list": _Method(resources.list_templates),
    "resources/read": _Method(resources.read_resource),
    "tools/list": _Method(tools.list_tools, kept=_never),
    "tools/call": _Method(tools.call_tool, kept=tools.is_kept),
}
_LEGACY_ONLY = frozenset({"initialize", "ping"})

_results: LruCache[str, tuple[bytes, tuple[tuple[str, str], ...]]] = LruCache(64 * MEBIBYTE, largest=2 * MEBIBYTE)


@csrf_exempt
def mcp(request: HttpRequest, secret: str = "") -> HttpResponse:
    """With a secret, the token stands in the address; without one it stands in the header."""
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
        body, loads = _result(context, message, modern)
    except Refused as refused:
        refused.id = message.id
        raise
    for skill, skill_version in loads:
        usage.count_load(caller.project_id, skill, skill_version, caller=caller.actor.name, now=timezone.now())
    return HttpResponse(messages.result(message.id, body), content_type="application/json")


def _check_origin(request: HttpRequest) -> None:
    """A page of another site must not talk to this one through somebody's browser."""
    origin = request.META.get("HTTP_ORIGIN")
    if origin is None:
        return
    here = f"{request.scheme}://{request.get_host()}"
    known = {_origin(address) for address in (here, settings.PUBLIC_URL, *settings.CORS_ALLOWED_ORIGINS)}
    asked = _origin(origin)
    if not asked or asked not in known:
        raise Refused(messages.INVALID_REQUEST, "Requests from this origin are not answered.", status=403)


def _origin(address: str) -> str:
    """Scheme and host of an address; nothing where it has not both, as `null` has not."""
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


def _challenge(request: HttpRequest, given: bool) -> str:
    metadata = request.build_absolute_uri("/.well-known/oauth-protected-resource/mcp")
    said = f'{bearer.CHALLENGE}, resource_metadata="{metadata}"'
    return f'{said}, error="invalid_token"' if given else said


def _refused(error: SkillsiteError, status: int, challenge: str = "") -> Refused:
    headers = {"WWW-Authenticate": challenge} if challenge else {}
    return Refused(messages.INVALID_REQUEST, error.message, status=status, headers=headers)


def _body(request: HttpRequest) -> bytes:
    if request.content_type != "application/json":
        raise Refused(messages.INVALID_REQUEST, "Content-Type is application/json.", status=415)
    length = request.META.get("CONTENT_LENGTH") or "0"
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        message = "A body in chunks is not read. Send it whole, with Content-Length."
        raise Refused(messages.INVALID_REQUEST, message, status=411)
    if not length.isdecimal() or int(length) > BODY_BYTES:
        message = f"The request has {length[:20]} bytes. {BODY_BYTES:,} are allowed."
        raise Refused(messages.INVALID_REQUEST, message, status=413)
    return request.body


def _result(context: Context, message: Message, modern: bool) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    method = _METHODS.get(message.method)
    if method is None or (modern and message.method in _LEGACY_ONLY):
        status = 404 if modern else 200
        raise Refused(messages.METHOD_NOT_FOUND, f"Unknown method: {message.method[:80]}", status=status)
    tag = _tag(context, message) if method.kept(message) else ""
    found = _results.get(tag) if tag else None
    if found is None:
        outcome = _call(method, context, message)
        meta = {**outcome.result.get("_meta", {}), revisions.SERVER_INFO: _SERVER}
        body = messages.dump({"resultType": "complete", **outcome.result, "_meta": meta})
        found = body, outcome.loads
        if tag and not outcome.result.get("isError"):
            _results.put(tag, found, len(body))
    return found


def _call(method: _Method, context: Context, message: Message) -> Outcome:
    try:
        return method.answer(context, message)
    except SkillsiteError as error:
        raise Refused(messages.INVALID_PARAMS, error.message) from error
    except Refused:
        raise
    except Exception as error:
        log.exception("The method %s failed.", message.method)
        said = "Something went wrong here. It was written to the log."
        raise Refused(messages.INTERNAL_ERROR, said, status=500) from error


def _tag(context: Context, message: Message) -> str:
    params = {key: value for key, value in message.params.items() if key != "_meta"}
    said = messages.dump([built_in.snapshot().fingerprint, context.caller.view_tag, message.method, params])
    return hashlib.sha256(said).hexdigest()
