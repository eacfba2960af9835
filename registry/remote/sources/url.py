"""Source that is a single file: a SKILL.md, or a zip with one or more skills."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import httpx

from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.errors import NotFound, SkillsiteError
from registry.core.format import skill_md, sniffing
from registry.core.limits import Limits
from registry.remote.download import text_bundle
from registry.remote.outbound_http import Failure
from registry.remote.sources.http import Download, HttpSession
from registry.remote.sources.listing import ListingBuilder, where
from registry.remote.sources.types import FetchedBundle, Listing, ListingEntry, NotASource, RemoteSource

Skills = dict[str, Bundle | SkillsiteError]  # by directory


def listing(source: RemoteSource, session: HttpSession) -> Listing:
    builder = ListingBuilder(session.limits)
    try:
        skills = _skills(source, session)
    except SkillsiteError as error:
        raise NotASource(error.message) from error
    for directory, skill in skills.items():
        if isinstance(skill, Bundle):
            fallback = _fallback(source, directory)
            builder.add_skill(skill[SKILL_MD], fallback=fallback, digest=skill.digest, location=directory)
        else:
            builder.problem(f"{where(directory)}: {skill.message}")
    return builder.listing()


def fetch(source: RemoteSource, entry: ListingEntry, session: HttpSession) -> FetchedBundle:
    return _pick(source, entry, _skills(source, session), session.limits)


def fetch_all(
    source: RemoteSource, entries: Sequence[ListingEntry], session: HttpSession
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    """Fetch all entries with one download."""
    skills: Skills | Exception
    try:
        skills = _skills(source, session)
    except (Failure, SkillsiteError) as error:
        skills = error
    for entry in entries:
        try:
            if isinstance(skills, Exception):
                raise skills
            yield entry, _pick(source, entry, skills, session.limits)
        except (Failure, SkillsiteError) as error:
            yield entry, error


def _skills(source: RemoteSource, session: HttpSession) -> Skills:
    download = session.get(httpx.URL(source.address), most=session.limits.archive_bytes)
    if _kind(download) == sniffing.ZIP:
        return zip_bundle.read_skills(download.body, limits=session.limits)
    return {"": text_bundle(download.body, limits=session.limits)}


def _kind(download: Download) -> str:
    kind = sniffing.kind_of(download.url.path, download.content_type, download.body)
    if kind == sniffing.PAGE:
        raise NotASource("The server sent a web page (HTML), not a zip or a SKILL.md.")
    return kind


def _pick(source: RemoteSource, entry: ListingEntry, skills: Skills, limits: Limits) -> FetchedBundle:
    """Find the skill by its directory, else by its name: the top directory of a zip often contains a version."""
    skill = skills.get(entry.location)
    if skill is None or not _is_named(skill, entry.name, _fallback(source, entry.location), limits):
        named = (other for at, other in skills.items() if _is_named(other, entry.name, _fallback(source, at), limits))
        skill = next(named, skill)
    if skill is None:
        raise NotFound(f"The source no longer has {entry.name}.")
    if isinstance(skill, SkillsiteError):
        raise skill
    return FetchedBundle(skill, "", skill.digest)


def _is_named(skill: Bundle | SkillsiteError, name: str, fallback: str, limits: Limits) -> bool:
    if isinstance(skill, SkillsiteError):
        return False
    try:
        actual = skill_md.read(skill[SKILL_MD], fallback_name=fallback, limits=limits).name
    except SkillsiteError:
        return False
    return normalise(actual) == normalise(name)


def _fallback(source: RemoteSource, directory: str) -> str:
    """Return the name for a SKILL.md without one: its directory, or the last meaningful part of the address."""
    if directory:
        return directory.rpartition("/")[2]
    path = PurePosixPath(httpx.URL(source.address).path)
    return path.parent.name if path.name.lower() == SKILL_MD.lower() else path.stem
