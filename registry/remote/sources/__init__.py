"""Sources of skills of every kind: list the skills of one, and fetch them.

Every request goes through `registry.remote.outbound_http`, and git obeys the same rules. `allowed` names the hosts
that may have a private address and may be reached without TLS.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from registry.core.limits import DEFAULT, Limits
from registry.remote.outbound_http import Failure, Refused
from registry.remote.sources import address_rules, clawhub, git, parallel, url, well_known
from registry.remote.sources.address_rules import shown
from registry.remote.sources.http import Errand
from registry.remote.sources.types import (
    CLAWHUB,
    GIT,
    KINDS,
    SECONDS,
    URL,
    WELL_KNOWN,
    Fetched,
    Listing,
    NotASource,
    Offer,
    Place,
    Unreachable,
)

__all__ = [
    "CLAWHUB", "GIT", "KINDS", "URL", "WELL_KNOWN",
    "Failure", "Fetched", "Listing", "NotASource", "Offer", "Place", "Refused", "Unreachable",
    "check", "fetch", "fetch_all", "listing", "search", "shown",
]  # fmt: skip

_LISTING: dict[str, Callable[[Place, Errand], Listing]] = {
    URL: url.listing,
    WELL_KNOWN: well_known.listing,
    CLAWHUB: clawhub.listing,
    GIT: git.listing,
}


def check(place: Place, *, allowed: frozenset[str]) -> Place:
    """The place as it will be used; InvalidRequest where it cannot be a source, or is a credential."""
    return address_rules.check(place, allowed=allowed)


def listing(place: Place, *, allowed: frozenset[str], limits: Limits = DEFAULT, seconds: float = SECONDS) -> Listing:
    """What the source offers. Raises Unreachable, Refused or NotASource, each with a sentence; no error of core."""
    return _LISTING[place.kind](place, Errand(allowed, limits, seconds))


def search(
    place: Place, query: str, *, allowed: frozenset[str], limits: Limits = DEFAULT, seconds: float = SECONDS
) -> Listing:
    """Offers that match: asked of the source where it can search, else those of its listing that have every word."""
    errand = Errand(allowed, limits, seconds)
    if place.kind == CLAWHUB:
        return clawhub.search(place, query, errand)
    found = _LISTING[place.kind](place, errand)
    words = query.casefold().split()
    matching = (o for o in found.offers if all(word in f"{o.name} {o.description}".casefold() for word in words))
    return replace(found, offers=tuple(matching))


def fetch(
    place: Place,
    offer: Offer,
    *,
    allowed: frozenset[str],
    limits: Limits = DEFAULT,
    pin: str = "",
    seconds: float = SECONDS,
) -> Fetched:
    """One skill. Raises a Failure, NotFound where the source has it no more, or what core says of the bytes."""
    for _, found in fetch_all(place, [offer], allowed=allowed, limits=limits, pin=pin, seconds=seconds):
        if isinstance(found, Fetched):
            return found
        raise found
    raise AssertionError("One offer has one answer.")


def fetch_all(
    place: Place,
    offers: Iterable[Offer],
    *,
    allowed: frozenset[str],
    limits: Limits = DEFAULT,
    pin: str = "",
    seconds: float = SECONDS,
) -> Iterator[tuple[Offer, Fetched | Exception]]:
    """Each offer with its skill or with what went wrong, in the order given; one never costs the others.

    One download or one clone serves all where the source is one; else eight are fetched at a time, `seconds` for each.
    """
    if place.kind == GIT:
        return git.fetch_all(place, list(offers), Errand(allowed, limits, seconds), pin)
    if place.kind == URL:
        return url.fetch_all(place, list(offers), Errand(allowed, limits, seconds))
    one = {WELL_KNOWN: well_known.fetch, CLAWHUB: clawhub.fetch}[place.kind]
    return parallel.at_once(lambda offer: one(place, offer, Errand(allowed, limits, seconds)), offers)
