"""Where skills come from: what a source offers, and how its skills are fetched, whatever kind of source it is.

Every request goes through `registry.remote.fetching`, and git is held to the same rules: `allowed` names the hosts that
may be in a private network and may be spoken to without TLS.
"""

from collections.abc import Iterable, Iterator

from registry.core.limits import DEFAULT, Limits
from registry.remote.fetching import Failure, Refused
from registry.remote.sources.values import (
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


def check(place: Place, *, allowed: frozenset[str]) -> Place:
    """The place as it will be used; InvalidRequest where it cannot be a source, or is a credential."""
    raise NotImplementedError


def shown(address: str) -> str:
    """An address as it may be shown and logged: up to the question mark."""
    return address.partition("?")[0]


def listing(place: Place, *, allowed: frozenset[str], limits: Limits = DEFAULT, seconds: float = SECONDS) -> Listing:
    """What the source offers. Raises Unreachable, Refused or NotASource, each with a sentence; never a core error."""
    raise NotImplementedError


def search(
    place: Place, query: str, *, allowed: frozenset[str], limits: Limits = DEFAULT, seconds: float = SECONDS
) -> Listing:
    """Offers that match: asked of the source where it can search, else taken from its listing."""
    raise NotImplementedError


def fetch(
    place: Place, offer: Offer, *, allowed: frozenset[str], limits: Limits = DEFAULT, pin: str = "",
    seconds: float = SECONDS,
) -> Fetched:  # fmt: skip
    """One skill. Raises a Failure, or an error of core where the bytes came and are no skill."""
    raise NotImplementedError


def fetch_all(
    place: Place, offers: Iterable[Offer], *, allowed: frozenset[str], limits: Limits = DEFAULT, pin: str = "",
    seconds: float = SECONDS,
) -> Iterator[tuple[Offer, Fetched | Exception]]:  # fmt: skip
    """Each offer with its skill or with what went wrong, in the order given; one never costs the others."""
    raise NotImplementedError
