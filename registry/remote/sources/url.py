"""A source that is one file at an address: a SKILL.md, or a zip of one or many skills."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import httpx

from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.errors import NotFound, SkillsiteError, TooLarge
from registry.core.format import skill_md, sniffing
from registry.core.limits import Limits
from registry.remote.outbound_http import Failure
from registry.remote.sources.http import Download, HttpSession
from registry.remote.sources.listing import ListingBuilder, where
from registry.remote.sources.types import FetchedBundle, Listing, ListingEntry, NotASource, RemoteSource

Found = dict[str, Bundle | SkillsiteError]


def listing(source: RemoteSource, session: HttpSession) -> Listing:
    builder = ListingBuilder(session.limits)
    try:
        found = _skills(source, session)
    except SkillsiteError as error:
        raise NotASource(error.message) from error
    for directory, one in found.items():
        if isinstance(one, Bundle):
            fallback = _fallback(source, directory)
            builder.add_skill(one[SKILL_MD], fallback=fallback, digest=one.digest, location=directory)
        else:
            builder.problem(f"{where(directory)}: {one.message}")
    return builder.listing()


def fetch(source: RemoteSource, entry: ListingEntry, session: HttpSession) -> FetchedBundle:
    return _picked(source, entry, _skills(source, session), session.limits)


def fetch_all(
    source: RemoteSource, entries: Sequence[ListingEntry], session: HttpSession
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    """All of them out of one download."""
    found: Found | Exception
    try:
        found = _skills(source, session)
    except (Failure, SkillsiteError) as error:
        found = error
    for entry in entries:
        try:
            if isinstance(found, Exception):
                raise found
            yield entry, _picked(source, entry, found, session.limits)
        except (Failure, SkillsiteError) as error:
            yield entry, error


def text_bundle(body: bytes, limits: Limits) -> Bundle:
    """A skill that is its SKILL.md and nothing else."""
    if len(body) > limits.skill_md_bytes:
        size, most = len(body), limits.skill_md_bytes
        message = f"SKILL.md has {size:,} bytes. {most:,} are allowed. Nothing was stored."
        raise TooLarge(message, actual=size, allowed=most)
    return Bundle({SKILL_MD: body})


def _skills(source: RemoteSource, session: HttpSession) -> Found:
    download = session.get(httpx.URL(source.address), most=session.limits.archive_bytes)
    if _kind(download) == sniffing.ZIP:
        return zip_bundle.read_skills(download.body, limits=session.limits)
    return {"": text_bundle(download.body, session.limits)}


def _kind(download: Download) -> str:
    kind = sniffing.kind_of(download.url.path, download.content_type, download.body)
    if kind == sniffing.PAGE:
        raise NotASource("It answered with a web page (HTML), not with a zip or a SKILL.md.")
    return kind


def _picked(source: RemoteSource, entry: ListingEntry, found: Found, limits: Limits) -> FetchedBundle:
    """By its directory, or by its name where that moved: the top directory of a zip often holds a version."""
    one = found.get(entry.location)
    if one is None or not _is_named(one, entry.name, _fallback(source, entry.location), limits):
        named = (other for at, other in found.items() if _is_named(other, entry.name, _fallback(source, at), limits))
        one = next(named, one)
    if one is None:
        raise NotFound(f"The source does not hold {entry.name} any more.")
    if isinstance(one, SkillsiteError):
        raise one
    return FetchedBundle(one, "", one.digest)


def _is_named(one: Bundle | SkillsiteError, name: str, fallback: str, limits: Limits) -> bool:
    if isinstance(one, SkillsiteError):
        return False
    try:
        said = skill_md.read(one[SKILL_MD], fallback_name=fallback, limits=limits).name
    except SkillsiteError:
        return False
    return normalise(said) == normalise(name)


def _fallback(source: RemoteSource, directory: str) -> str:
    """The name of a skill that does not say its own: its directory, or the last telling part of the address."""
    if directory:
        return directory.rpartition("/")[2]
    path = PurePosixPath(httpx.URL(source.address).path)
    return path.parent.name if path.name.lower() == SKILL_MD.lower() else path.stem
