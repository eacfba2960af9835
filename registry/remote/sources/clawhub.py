"""Source with the REST API of ClawHub: paged lists, search, and one zip for each version."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from registry.core import paths
from registry.core.archive import zip_bundle
from registry.core.limits import Limits
from registry.remote.sources.http import HttpSession
from registry.remote.sources.listing import ListingBuilder, text, version
from registry.remote.sources.types import MOST_SKILLS, FetchedBundle, Listing, ListingEntry, NotASource, RemoteSource

_PAGE = 100
_FOUND = 100
_SLUG_CHARS = 128
_CURSOR_CHARS = 2_000


def listing(source: RemoteSource, session: HttpSession) -> Listing:
    builder = ListingBuilder(session.limits)
    cursor, seen = "", set[str]()
    while not builder.full and len(seen) <= MOST_SKILLS:
        answer, _ = session.get_json(_api(source, "skills", limit=str(_PAGE), cursor=cursor))
        for raw in _list(answer, "items"):
            _add(builder, raw, session.limits)
        cursor = answer.get("nextCursor") or ""
        if not isinstance(cursor, str) or not cursor.isprintable() or len(cursor) > _CURSOR_CHARS:
            raise NotASource("The list has an invalid cursor for its next page.")
        if not cursor or cursor in seen:
            break
        seen.add(cursor)
    return builder.listing()


def search(source: RemoteSource, query: str, session: HttpSession) -> Listing:
    builder = ListingBuilder(session.limits)
    answer, _ = session.get_json(_api(source, "search", q=query, limit=str(_FOUND)))
    for raw in _list(answer, "results"):
        _add(builder, raw, session.limits)
    return builder.listing()


def fetch(source: RemoteSource, entry: ListingEntry, session: HttpSession) -> FetchedBundle:
    owner, _, slug = entry.location.rpartition("/")
    wanted = entry.version or _latest(source, owner, slug, session)
    address = _api(source, "download", slug=slug, ownerHandle=owner, version=wanted)
    download = session.get(address, most=session.limits.archive_bytes)
    if download.is_page:
        raise NotASource("The server sent a web page (HTML), not a zip.")
    return FetchedBundle(zip_bundle.read_zip(download.body, limits=session.limits), wanted, _digest(wanted))


def _api(source: RemoteSource, *segments: str, **query: str) -> httpx.URL:
    base = httpx.URL(source.address)
    path = "/".join([base.path.rstrip("/").removesuffix("/api/v1"), "api/v1", *segments])
    return base.copy_with(path=path, params={key: value for key, value in query.items() if value})


def _list(answer: Mapping[str, Any], key: str) -> list[Any]:
    entries = answer.get(key)
    if not isinstance(entries, list):
        raise NotASource(f"The response is JSON, but it has no list {key}.")
    return entries


def _add(builder: ListingBuilder, raw: Any, limits: Limits) -> None:
    slug = raw.get("slug") if isinstance(raw, dict) else None
    if not isinstance(slug, str) or not slug or len(slug) > _SLUG_CHARS or "/" in slug:
        builder.problem("A skill has no valid slug.")
        return
    owner = raw.get("ownerHandle") or _inside(raw, "owner", "handle") or ""
    if not isinstance(owner, str) or len(owner) > _SLUG_CHARS or "/" in owner or not owner.isprintable():
        builder.problem(f"{paths.display(slug)} has an invalid owner.")
        return
    newest = version(raw.get("version") or _inside(raw, "latestVersion", "version") or _inside(raw, "tags", "latest"))
    about = text(raw.get("summary") or raw.get("displayName"), limits.description_chars)
    location = f"{owner}/{slug}" if owner else slug
    builder.add(ListingEntry(slug, about, newest, _digest(newest), location))


def _latest(source: RemoteSource, owner: str, slug: str, session: HttpSession) -> str:
    answer, _ = session.get_json(_api(source, "skills", quote(slug, safe=""), ownerHandle=owner))
    newest = version(_inside(answer, "latestVersion", "version"))
    if not newest:
        raise NotASource(f"The registry has no version of {paths.display(slug)}.")
    return newest


def _inside(answer: Mapping[str, Any], key: str, inner: str) -> Any:
    value = answer.get(key)
    return value.get(inner) if isinstance(value, dict) else None


def _digest(named: str) -> str:
    """Return the version as a digest. Published versions never change, and the lists have no digests."""
    return f"version:{named}" if named else ""
