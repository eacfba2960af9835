"""Source that is the well-known index of a site: version 0.2.0 with digests, or version 0.1 with lists of files.

Digests are verified. A wrong digest never falls back to the index without digests.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from registry.core import paths
from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, Bundle, content_digest, normalise
from registry.core.errors import NotFound, SkillsiteError, TooLarge
from registry.core.limits import Limits
from registry.remote.download import text_bundle
from registry.remote.outbound_http import scheme_refusal
from registry.remote.sources.address_rules import credential_fault
from registry.remote.sources.http import HttpSession, joined
from registry.remote.sources.listing import ListingBuilder, text
from registry.remote.sources.types import FetchedBundle, Listing, ListingEntry, NotASource, RemoteSource

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
SKILL, ARCHIVE, FILES = "skill-md", "archive", "files"
_INDEXES = (".well-known/agent-skills/index.json", ".well-known/skills/index.json")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class _Index:
    url: httpx.URL
    entries: list[Any]


class _Unusable(Exception):
    """An entry cannot be used. The message continues a sentence that starts with the name."""


def listing(source: RemoteSource, session: HttpSession) -> Listing:
    index = _index(source, session)
    builder = ListingBuilder(session.limits)
    for number, raw in enumerate(index.entries, start=1):
        name = raw.get("name") if isinstance(raw, dict) else None
        if not isinstance(name, str) or not name.strip():
            builder.problem(f"Entry {number:,} of the index has no name.")
            continue
        try:
            builder.add(_entry(name, raw, index.url, session))
        except _Unusable as error:
            builder.problem(f"{paths.display(name)} cannot be used: {error}")
        if builder.full:
            break
    return builder.listing()


def fetch(source: RemoteSource, entry: ListingEntry, session: HttpSession) -> FetchedBundle:
    kind, _, address = entry.location.partition(" ")
    if kind == FILES:
        return FetchedBundle(_from_files(entry, httpx.URL(address), session), "", "")
    limits = session.limits
    most = limits.skill_md_bytes if kind == SKILL else limits.archive_bytes
    download = session.get(httpx.URL(address), most=most)
    if f"sha256:{content_digest(download.body)}" != entry.digest:
        page = " It is a web page (HTML)." if download.is_page else ""
        raise NotASource(
            f"The file of {entry.name} does not match its digest in the index.{page} "
            "Either the source changed after the last check, or the file was changed in transit."
        )
    found = (
        text_bundle(download.body, limits=limits)
        if kind == SKILL
        else zip_bundle.read_archive(download.body, limits=limits)
    )
    return FetchedBundle(found, "", entry.digest)


def _index(source: RemoteSource, session: HttpSession) -> _Index:
    """Return the index at the address, or the newest one below it. The index of the site root is not used."""
    base = httpx.URL(source.address)
    if base.path.endswith("/index.json"):
        return _read(base, session)
    directory = base.copy_with(path=f"{base.path.rstrip('/')}/")
    try:
        return _read(directory.join(_INDEXES[0]), session)
    except NotASource as newest:
        try:
            return _read(directory.join(_INDEXES[1]), session)
        except NotASource:
            raise NotASource(f"There is no skill index at this address. {newest}") from newest


def _read(address: httpx.URL, session: HttpSession) -> _Index:
    index, url = session.get_json(address)
    if index.get("$schema", SCHEMA) != SCHEMA:
        raise NotASource("The index has an unsupported version. Versions 0.2.0 and 0.1 are supported.")
    entries = index.get("skills")
    if not isinstance(entries, list):
        raise NotASource("The response is JSON, but it has no list skills.")
    return _Index(url, entries)


def _entry(name: str, raw: Mapping[str, Any], index: httpx.URL, session: HttpSession) -> ListingEntry:
    description = text(raw.get("description"), session.limits.description_chars)
    if "files" in raw and "digest" not in raw:
        _files(name, raw, session.limits)
        return ListingEntry(name, description, location=f"{FILES} {_address(str(index), index, session)}")
    kind, address, digest = raw.get("type"), raw.get("url"), raw.get("digest")
    if kind not in (SKILL, ARCHIVE):
        raise _Unusable(f"its type is not {SKILL} or {ARCHIVE}.")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise _Unusable("its digest is not sha256: and 64 hexadecimal digits.")
    if not isinstance(address, str) or not address.strip():
        raise _Unusable("it has no url.")
    return ListingEntry(name, description, digest=digest, location=f"{kind} {_address(address, index, session)}")


def _address(text: str, index: httpx.URL, session: HttpSession) -> httpx.URL:
    """Return the absolute URL of an entry. Its IP address is checked when it is fetched."""
    try:
        url = joined(index, text.strip())
    except NotASource as error:
        raise _Unusable("its url is invalid.") from error
    fault = credential_fault(url) or scheme_refusal(url, allowed=session.allowed)
    if fault:
        raise _Unusable(fault)
    return url


def _files(name: str, raw: Mapping[str, Any], limits: Limits) -> list[str]:
    files = raw["files"]
    if not isinstance(files, list) or not all(isinstance(path, str) for path in files):
        raise _Unusable("its files are not a list of paths.")
    if SKILL_MD not in files:
        raise _Unusable("SKILL.md is not among its files.")
    if len(files) > limits.files:
        raise _Unusable(f"it has {len(files):,} files. {limits.files:,} are allowed.")
    try:
        for path in files:
            paths.check(path, limits=limits)
        paths.check_collisions(files)
        paths.check_component(name, what="name")
    except SkillsiteError as error:
        raise _Unusable(error.message) from error
    return files


def _from_files(entry: ListingEntry, index: httpx.URL, session: HttpSession) -> Bundle:
    entries = _read(index, session).entries
    raw = next((one for one in entries if isinstance(one, dict) and _is_named(one, entry.name)), None)
    if raw is None or "files" not in raw:
        raise NotFound(f"The source no longer has {entry.name}.")
    try:
        file_paths = _files(entry.name, raw, session.limits)
    except _Unusable as error:
        raise NotASource(f"{paths.display(entry.name)} cannot be used: {error}") from error
    files: dict[str, bytes] = {}
    for path in file_paths:
        files[path] = _file(index.join(quote(f"{raw['name']}/{path}")), path, files, session)
    return Bundle(files)


def _file(address: httpx.URL, path: str, before: Mapping[str, bytes], session: HttpSession) -> bytes:
    limits = session.limits
    download = session.get(address, most=limits.skill_md_bytes if path == SKILL_MD else limits.file_bytes)
    if path == SKILL_MD and download.is_page:
        raise NotASource("The server sent a web page (HTML), not a SKILL.md.")
    total = len(download.body) + sum(map(len, before.values()))
    if total > limits.archive_bytes:
        message = f"The files have {total:,} bytes together. {limits.archive_bytes:,} are allowed. Nothing was saved."
        raise TooLarge(message, actual=total, allowed=limits.archive_bytes)
    return download.body


def _is_named(raw: Mapping[str, Any], name: str) -> bool:
    raw_name = raw.get("name")
    return isinstance(raw_name, str) and normalise(raw_name) == normalise(name)
