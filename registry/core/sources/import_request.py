"""What somebody wants of a source, skill by skill, with their choices, and what came of each."""

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
# Nothing was stored: the name is taken, the skill was edited here, a merge needs answers, what was looked at is not
# what stands any more, or it could not be done at all.
SKIPPED, EDITED, CONFLICTS, MOVED, FAILED = "skipped", "edited", "conflicts", "moved", "failed"
REFUSED = (SKIPPED, EDITED, CONFLICTS, MOVED, FAILED)

MOST = 1_000
_ANSWERS, _CHARS = 10_000, 200


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """One skill, under the name that its source gives it.

    `digest` is that of the bundle that was looked at; without it whatever the source has is taken. `seen` is the digest
    of the project's own skill that was looked at: an edit is replaced only by who saw it. `answers` settle a merge.
    """

    name: str
    digest: str = ""
    on_conflict: str = SKIP
    new_name: str = ""
    if_edited: str = ""
    seen: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)

    def validated(self) -> "ImportRequest":
        """The same, where it makes sense and can be written down; InvalidRequest else."""
        texts = (self.name, self.digest, self.seen, *self.answers, *self.answers.values())
        if len(self.name) > paths.COMPONENT_CHARS or any("\0" in text or len(text) > _CHARS for text in texts):
            raise InvalidRequest(f"{paths.display(self.name)}: a name, digest or answer is too long, or has a NUL.")
        if self.on_conflict not in ON_CONFLICT:
            raise InvalidRequest(f"on_conflict is one of {', '.join(ON_CONFLICT)}; not {self.on_conflict[:40]!r}.")
        if self.if_edited and self.if_edited not in IF_EDITED:
            raise InvalidRequest(f"if_edited is one of {', '.join(IF_EDITED)}; not {self.if_edited[:40]!r}.")
        if bool(self.new_name) != (self.on_conflict == RENAME):
            raise InvalidRequest("The choice “rename” and a new name go together. Send both, or neither.")
        if self.new_name:
            paths.check_component(normalise(self.new_name), what="name")
        if len(self.answers) > _ANSWERS:
            raise InvalidRequest(f"There are {len(self.answers):,} answers. {_ANSWERS:,} are allowed.")
        return self

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "answers": dict(self.answers)}


@dataclass(frozen=True, slots=True)
class ImportResult:
    """`reason` says why nothing was stored, or what is worth knowing; `skill` is its name in the project."""

    name: str
    status: str
    reason: str = ""
    skill: str = ""
    version: str = ""
    digest: str = ""
    proposal: int | None = None


def check_all(requests: list[ImportRequest]) -> list[ImportRequest]:
    """The wishes of one request, each checked, no name twice."""
    if not requests:
        raise InvalidRequest("Name at least one skill. Nothing was stored.")
    if len(requests) > MOST:
        raise InvalidRequest(f"There are {len(requests):,} skills in one request. {MOST:,} are allowed.")
    names = [request.name for request in requests]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidRequest(f"{paths.display(twice)} is named twice. Nothing was stored.")
    return [request.validated() for request in requests]
