"""Well-known discovery: an index of skills and their files, in version 0.2.0 with digests and in version 0.1.

The same paths exist at the root for the projects that the operator listed, below each public project and each of its
skills, and below `/t/<token>/` for the project of the token.
"""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils import timezone
from django.utils.http import parse_etags
from django.views.decorators.csrf import csrf_exempt

from registry.core import content_types, errors
from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD
from registry.core.errors import SkillsiteError
from registry.core.format import client_compat
from registry.protocols import authentication
from registry.protocols.listing import (
    ARCHIVE,
    SkillCollection,
    artifact_digest,
    kind_of,
    of_caller,
    of_project,
    of_site,
)
from registry.services.agents import bearer
from registry.services.catalog import usage
from registry.services.catalog.catalog import Loaded

V2, V1 = "agent-skills", "skills"
SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_STATUS = {
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Quarantined: 404,
    errors.UnsafePath: 404,
    errors.RateLimited: 429,
}


def _discovery(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Pass the collection for the URL to the view, and set caching headers, also on errors."""

    @_cors
    @wraps(view)
    def respond(request: HttpRequest, secret: str = "", slug: str = "", only: str = "", **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, _collection(request, secret, slug, only), **kwargs)
        except SkillsiteError as error:
            response = _plain(error)
        if secret:
            response["Cache-Control"] = "private, no-cache"
        elif response.status_code in (200, 304):
            response["Cache-Control"] = "public, max-age=60"
        return response

    return respond


def _cors(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Allow pages of any origin to read. These views change nothing, so they need no CSRF protection."""

    @csrf_exempt
    @wraps(view)
    def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "OPTIONS":
            response = HttpResponse(status=204)
            response["Access-Control-Allow-Methods"] = response["Allow"] = "GET, HEAD, OPTIONS"
            response["Access-Control-Allow-Headers"] = "If-None-Match"
            response["Access-Control-Max-Age"] = "86400"
        elif request.method in ("GET", "HEAD"):
            response = view(request, *args, **kwargs)
        else:
            response = HttpResponseNotAllowed(["GET", "HEAD", "OPTIONS"])
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = "ETag, Retry-After"
        return response

    return respond


def _collection(request: HttpRequest, secret: str, slug: str, only: str) -> SkillCollection:
    if secret:
        collection = of_caller(authentication.by_path(secret))
    else:
        authentication.anonymous(request)
        collection = of_project(slug) if slug else of_site()
    return collection.only(only) if only else collection


def _plain(error: SkillsiteError) -> HttpResponse:
    response = HttpResponse(
        f"{error.message}\n", status=_STATUS.get(type(error), 400), content_type="text/plain; charset=utf-8"
    )
    response["Cache-Control"] = "no-store"
    if isinstance(error, errors.Unauthenticated):
        response["WWW-Authenticate"] = bearer.CHALLENGE
    if isinstance(error, errors.RateLimited):
        response["Retry-After"] = str(error.data["retry_after"])
    return response


@_discovery
def index(request: HttpRequest, collection: SkillCollection) -> HttpResponse:
    """Return the index of version 0.2.0. A skill with more files than SKILL.md is an archive."""

    def body() -> dict[str, Any]:
        here, listing = request.path.rpartition("/")[0], collection.listing(_fault)
        return {"$schema": SCHEMA, "skills": [_entry(here, loaded) for loaded in listing.skills], **listing.as_json()}

    return _json(request, collection, body)


def _fault(loaded: Loaded) -> str:
    return client_compat.listing_fault(loaded.name, loaded.candidate.description, limits=settings.LIMITS)


def _entry(here: str, loaded: Loaded) -> dict[str, str]:
    kind = kind_of(loaded)
    file = f"{loaded.name}.zip" if kind == ARCHIVE else f"{loaded.name}/{SKILL_MD}"
    return {
        "name": loaded.name,
        "type": kind,
        "description": loaded.candidate.description,
        "url": quote(f"{here}/{file}"),
        "digest": artifact_digest(loaded),
    }


@_discovery
def legacy_index(request: HttpRequest, collection: SkillCollection) -> HttpResponse:
    """Return the index of version 0.1, with which clients download file by file. Strict clients refuse other fields."""

    def body() -> dict[str, Any]:
        listing = collection.listing(_legacy_fault)
        return {"skills": [_legacy_entry(loaded) for loaded in listing.skills], **listing.as_json()}

    return _json(request, collection, body)


def _legacy_entry(loaded: Loaded) -> dict[str, Any]:
    paths = [entry.path for entry in loaded.files]
    return {"name": loaded.name, "description": loaded.candidate.description, "files": paths}


def _legacy_fault(loaded: Loaded) -> str:
    paths = (entry.path for entry in loaded.files)
    return client_compat.file_listing_fault(loaded.name, loaded.candidate.description, paths, limits=settings.LIMITS)


@_discovery
def archive(request: HttpRequest, collection: SkillCollection, name: str) -> HttpResponse:
    project_id, loaded = collection.find(name)
    digest = artifact_digest(loaded) if kind_of(loaded) == ARCHIVE else loaded.candidate.digest
    if _matches(request, digest):
        response = HttpResponse(status=304)
    else:
        response = _bytes(f"{loaded.name}.zip", zip_bundle.write_zip(loaded.bundle()))
    return _count_load(request, collection, project_id, loaded, response, digest)


@_discovery
def file(request: HttpRequest, collection: SkillCollection, name: str, path: str) -> HttpResponse:
    project_id, loaded = collection.find(name)
    entry = loaded.entry(path)
    response = HttpResponse(status=304) if _matches(request, entry.digest) else _bytes(path, loaded.read(entry))
    if path == SKILL_MD:
        return _count_load(request, collection, project_id, loaded, response, entry.digest)
    response["ETag"] = f'"{entry.digest}"'
    return response


def _count_load(
    request: HttpRequest,
    collection: SkillCollection,
    project_id: int,
    loaded: Loaded,
    response: HttpResponse,
    digest: str,
) -> HttpResponse:
    if request.method == "GET":
        usage.count_load(
            project_id,
            loaded.name,
            loaded.candidate.version,
            caller=collection.caller,
            now=timezone.now(),
        )
    response["ETag"] = f'"{digest}"'
    return response


def _json(request: HttpRequest, collection: SkillCollection, body: Callable[[], dict[str, Any]]) -> HttpResponse:
    """Respond with JSON, or 304. The ETag is computed without building the body."""
    etag = hashlib.sha256(f"{collection.tag()} {request.path}".encode()).hexdigest()
    if _matches(request, etag):
        response = HttpResponse(status=304)
    else:
        content = json.dumps(body(), ensure_ascii=False, separators=(",", ":")).encode()
        response = HttpResponse(content, content_type="application/json")
    response["ETag"] = f'"{etag}"'
    return response


def _matches(request: HttpRequest, digest: str) -> bool:
    header = request.headers.get("If-None-Match")
    return bool(header) and any(tag.removeprefix("W/") == f'"{digest}"' for tag in parse_etags(str(header)))


def _bytes(path: str, content: bytes) -> HttpResponse:
    """Respond with a file of a bundle, with headers that keep browsers from running it."""
    response = HttpResponse(content, content_type=content_types.content_type(path))
    for name, value in content_types.HEADERS.items():
        response[name] = value
    if content_types.is_attachment(path):
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}"
    return response


@_cors
def protected_resource(request: HttpRequest) -> HttpResponse:
    """Return the metadata of /mcp for RFC 9728. There is no authorization server: owners create tokens on the site."""
    body = {
        "resource": request.build_absolute_uri("/mcp"),
        "resource_name": "Skillsite",
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read", "propose"],
    }
    return HttpResponse(json.dumps(body), content_type="application/json")
