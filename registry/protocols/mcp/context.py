"""Context and result of an MCP method."""

import base64
import binascii
import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from registry.core.catalog.precedence import Candidate
from registry.protocols.mcp.messages import INVALID_PARAMS, Message, Refused
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.workflows.run_watch import RunWait

PAGE = 100
PREFIX = "app.skillsite/"  # of the fields that we add to those of the protocol

# Clients may cache a result this long. Short, so that a withdrawn skill disappears quickly.
CACHE_HINTS = {"ttlMs": 5_000, "cacheScope": "private"}


@dataclass(frozen=True, slots=True)
class LaterResult:
    """A result that is better later: as soon as the wait has news, or at its end."""

    wait: RunWait
    body: Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class MethodResult:
    """A result. `loads` are the names and versions of skills that count as loaded."""

    body: dict[str, Any]
    loads: tuple[tuple[str, str], ...] = ()
    later: LaterResult | None = None


@dataclass(frozen=True, slots=True)
class Context:
    caller: Caller

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The skills that the caller may see, sorted by name."""
        view = catalog.view(self.caller.project_id, self.caller.revision, allowed=self.caller.allowed)
        return view.served

    def load(self, name: str) -> Loaded:
        return catalog.load(self.caller.project_id, name, allowed=self.caller.allowed)

    def load_many(self, candidates: Sequence[Candidate]) -> list[Loaded]:
        return list(catalog.load_many(self.caller.project_id, candidates))


def meta(candidate: Candidate) -> dict[str, str]:
    """Return version, digest and source for the `_meta` of a result."""
    return {
        f"{PREFIX}version": candidate.version,
        f"{PREFIX}digest": candidate.digest,
        f"{PREFIX}source": candidate.source,
    }


def paginate(candidates: Sequence[Candidate], message: Message) -> tuple[Sequence[Candidate], dict[str, str]]:
    """Return the skills of one page, and `nextCursor` if there are more. A cursor encodes the last name of a page."""
    start = bisect_right(candidates, _last_name(message.params.get("cursor")), key=lambda candidate: candidate.name)
    shown = candidates[start : start + PAGE]
    if start + PAGE >= len(candidates):
        return shown, {}
    return shown, {"nextCursor": base64.urlsafe_b64encode(json.dumps(shown[-1].name).encode()).decode()}


def _last_name(cursor: object) -> str:
    if cursor is None:
        return ""
    try:
        name = json.loads(base64.b64decode(str(cursor), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        name = None
    if not isinstance(name, str):
        raise Refused(INVALID_PARAMS, "The cursor is invalid.")
    return name
