"""A source that speaks the REST interface of ClawHub: paged lists, search, and one zip for each version."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from registry.core import paths
from registry.core.archive import zip_bundle
from registry.core.limits import Limits
from registry.remote.sources.http import Errand
from registry.remote.sources.listing import Gathered, text, version
from registry.remote.sources.types import MOST_OFFERS, Fetched, Listing, NotASource, Offer, Place

_PAGE = 100
_FOUND = 100
_SLUG_CHARS = 128
_CURSOR_CHARS = 2_000


def listing(place: Place, errand: Errand) -> Listing:
    gathered = Gathered(errand.limits)
    cursor, seen = "", set[str]()
    while not gathered.full and len(seen) <= MOST_OFFERS:
        said, _ = errand.get_json(_api(place, "skills", limit=str(_PAGE), cursor=cursor))
        for entry in _entries(said, "items"):
            _add(gathered, entry, errand.limits)
        cursor = said.get("nextCursor") or ""
        if not isinstance(cursor, str) or not cursor.isprintable() or len(cursor) > _CURSOR_CHARS:
            raise NotASource("The list names its next page by something that cannot be part of an address.")
        if not cursor or cursor in seen:
            break
        seen.add(cursor)
    return gathered.listing()


def search(place: Place, query: str, errand: Errand) -> Listing:
    gathered = Gathered(errand.limits)
    said, _ = errand.get_json(_api(place, "search", q=query, limit=str(_FOUND)))
    for entry in _entries(said, "results"):
        _add(gathered, entry, errand.limits)
    return gathered.listing()


def fetch(place: Place, offer: Offer, errand: Errand) -> Fetched:
    owner, _, slug = offer.location.rpartition("/")
    wanted = offer.version or _latest(place, owner, slug, errand)
    address = _api(place, "download", slug=slug, ownerHandle=owner, version=wanted)
    got = errand.get(address, most=errand.limits.archive_bytes)
    if got.is_page:
        raise NotASource("It answered with a web page (HTML), not with a zip.")
    return Fetched(zip_bundle.read_zip(got.body, limits=errand.limits), wanted, _digest(wanted))


def _api(place: Place, *segments: str, **query: str) -> httpx.URL:
    base = httpx.URL(place.address)
    path = "/".join([base.path.rstrip("/").removesuffix("/api/v1"), "api/v1", *segments])
    return base.copy_with(path=path, params={key: value for key, value in query.items() if value})


def _entries(said: Mapping[str, Any], key: str) -> list[Any]:
    entries = said.get(key)
    if not isinstance(entries, list):
        raise NotASource(f"The answer is JSON, but it has no list called {key}.")
    return entries


def _add(gathered: Gathered, entry: Any, limits: Limits) -> None:
    slug = entry.get("slug") if isinstance(entry, dict) else None
    if not isinstance(slug, str) or not slug or len(slug) > _SLUG_CHARS or "/" in slug:
        gathered.problem("An entry has no slug that can be used.")
        return
    owner = entry.get("ownerHandle") or _inside(entry, "owner", "handle") or ""
    if not isinstance(owner, str) or len(owner) > _SLUG_CHARS or "/" in owner or not owner.isprintable():
        gathered.problem(f"{paths.shown(slug)} names an owner that cannot be used.")
        return
    newest = version(
        entry.get("version") or _inside(entry, "latestVersion", "version") or _inside(entry, "tags", "latest")
    )
    about = text(entry.get("summary") or entry.get("displayName"), limits.description_chars)
    location = f"{owner}/{slug}" if owner else slug
    gathered.add(Offer(slug, about, newest, _digest(newest), location))


def _latest(place: Place, owner: str, slug: str, errand: Errand) -> str:
    said, _ = errand.get_json(_api(place, "skills", quote(slug, safe=""), ownerHandle=owner))
    newest = version(_inside(said, "latestVersion", "version"))
    if not newest:
        raise NotASource(f"The registry names no version of {paths.shown(slug)}.")
    return newest


def _inside(said: Mapping[str, Any], key: str, inner: str) -> Any:
    value = said.get(key)
    return value.get(inner) if isinstance(value, dict) else None


def _digest(named: str) -> str:
    """A published version never changes, so its name stands for its bytes: lists have no digests."""
    return f"version:{named}" if named else ""
