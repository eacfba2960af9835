"""Evidence and activity of a proposal, as its page shows them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.utils.safestring import SafeString

from registry.core.proposals.lifecycle import Action
from registry.models import Agent, ProposalComment, ProposalRevision, User
from registry.services.proposals.proposal_queries import Dossier
from registry.services.proposals.proposals import EDITED, PROPOSED, REBASED, REVISED
from registry.web.render import marked_text

_REVISION_VERBS = {
    PROPOSED: "opened the proposal",
    REVISED: "revised it",
    REBASED: "updated it to the current version",
    EDITED: "edited it",
}
_COMMENT_VERBS = {
    Action.APPROVE.value: "approved it",
    Action.REJECT.value: "rejected it",
    Action.REQUEST_CHANGES.value: "requested changes",
    Action.WITHDRAW.value: "withdrew it",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of evidence. A link is shown as text, with its host in ASCII, so that a lookalike host is visible."""

    kind: str
    text: SafeString
    host: str = ""


def render_evidence(piece: Mapping[str, str]) -> Evidence:
    host = _host(piece["text"]) if piece["kind"] == "link" else ""
    return Evidence(piece["kind"], marked_text.words(piece["text"]), host)


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").encode("idna").decode()
    except (ValueError, UnicodeError):
        return "an unreadable address"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the activity: a new revision, a comment, or a decision with its comment."""

    at: datetime
    who: User | Agent | None
    verb: str
    text: SafeString | None = None
    revision: ProposalRevision | None = None

    @property
    def name(self) -> str:
        if isinstance(self.who, Agent):
            return self.who.name
        return self.who.display_name if self.who else ""

    @property
    def previous(self) -> int:
        """The number of the revision before this one; 0 if there is none."""
        return self.revision.number - 1 if self.revision else 0


def thread(dossier: Dossier) -> list[Entry]:
    """Return revisions and comments in order of time."""
    entries = [_revision(revision) for revision in dossier.revisions]
    entries += [_comment(comment) for comment in dossier.comments]
    return sorted(entries, key=lambda entry: entry.at)


def _revision(revision: ProposalRevision) -> Entry:
    verb = _REVISION_VERBS.get(revision.how, revision.how)
    return Entry(revision.created_at, revision.agent or revision.user, verb, revision=revision)


def _comment(comment: ProposalComment) -> Entry:
    text = marked_text.words(comment.text) if comment.text else None
    return Entry(comment.created_at, comment.agent or comment.user, _COMMENT_VERBS.get(comment.action, ""), text)
