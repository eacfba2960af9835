"""The one family of errors. Any layer raises them; each face maps them once.

SkillsiteError
├── InvalidInput             the bytes or values given cannot be used
│   ├── InvalidRequest       invalid-request      the request itself is malformed
│   ├── InvalidSkill         invalid-skill        SKILL.md or its files break a rule; carries findings
│   ├── InvalidArchive       invalid-archive      the archive is hostile, damaged or has no skill in it
│   └── UnsafePath           unsafe-path          a path that would leave its directory
├── TooLarge                 too-large            a limit was hit; names the number hit and the number allowed
├── NotText                  not-text             a binary file asked for as text
├── Unauthenticated          unauthenticated      no token, or one that is unknown, expired or revoked
├── Forbidden                forbidden            known, and not allowed
├── NotFound                 not-found            not there, or not yours to see
├── Conflict                 conflict             the state of things does not allow it
│   ├── AlreadyExists        already-exists       the name is taken
│   ├── VersionConflict      version-conflict     the same version with other bytes; names both digests
│   ├── AlreadyDecided       already-decided      the proposal was approved, rejected or withdrawn before
│   └── StaleProposal        stale                the skill moved on since the proposal was made for it
├── Stale                    stale                somebody else saved since; If-Match did not hold
├── PreconditionRequired     precondition-required  a guard is needed and was not given
├── SourceFailed             source-failed        a source did not answer, or with nothing that can be used
└── RateLimited              rate-limited         too many requests; says when to come back
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from registry.core.findings import Finding


class SkillsiteError(Exception):
    """`message` is for a person; `code` is for a program and never changes; `data` goes into the answer."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, findings: Iterable[Finding] = (), **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.findings = tuple(findings)
        self.data = data


class InvalidInput(SkillsiteError):
    code = "invalid-input"


class InvalidRequest(InvalidInput):
    code = "invalid-request"


class InvalidSkill(InvalidInput):
    code = "invalid-skill"


class InvalidArchive(InvalidInput):
    code = "invalid-archive"


class UnsafePath(InvalidInput):
    code = "unsafe-path"


class TooLarge(SkillsiteError):
    code = "too-large"


class NotText(SkillsiteError):
    code = "not-text"


class Unauthenticated(SkillsiteError):
    code = "unauthenticated"


class Forbidden(SkillsiteError):
    code = "forbidden"


class NotFound(SkillsiteError):
    code = "not-found"


class Conflict(SkillsiteError):
    code = "conflict"


class AlreadyExists(Conflict):
    code = "already-exists"


class VersionConflict(Conflict):
    code = "version-conflict"


class AlreadyDecided(Conflict):
    code = "already-decided"


class StaleProposal(Conflict):
    code = "stale"


class Stale(SkillsiteError):
    code = "stale"


class PreconditionRequired(SkillsiteError):
    code = "precondition-required"


class SourceFailed(SkillsiteError):
    code = "source-failed"


class RateLimited(SkillsiteError):
    code = "rate-limited"


def family(root: type[SkillsiteError] = SkillsiteError) -> Iterator[type[SkillsiteError]]:
    """Every error there is, so that a face can be checked to map them all."""
    yield root
    for child in root.__subclasses__():
        yield from family(child)
