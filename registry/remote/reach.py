"""Settings of one call of the resolver: its limits, and who admits it."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import inf
from typing import Protocol

from registry.core.limits import MIB, Limits
from registry.remote import s3
from registry.remote.quota import Quota


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one call: seconds per definition and in total, definitions, parallel downloads, redirects, bytes.

    `bytes` limits the sum of all downloads, and the sum of their unpacked content. `checks` limits the seconds of CPU
    time for checks of new skills.
    """

    each: float = 30.0
    all: float = 60.0
    most: int = 100
    at_once: int = 8
    redirects: int = 5
    bytes: int = 200 * MIB
    checks: float = inf


class Gate(Protocol):
    """Admission of calls that have to wait for other servers. Either method raises an error to refuse a call."""

    def fetching(self) -> AbstractContextManager[None]:
        """Admit a call that starts a download."""

    def waiting(self) -> AbstractContextManager[None]:
        """Admit a call that only waits for downloads of other calls."""


class OpenGate:
    """Admits every call."""

    def fetching(self) -> AbstractContextManager[None]:
        return nullcontext()

    def waiting(self) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass(frozen=True, slots=True)
class Reach:
    """Settings of one call. `allowed` hosts may be in a private network. Without `online`, nothing is fetched."""

    allowed: frozenset[str]
    storage: s3.Storage
    limits: Limits
    bounds: Bounds
    gate: Gate
    quota: Quota | None
    online: bool
