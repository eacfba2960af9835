"""Types of remote sources: address, listing, fetched skill and failures."""

from dataclasses import dataclass

from registry.core.bundle import Bundle
from registry.remote.outbound_http import Failure

URL, WELL_KNOWN, CLAWHUB, GIT = "url", "well-known", "clawhub", "git"
KINDS = (URL, WELL_KNOWN, CLAWHUB, GIT)

SECONDS = 30.0
MOST_SKILLS = 1_000


class Unreachable(Failure):
    """Temporary failure: unknown host, no connection, timeout, or an overloaded server."""


class NotASource(Failure):
    """The response does not fit this kind of source, for example a wrong status, an HTML page or too many bytes."""


@dataclass(frozen=True, slots=True)
class RemoteSource:
    kind: str
    address: str
    ref: str = ""  # git only: branch, tag or full commit id; "" is the default branch


@dataclass(frozen=True, slots=True)
class ListingEntry:
    """One skill in the listing of a source."""

    name: str  # the name in the source; safe as a directory name
    description: str = ""
    version: str = ""  # "" if the source has no versions
    digest: str = ""  # changes with the content; "" if it is known only after fetching
    location: str = ""  # used by `fetch` to find the skill


@dataclass(frozen=True, slots=True)
class Listing:
    """Skills of a source, with unique names. Empty for a source that works but has no skills."""

    entries: tuple[ListingEntry, ...]
    pin: str = ""  # git only: the commit that was read
    problems: tuple[str, ...] = ()  # one sentence for each skill that cannot be used


@dataclass(frozen=True, slots=True)
class FetchedBundle:
    """A fetched skill. `version` and `digest` are those of the source, or "". A digest was verified."""

    bundle: Bundle
    version: str
    digest: str
