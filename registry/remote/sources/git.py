"""A source that is a git repository."""

from collections.abc import Iterator, Sequence

from registry.remote.sources.errand import Errand
from registry.remote.sources.values import Fetched, Listing, Offer, Place


def listing(place: Place, errand: Errand) -> Listing:
    raise NotImplementedError


def fetch_all(
    place: Place, offers: Sequence[Offer], errand: Errand, pin: str
) -> Iterator[tuple[Offer, Fetched | Exception]]:
    raise NotImplementedError
