"""What people and other systems are told about: which events there are, how they read, and whom they concern."""

from dataclasses import dataclass, field

OPENED, REVISED, COMMENTED = "proposal.opened", "proposal.revised", "proposal.commented"
CHANGES_REQUESTED, APPROVED, REJECTED = "proposal.changes-requested", "proposal.approved", "proposal.rejected"
WITHDRAWN, OVERTAKEN = "proposal.withdrawn", "proposal.overtaken"
PUBLISHED, YANKED = "version.published", "version.yanked"
TEST = "webhook.test"

REVIEWERS, BACKERS, TALKERS = "reviewers", "backers", "talkers"


@dataclass(frozen=True, slots=True)
class Kind:
    """`sentence` has the blanks `who`, `skill` and `version`; `told` are the groups it concerns."""

    label: str
    sentence: str
    told: frozenset[str] = field(default_factory=frozenset)


def _told(*groups: str) -> frozenset[str]:
    return frozenset(groups)


KINDS: dict[str, Kind] = {
    OPENED: Kind("A proposal is made", "{who} proposes a change to {skill}", _told(REVIEWERS)),
    REVISED: Kind("A proposal is revised", "{who} revised the proposal for {skill}", _told(REVIEWERS, BACKERS)),
    COMMENTED: Kind(
        "A proposal is commented on", "{who} commented on the proposal for {skill}", _told(BACKERS, TALKERS)
    ),
    CHANGES_REQUESTED: Kind(
        "Changes are asked for", "{who} asks for changes to the proposal for {skill}", _told(BACKERS)
    ),
    APPROVED: Kind("A proposal is approved", "{who} approved the proposal for {skill}", _told(BACKERS)),
    REJECTED: Kind("A proposal is rejected", "{who} rejected the proposal for {skill}", _told(BACKERS)),
    WITHDRAWN: Kind("A proposal is withdrawn", "{who} withdrew the proposal for {skill}", _told(TALKERS)),
    OVERTAKEN: Kind(
        "A proposal is overtaken", "{skill} changed, and the proposal for it is overtaken", _told(BACKERS)
    ),
    # These concern one person each, whom the version names: its author, or the author of the one before.
    PUBLISHED: Kind("A version is published", "{who} published version {version} of {skill}"),
    YANKED: Kind("A version is withdrawn", "{who} withdrew version {version} of {skill}"),
}  # fmt: skip

_OPENED = {"create": "{who} proposes a new skill, {skill}", "delete": "{who} proposes to delete {skill}"}


@dataclass(frozen=True, slots=True)
class Suggested:
    """The proposal that an event is about, as it stands after it."""

    id: int
    kind: str
    state: str
    revision: int
    base_digest: str
    result_digest: str


@dataclass(frozen=True, slots=True)
class Published:
    """The version that an event is about."""

    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened to one skill. `text` is what somebody wrote about it."""

    event: str
    skill: str
    actor_kind: str
    actor: str
    text: str = ""
    proposal: Suggested | None = None
    version: Published | None = None

    def sentence(self, who: str = "") -> str:
        """`who` is what people call the actor, where that is not their user name."""
        said = KINDS[self.event].sentence
        if self.event == OPENED and self.proposal is not None:
            said = _OPENED.get(self.proposal.kind, said)
        version = self.version.version if self.version else ""
        return said.format(who=who or self.actor, skill=self.skill, version=version)


def waits_for_proposer(event: str) -> bool:
    """Nothing goes on until whoever made the proposal does something."""
    return event in (CHANGES_REQUESTED, OVERTAKEN)


def waits_for_reviewers(event: str) -> bool:
    return event in (OPENED, REVISED)
