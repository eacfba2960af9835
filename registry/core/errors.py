"""Exceptions that any layer may raise. Each interface (web, API, MCP) maps them to its own responses in one place.

SkillsiteError
├── InvalidInput             the input cannot be used
│   ├── InvalidRequest       invalid-request      the request itself is malformed
│   ├── InvalidSkill         invalid-skill        SKILL.md or another file breaks a rule; carries findings
│   │   └── BlockedByScan    blocked-by-scan      security findings that the project does not publish
│   ├── InvalidArchive       invalid-archive      the archive is unsafe, damaged or contains no skill
│   └── UnsafePath           unsafe-path          the path would leave its directory
├── TooLarge                 too-large            a limit is exceeded; names the actual and the allowed number
├── NotText                  not-text             a binary file was requested as text
├── Unauthenticated          unauthenticated      the token is missing, unknown, expired or revoked
├── Forbidden                forbidden            the caller is known but not allowed to do this
│   ├── SafetyDenied         safety-denied        the policy denies the call of a capability
│   └── CallDenied           denied               a person denied the call, or nobody answered in time
├── NotFound                 not-found            it does not exist, or the caller may not see it
│   └── Quarantined          quarantined          the version is in quarantine, so agents do not get it
├── Conflict                 conflict             the current state does not allow this
│   ├── AlreadyExists        already-exists       the name is taken
│   ├── VersionConflict      version-conflict     the same version has different content; names both digests
│   ├── AlreadyDecided       already-decided      the proposal is already approved, rejected or withdrawn
│   ├── RoutingGateFailed    routing-gate         the change makes routing worse than the project allows
│   └── Stale                stale                the skill has changed since the caller read it
│       └── StaleProposal    stale                the skill has changed since the proposal was made
├── PreconditionRequired     precondition-required  If-Match or another required guard is missing
│   └── ConfirmationRequired confirmation-required  a person has to answer a question first; says which, and where
├── CallFailed               call-failed          a called capability answered with an error, or with a wrong answer
├── CallTimedOut             call-timed-out       a called capability, or the run around it, took too long
├── GateFailed               gate-failed          a gate failed or gave no verdict, so the call was not made
├── CallUnavailable          unavailable          the service of a capability is left alone for a moment
├── SourceFailed             source-failed        a source did not answer, or its answer cannot be used
├── RateLimited              rate-limited         too many requests; says when to retry
└── Busy                     busy                 the site has no capacity for this now; says when to retry
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from registry.core.findings import Finding


class SkillsiteError(Exception):
    """Base class of all errors of the site.

    `message` is for people. `code` is for programs and never changes. `field` names the input of the form or request
    that is at fault, and is empty if no single input is. `data` is added to the API response. `summary` is the message
    for pages that list the findings below it.
    """

    code: ClassVar[str] = "error"

    def __init__(
        self, message: str, *, field: str = "", findings: Iterable[Finding] = (), summary: str = "", **data: object
    ) -> None:
        super().__init__(message)
        self.message = message
        self.summary = summary or message
        self.field = field
        self.findings = tuple(findings)
        self.data = data


class InvalidInput(SkillsiteError):
    code = "invalid-input"


class InvalidRequest(InvalidInput):
    code = "invalid-request"


class InvalidSkill(InvalidInput):
    code = "invalid-skill"


class BlockedByScan(InvalidSkill):
    code = "blocked-by-scan"


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


class SafetyDenied(Forbidden):
    code = "safety-denied"


class CallDenied(Forbidden):
    code = "denied"


class NotFound(SkillsiteError):
    code = "not-found"


class Quarantined(NotFound):
    code = "quarantined"


class Conflict(SkillsiteError):
    code = "conflict"


class AlreadyExists(Conflict):
    code = "already-exists"


class VersionConflict(Conflict):
    code = "version-conflict"


class AlreadyDecided(Conflict):
    code = "already-decided"


class RoutingGateFailed(Conflict):
    """The change makes routing worse than the project allows. A person can publish it with a reason."""

    code = "routing-gate"


class Stale(Conflict):
    """The skill has changed since the caller read it. The API responds with 412, because If-Match did not match."""

    code = "stale"


class StaleProposal(Stale):
    """The skill has changed since the proposal was made. The API responds with 409, because there is no If-Match.

    It shares the code of `Stale`, because a client handles both alike: it reads the skill again and retries.
    """


class PreconditionRequired(SkillsiteError):
    code = "precondition-required"


class ConfirmationRequired(PreconditionRequired):
    code = "confirmation-required"


class CallFailed(SkillsiteError):
    code = "call-failed"


class CallTimedOut(SkillsiteError):
    code = "call-timed-out"


class GateFailed(SkillsiteError):
    code = "gate-failed"


class CallUnavailable(SkillsiteError):
    code = "unavailable"


class SourceFailed(SkillsiteError):
    code = "source-failed"


class RateLimited(SkillsiteError):
    code = "rate-limited"


class Busy(SkillsiteError):
    """The site has no capacity for this kind of request now. Nothing is wrong with the request or its sender."""

    code = "busy"


def family(root: type[SkillsiteError] = SkillsiteError) -> Iterator[type[SkillsiteError]]:
    """Yield every error class. Tests use it to check that each interface maps all of them."""
    yield root
    for child in root.__subclasses__():
        yield from family(child)
