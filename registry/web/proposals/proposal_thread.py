"""What happened to a proposal and what was said about it, in one line of time."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from registry.core.proposals.lifecycle import Action
from registry.models import Agent, ProposalComment, ProposalRevision, User
from registry.services.proposals.proposal_queries import Dossier
from registry.services.proposals.proposals import EDITED, PROPOSED, REBASED, REVISED
from registry.web.render import marked_text

_HOW = {
    PROPOSED: "made this proposal",
    REVISED: "revised it",
    REBASED: "brought it over to what stands now",
    EDITED: "edited it before approving",
}
_DONE = {
    Action.APPROVE.value: ("approved it", "check"),
    Action.REJECT.value: ("rejected it", "x"),
    Action.REQUEST_CHANGES.value: ("asked for changes", "undo"),
    Action.WITHDRAW.value: ("withdrew it", "x"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """`revision` is set where a new text was sent; `text` is what was said, empty where nothing was."""

    at: datetime
    who: User | Agent | None
    words: str
    icon: str = ""
    text: SafeString | None = None
    revision: ProposalRevision | None = None

    @property
    def name(self) -> str:
        if isinstance(self.who, Agent):
            return self.who.name
        return self.who.display_name if self.who else ""


def thread(dossier: Dossier) -> list[Entry]:
    entries = [_sent(revision) for revision in dossier.revisions]
    entries += [_said(comment) for comment in dossier.comments]
    return sorted(entries, key=lambda entry: entry.at)


def _sent(revision: ProposalRevision) -> Entry:
    return Entry(
        revision.created_at, revision.agent or revision.user, _HOW.get(revision.how, revision.how), revision=revision
    )


def _said(comment: ProposalComment) -> Entry:
    words, icon = _DONE.get(comment.action, ("", ""))
    text = marked_text.words(comment.text) if comment.text else None
    return Entry(comment.created_at, comment.agent or comment.user, words, icon, text)
