"""Well-known discovery: which skills there are and their files, in version 0.2.0 with digests and in version 0.1.

The same pages stand at the root for all public projects, below each public project and each of its skills, and below
`/t/<token>/` for the project of the token. All of them read through the catalog.
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
from registry.protocols.listing import ARCHIVE, Shelf, artifact_digest, kind_of, mine, of_project, of_site
from registry.services.agents import bearer
from registry.services.catalog import usage
from registry.services.catalog.catalog import Loaded

V2, V1 = "agent-skills", "skills"
SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_STATUS = {
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.UnsafePath: 404,
    errors.RateLimited: 429,
}


def _door(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Finds the shelf that an address names, and gives every answer, errors too, the headers of this door."""

    @_for_every_page
    @wraps(view)
    def answer(request: HttpRequest, secret: str = "", slug: str = "", only: str = "", **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, _shelf(request, secret, slug, only), **kwargs)
        except SkillsiteError as error:
            response = _plain(error)
        if secret:
            response["Cache-Control"] = "private, no-cache"
        elif response.status_code in (200, 304):
            response["Cache-Control"] = "public, max-age=60"
        return response

    return answer


def _for_every_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Pages of any site may read, and may ask first whether they may. Nothing is written, so nothing is forged."""

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
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

    return answer


def _shelf(request: HttpRequest, secret: str, slug: str, only: str) -> Shelf:
    if secret:
        shelf = mine(authentication.by_path(secret))
    else:
        authentication.anonymous(request)
        shelf = of_project(slug) if slug else of_site()
    return shelf.only(only) if only else shelf


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


@_door
def index(request: HttpRequest, shelf: Shelf) -> HttpResponse:
    """Version 0.2.0. An archive is named where there is more than SKILL.md; what was left out is named too."""

    def body() -> dict[str, Any]:
        here, listing = request.path.rpartition("/")[0], shelf.listing(_fault)
        return {"$schema": SCHEMA, "skills": [_entry(here, loaded) for loaded in listing.skills], **listing.said()}

    return _json(request, shelf, body)


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


@_door
def legacy_index(request: HttpRequest, shelf: Shelf) -> HttpResponse:
    """Version 0.1, where a client fetches each file on its own. It must hold nothing that a strict client refuses."""

    def body() -> dict[str, Any]:
        listing = shelf.listing(_legacy_fault)
        return {"skills": [_legacy_entry(loaded) for loaded in listing.skills], **listing.said()}

    return _json(request, shelf, body)


def _legacy_entry(loaded: Loaded) -> dict[str, Any]:
    paths = [entry.path for entry in loaded.files]
    return {"name": loaded.name, "description": loaded.candidate.description, "files": paths}


def _legacy_fault(loaded: Loaded) -> str:
    paths = (entry.path for entry in loaded.files)
    return client_compat.file_listing_fault(loaded.name, loaded.candidate.description, paths, limits=settings.LIMITS)


@_door
def archive(request: HttpRequest, shelf: Shelf, name: str) -> HttpResponse:
    loaded = shelf.load(name)
    digest = artifact_digest(loaded) if kind_of(loaded) == ARCHIVE else loaded.candidate.digest
    if _matches(request, digest):
        response = HttpResponse(status=304)
    else:
        response = _bytes(f"{loaded.name}.zip", zip_bundle.write_zip(loaded.bundle()))
    return _counted(request, shelf, loaded, response, digest)


@_door
def file(request: HttpRequest, shelf: Shelf, name: str, path: str) -> HttpResponse:
    loaded = shelf.load(name)
    entry = loaded.entry(path)
    response = HttpResponse(status=304) if _matches(request, entry.digest) else _bytes(path, loaded.read(entry))
    if path == SKILL_MD:
        return _counted(request, shelf, loaded, response, entry.digest)
    response["ETag"] = f'"{entry.digest}"'
    return response


def _counted(request: HttpRequest, shelf: Shelf, loaded: Loaded, response: HttpResponse, digest: str) -> HttpResponse:
    if request.method == "GET":
        usage.count_load(
            shelf.project_of(loaded),
            loaded.name,
            loaded.candidate.version,
            caller=shelf.caller,
            now=timezone.now(),
        )
    response["ETag"] = f'"{digest}"'
    return response


def _json(request: HttpRequest, shelf: Shelf, body: Callable[[], dict[str, Any]]) -> HttpResponse:
    """The tag says what the index is a function of, so that one that did not change is not made again."""
    etag = hashlib.sha256(f"{shelf.tag()} {request.path}".encode()).hexdigest()
    if _matches(request, etag):
        response = HttpResponse(status=304)
    else:
        said = json.dumps(body(), ensure_ascii=False, separators=(",", ":")).encode()
        response = HttpResponse(said, content_type="application/json")
    response["ETag"] = f'"{etag}"'
    return response


def _matches(request: HttpRequest, digest: str) -> bool:
    given = request.headers.get("If-None-Match")
    return bool(given) and any(tag.removeprefix("W/") == f'"{digest}"' for tag in parse_etags(str(given)))


def _bytes(path: str, content: bytes) -> HttpResponse:
    """Bytes of a bundle with the headers that keep them inert."""
    response = HttpResponse(content, content_type=content_types.content_type(path))
    for name, value in content_types.HEADERS.items():
        response[name] = value
    if content_types.is_attachment(path):
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}"
    return response


@_for_every_page
def protected_resource(request: HttpRequest) -> HttpResponse:
    """What RFC 9728 says about /mcp: tokens come in the header, and owners of a project make them on its pages."""
    body = {
        "resource": request.build_absolute_uri("/mcp"),
        "resource_name": "Skillsite",
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read", "propose"],
    }
    return HttpResponse(json.dumps(body), content_type="application/json")
