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
from registry.remote.sources.http import HttpSession
from registry.remote.sources.types import (
    CLAWHUB,
    GIT,
    KINDS,
    SECONDS,
    URL,
    WELL_KNOWN,
    FetchedBundle,
    Listing,
    ListingEntry,
    NotASource,
    RemoteSource,
    Unreachable,
)

__all__ = [
    "CLAWHUB", "GIT", "KINDS", "URL", "WELL_KNOWN",
    "Failure", "FetchedBundle", "Listing", "ListingEntry", "NotASource", "Refused", "RemoteSource", "Unreachable",
    "check", "fetch", "fetch_all", "listing", "search", "shown",
]  # fmt: skip

_LISTING: dict[str, Callable[[RemoteSource, HttpSession], Listing]] = {
    URL: url.listing,
    WELL_KNOWN: well_known.listing,
    CLAWHUB: clawhub.listing,
    GIT: git.listing,
}


def check(source: RemoteSource, *, allowed: frozenset[str]) -> RemoteSource:
    """The place as it will be used; InvalidRequest where it cannot be a source, or is a credential."""
    return address_rules.check(source, allowed=allowed)


def listing(
    source: RemoteSource, *, allowed: frozenset[str], limits: Limits = DEFAULT, seconds: float = SECONDS
) -> Listing:
    """What the source offers. Raises Unreachable, Refused or NotASource, each with a sentence; no error of core."""
    return _LISTING[source.kind](source, HttpSession(allowed, limits, seconds))


def search(
    source: RemoteSource, query: str, *, allowed: frozenset[str], limits: Limits = DEFAULT, seconds: float = SECONDS
) -> Listing:
    """Offers that match: asked of the source where it can search, else those of its listing that have every word."""
    session = HttpSession(allowed, limits, seconds)
    if source.kind == CLAWHUB:
        return clawhub.search(source, query, session)
    listed = _LISTING[source.kind](source, session)
    words = query.casefold().split()
    return replace(listed, entries=tuple(entry for entry in listed.entries if _matches(entry, words)))


def _matches(entry: ListingEntry, words: list[str]) -> bool:
    text = f"{entry.name} {entry.description}".casefold()
    return all(word in text for word in words)


def fetch(
    source: RemoteSource,
    entry: ListingEntry,
    *,
    allowed: frozenset[str],
    limits: Limits = DEFAULT,
    pin: str = "",
    seconds: float = SECONDS,
) -> FetchedBundle:
    """One skill. Raises a Failure, NotFound where the source has it no more, or what core says of the bytes."""
    for _, found in fetch_all(source, [entry], allowed=allowed, limits=limits, pin=pin, seconds=seconds):
        if isinstance(found, FetchedBundle):
            return found
        raise found
    raise AssertionError("One offer has one answer.")


def fetch_all(
    source: RemoteSource,
    entries: Iterable[ListingEntry],
    *,
    allowed: frozenset[str],
    limits: Limits = DEFAULT,
    pin: str = "",
    seconds: float = SECONDS,
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    """Each offer with its skill or with what went wrong, in the order given; one never costs the others.

    One download or one clone serves all where the source is one; else eight are fetched at a time, `seconds` for each.
    """
    if source.kind == GIT:
        return git.fetch_all(source, list(entries), HttpSession(allowed, limits, seconds), pin)
    if source.kind == URL:
        return url.fetch_all(source, list(entries), HttpSession(allowed, limits, seconds))
    one = {WELL_KNOWN: well_known.fetch, CLAWHUB: clawhub.fetch}[source.kind]
    return parallel.at_once(lambda entry: one(source, entry, HttpSession(allowed, limits, seconds)), entries)
