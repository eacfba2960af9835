"""Remote sources of skills: list the skills of a source, search them and fetch them.

Every request goes through `registry.remote.outbound_http`, and git follows the same rules. `allowed` are the hosts that
may be in a private network or without TLS.
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
    """Return the normalised source. Raise InvalidRequest if it cannot be used or its address contains a credential."""
    return address_rules.check(source, allowed=allowed)


def listing(
    source: RemoteSource, *, allowed: frozenset[str], limits: Limits = DEFAULT, seconds: float = SECONDS
) -> Listing:
    """Return the skills of the source. Raise only Unreachable, Refused or NotASource."""
    return _LISTING[source.kind](source, HttpSession(allowed, limits, seconds))


def search(
    source: RemoteSource, query: str, *, allowed: frozenset[str], limits: Limits = DEFAULT, seconds: float = SECONDS
) -> Listing:
    """Return the entries that match every word. Registries search; other listings are filtered here."""
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
    """Fetch one skill. Raise Failure, NotFound if the source no longer has it, or an error about its files."""
    for _, result in fetch_all(source, [entry], allowed=allowed, limits=limits, pin=pin, seconds=seconds):
        if isinstance(result, FetchedBundle):
            return result
        raise result
    raise AssertionError("fetch_all yields one result for each entry")


def fetch_all(
    source: RemoteSource,
    entries: Iterable[ListingEntry],
    *,
    allowed: frozenset[str],
    limits: Limits = DEFAULT,
    pin: str = "",
    seconds: float = SECONDS,
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    """Yield each entry with its skill or its error, in the given order. One failure does not stop the others.

    A file or a repository is downloaded once. Other sources get eight requests at a time, each with `seconds`.
    """
    if source.kind == GIT:
        return git.fetch_all(source, list(entries), HttpSession(allowed, limits, seconds), pin)
    if source.kind == URL:
        return url.fetch_all(source, list(entries), HttpSession(allowed, limits, seconds))
    one = {WELL_KNOWN: well_known.fetch, CLAWHUB: clawhub.fetch}[source.kind]
    return parallel.at_once(lambda entry: one(source, entry, HttpSession(allowed, limits, seconds)), entries)
