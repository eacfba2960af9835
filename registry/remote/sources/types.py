"""What a source is, what it offers, what was fetched of it, and the two ways in which it can fail to be one."""

from dataclasses import dataclass

from registry.core.bundle import Bundle
from registry.remote.outbound_http import Failure

URL, WELL_KNOWN, CLAWHUB, GIT = "url", "well-known", "clawhub", "git"
KINDS = (URL, WELL_KNOWN, CLAWHUB, GIT)

SECONDS = 30.0
MOST_SKILLS = 1_000


class Unreachable(Failure):
    """Nothing usable came back this time: no such name, no connection, no answer in time, or the site is overloaded."""


class NotASource(Failure):
    """Something answered, and it is not a source of this kind: another status, an HTML page, too many bytes."""


@dataclass(frozen=True, slots=True)
class RemoteSource:
    """Where a source is."""

    kind: str
    address: str
    ref: str = ""  # git: branch, tag or whole commit; "" is the default branch


@dataclass(frozen=True, slots=True)
class ListingEntry:
    """One skill that a source offers."""

    name: str  # as the source names it; one safe directory name
    description: str = ""
    version: str = ""  # "" where the source names none
    digest: str = ""  # changes when the content does; "" where that is only known after fetching
    location: str = ""  # what `fetch` finds it by


@dataclass(frozen=True, slots=True)
class Listing:
    """Names are unique in it. A source that answers and has nothing is an empty listing."""

    entries: tuple[ListingEntry, ...]
    pin: str = ""  # git: the commit that was read
    problems: tuple[str, ...] = ()  # entries that cannot be used, each a sentence


@dataclass(frozen=True, slots=True)
class FetchedBundle:
    """`version` and `digest` are the source's own, "" where it names none; a digest it names was verified."""

    bundle: Bundle
    version: str
    digest: str
