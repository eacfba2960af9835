"""Requests to import skills from a source, and the result of each."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from registry.core import paths
from registry.core.bundle import normalise
from registry.core.errors import InvalidRequest

SKIP, RENAME, NEW_VERSION = "skip", "rename", "version"
ON_CONFLICT = (SKIP, RENAME, NEW_VERSION)
KEEP, REPLACE, MERGE = "keep", "replace", "merge"
IF_EDITED = (KEEP, REPLACE, MERGE)

IMPORTED, UPDATED, MERGED, KEPT, UNCHANGED = "imported", "updated", "merged", "kept", "unchanged"
PROPOSED, UNINSTALLED = "proposed", "uninstalled"
DONE = (IMPORTED, UPDATED, MERGED, KEPT, UNCHANGED, PROPOSED, UNINSTALLED)
# Nothing was saved: the name is taken, the skill was edited here, a merge has conflicts, the content changed since the
# preview, or the import failed.
SKIPPED, EDITED, CONFLICTS, MOVED, FAILED = "skipped", "edited", "conflicts", "moved", "failed"
REFUSED = (SKIPPED, EDITED, CONFLICTS, MOVED, FAILED)

MOST = 1_000
_ANSWERS, _CHARS = 10_000, 200
_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Request to import one skill; `name` is its name in the source.

    `digest` is the digest of the previewed bundle; if empty, the newest content is imported. `seen` is the digest of
    the project's own skill at that time: only a person who saw an edit may replace it. `answers` resolve conflicts.
    `gate_reason` is why the skill is published although the routing gate refuses it.
    """

    name: str
    digest: str = ""
    on_conflict: str = SKIP
    new_name: str = ""
    if_edited: str = ""
    seen: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    gate_reason: str = ""

    def validated(self) -> "ImportRequest":
        """Return the request itself. Raise InvalidRequest if its fields do not fit together or cannot be stored."""
        texts = (self.name, self.digest, self.seen, *self.answers, *self.answers.values())
        if len(self.name) > paths.COMPONENT_CHARS or any("\0" in text or len(text) > _CHARS for text in texts):
            raise InvalidRequest(f"{paths.display(self.name)}: a name, digest or answer is too long or has a NUL.")
        if self.on_conflict not in ON_CONFLICT:
            raise InvalidRequest(f"on_conflict must be one of {', '.join(ON_CONFLICT)}, not {self.on_conflict[:40]!r}.")
        if self.if_edited and self.if_edited not in IF_EDITED:
            raise InvalidRequest(f"if_edited must be one of {', '.join(IF_EDITED)}, not {self.if_edited[:40]!r}.")
        if bool(self.new_name) != (self.on_conflict == RENAME):
            raise InvalidRequest("“rename” needs a new name, and a new name needs “rename”. Send both or neither.")
        if self.new_name:
            paths.check_component(normalise(self.new_name), what="name")
        if len(self.gate_reason) > _REASON_CHARS or "\0" in self.gate_reason:
            raise InvalidRequest(
                f"The reason for the routing gate has more than {_REASON_CHARS} characters or a NUL character.",
                field="gate_reason",
            )
        if len(self.answers) > _ANSWERS:
            raise InvalidRequest(f"The request has {len(self.answers):,} answers. {_ANSWERS:,} are allowed.")
        return self

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "answers": dict(self.answers)}


@dataclass(frozen=True, slots=True)
class ImportResult:
    """Result of one request. `reason` explains the status, `skill` is the name in the project."""

    name: str
    status: str
    reason: str = ""
    skill: str = ""
    version: str = ""
    digest: str = ""
    proposal: int | None = None


def check_all(requests: list[ImportRequest]) -> list[ImportRequest]:
    """Return the validated requests. Raise InvalidRequest if there are none, too many, or a name appears twice."""
    if not requests:
        raise InvalidRequest("Select at least one skill. Nothing was saved.")
    if len(requests) > MOST:
        raise InvalidRequest(f"The request has {len(requests):,} skills. {MOST:,} are allowed.")
    names = [request.name for request in requests]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise InvalidRequest(f"{paths.display(duplicate)} appears twice. Nothing was saved.")
    return [request.validated() for request in requests]
