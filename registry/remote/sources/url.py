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
from registry.remote.sources.http import Errand, Got
from registry.remote.sources.listing import Gathered, where
from registry.remote.sources.types import Fetched, Listing, NotASource, Offer, Place

Found = dict[str, Bundle | SkillsiteError]


def listing(place: Place, errand: Errand) -> Listing:
    gathered = Gathered(errand.limits)
    try:
        found = _skills(place, errand)
    except SkillsiteError as error:
        raise NotASource(error.message) from error
    for directory, one in found.items():
        if isinstance(one, Bundle):
            fallback = _fallback(place, directory)
            gathered.add_skill(one[SKILL_MD], fallback=fallback, digest=one.digest, location=directory)
        else:
            gathered.problem(f"{where(directory)}: {one.message}")
    return gathered.listing()


def fetch(place: Place, offer: Offer, errand: Errand) -> Fetched:
    return _picked(place, offer, _skills(place, errand), errand.limits)


def fetch_all(place: Place, offers: Sequence[Offer], errand: Errand) -> Iterator[tuple[Offer, Fetched | Exception]]:
    """All of them out of one download."""
    found: Found | Exception
    try:
        found = _skills(place, errand)
    except (Failure, SkillsiteError) as error:
        found = error
    for offer in offers:
        try:
            if isinstance(found, Exception):
                raise found
            yield offer, _picked(place, offer, found, errand.limits)
        except (Failure, SkillsiteError) as error:
            yield offer, error


def text_bundle(body: bytes, limits: Limits) -> Bundle:
    """A skill that is its SKILL.md and nothing else."""
    if len(body) > limits.skill_md_bytes:
        size, most = len(body), limits.skill_md_bytes
        message = f"SKILL.md has {size:,} bytes. {most:,} are allowed. Nothing was stored."
        raise TooLarge(message, actual=size, allowed=most)
    return Bundle({SKILL_MD: body})


def _skills(place: Place, errand: Errand) -> Found:
    got = errand.get(httpx.URL(place.address), most=errand.limits.archive_bytes)
    if _kind(got) == sniffing.ZIP:
        return zip_bundle.read_skills(got.body, limits=errand.limits)
    return {"": text_bundle(got.body, errand.limits)}


def _kind(got: Got) -> str:
    kind = sniffing.kind_of(got.url.path, got.content_type, got.body)
    if kind == sniffing.PAGE:
        raise NotASource("It answered with a web page (HTML), not with a zip or a SKILL.md.")
    return kind


def _picked(place: Place, offer: Offer, found: Found, limits: Limits) -> Fetched:
    """By its directory, or by its name where that moved: the top directory of a zip often holds a version."""
    one = found.get(offer.location)
    if one is None or not _is_named(one, offer.name, _fallback(place, offer.location), limits):
        named = (other for at, other in found.items() if _is_named(other, offer.name, _fallback(place, at), limits))
        one = next(named, one)
    if one is None:
        raise NotFound(f"The source does not hold {offer.name} any more.")
    if isinstance(one, SkillsiteError):
        raise one
    return Fetched(one, "", one.digest)


def _is_named(one: Bundle | SkillsiteError, name: str, fallback: str, limits: Limits) -> bool:
    if isinstance(one, SkillsiteError):
        return False
    try:
        said = skill_md.read(one[SKILL_MD], fallback_name=fallback, limits=limits).name
    except SkillsiteError:
        return False
    return normalise(said) == normalise(name)


def _fallback(place: Place, directory: str) -> str:
    """The name of a skill that does not say its own: its directory, or the last telling part of the address."""
    if directory:
        return directory.rpartition("/")[2]
    path = PurePosixPath(httpx.URL(place.address).path)
    return path.parent.name if path.name.lower() == SKILL_MD.lower() else path.stem
