"""Events that people and webhooks are notified about: their texts, and the people each one concerns."""

from dataclasses import dataclass, field

OPENED, REVISED, COMMENTED = "proposal.opened", "proposal.revised", "proposal.commented"
CHANGES_REQUESTED, APPROVED, REJECTED = "proposal.changes-requested", "proposal.approved", "proposal.rejected"
WITHDRAWN = "proposal.withdrawn"
OUTDATED = "proposal.overtaken"  # webhooks and the audit log keep the name it was introduced with
PUBLISHED, YANKED = "version.published", "version.yanked"
QUARANTINED, RELEASED, ALARM = "version.quarantined", "version.released", "version.alarm"
RUN_STARTED, RUN_WAITING, RUN_COMPLETED = "run.started", "run.waiting", "run.completed"
RUN_FAILED, RUN_DENIED, RUN_EXPIRED = "run.failed", "run.denied", "run.expired"
RUN_CANCELLED, QUESTION_EXPIRED = "run.cancelled", "question.expired"
AUDIT_HEAD = "audit.head"
TEST = "webhook.test"

REVIEWERS, BACKERS, COMMENTERS = "reviewers", "backers", "commenters"


@dataclass(frozen=True, slots=True)
class EventType:
    """`sentence` is a template with `who`, `skill` and `version`; `audience` names the groups that are notified."""

    label: str
    sentence: str
    audience: frozenset[str] = field(default_factory=frozenset)


def _audience(*groups: str) -> frozenset[str]:
    return frozenset(groups)


TYPES: dict[str, EventType] = {
    OPENED: EventType("Proposal opened", "{who} proposes a change to {skill}", _audience(REVIEWERS)),
    REVISED: EventType(
        "Proposal revised", "{who} revised the proposal for {skill}", _audience(REVIEWERS, BACKERS)
    ),
    COMMENTED: EventType(
        "Comment on a proposal", "{who} commented on the proposal for {skill}", _audience(BACKERS, COMMENTERS)
    ),
    CHANGES_REQUESTED: EventType(
        "Changes requested", "{who} requested changes to the proposal for {skill}", _audience(BACKERS)
    ),
    APPROVED: EventType("Proposal approved", "{who} approved the proposal for {skill}", _audience(BACKERS)),
    REJECTED: EventType("Proposal rejected", "{who} rejected the proposal for {skill}", _audience(BACKERS)),
    WITHDRAWN: EventType("Proposal withdrawn", "{who} withdrew the proposal for {skill}", _audience(COMMENTERS)),
    OUTDATED: EventType("Proposal outdated", "{skill} changed, so the proposal for it is outdated", _audience(BACKERS)),
    # These concern one person: the author of the version, or of the version before.
    PUBLISHED: EventType("Version published", "{who} published version {version} of {skill}"),
    YANKED: EventType("Version withdrawn", "{who} withdrew version {version} of {skill}"),
    # These also concern the author of the version.
    QUARANTINED: EventType(
        "Version quarantined", "{who} put version {version} of {skill} in quarantine", _audience(REVIEWERS)
    ),
    RELEASED: EventType(
        "Quarantine lifted", "{who} lifted the quarantine of version {version} of {skill}", _audience(REVIEWERS)
    ),
    ALARM: EventType(
        "Security alarm", "The security scan found an error in version {version} of {skill}", _audience(REVIEWERS)
    ),
    # These concern the people who may answer, or those who started the run.
    RUN_STARTED: EventType("Run started", "{who} started {skill}"),
    RUN_WAITING: EventType("Run waits for an answer", "{skill} waits for an answer"),
    QUESTION_EXPIRED: EventType("Question of a run not answered in time", "Nobody answered {skill} in time"),
    RUN_COMPLETED: EventType("Run completed", "The run of {skill} completed"),
    RUN_FAILED: EventType("Run failed", "The run of {skill} failed"),
    RUN_DENIED: EventType("Run denied", "The run of {skill} ended, because a call was denied"),
    RUN_EXPIRED: EventType("Run out of time", "The run of {skill} ran out of time"),
    RUN_CANCELLED: EventType("Run cancelled", "The run of {skill} was cancelled"),
    # Only for webhooks.
    AUDIT_HEAD: EventType("Audit log changed, at most once a minute", "The audit log changed"),
}  # fmt: skip

_OPENED = {"create": "{who} proposes a new skill, {skill}", "delete": "{who} proposes to delete {skill}"}


@dataclass(frozen=True, slots=True)
class ProposalRef:
    """The proposal of an event, in its state after the event. Webhooks send these fields."""

    id: int
    kind: str
    state: str
    revision: int
    base_digest: str
    result_digest: str


@dataclass(frozen=True, slots=True)
class VersionRef:
    """The version of an event. Webhooks send these fields."""

    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class QuestionRef:
    """A question of a run, without what it asks."""

    id: int
    step: str
    kind: str


@dataclass(frozen=True, slots=True)
class RunRef:
    """The run of an event, in its state after the event. Webhooks send these fields, and never inputs or outputs.

    `code` is the code of its failure. `asked` counts the questions, of which `questions` has the first ones.
    """

    id: int
    version: str
    state: str
    code: str = ""
    asked: int = 0
    questions: tuple[QuestionRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One event about one skill. `text` is a comment, justification or question that belongs to it."""

    type: str
    skill: str
    actor_kind: str
    actor: str
    text: str = ""
    proposal: ProposalRef | None = None
    version: VersionRef | None = None
    run: RunRef | None = None

    def sentence(self, who: str = "") -> str:
        """Return the event as a sentence. `who` is the display name of the actor; the default is the username."""
        template = TYPES[self.type].sentence
        if self.type == OPENED and self.proposal is not None:
            template = _OPENED.get(self.proposal.kind, template)
        version = self.version.version if self.version else ""
        return template.format(who=who or self.actor, skill=self.skill, version=version)


def waits_for_proposer(event_type: str) -> bool:
    """Return whether the proposal cannot proceed until its proposer acts."""
    return event_type in (CHANGES_REQUESTED, OUTDATED)


def waits_for_reviewers(event_type: str) -> bool:
    return event_type in (OPENED, REVISED, ALARM)
