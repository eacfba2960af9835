"""Actions that a person can take on a proposal, and the texts of the dialogs that ask for a reason."""

from dataclasses import dataclass

from registry.core import roles
from registry.core.errors import Forbidden
from registry.core.proposals import lifecycle
from registry.core.proposals.lifecycle import Action, State, Who
from registry.services.proposals import proposals, reviews
from registry.services.proposals.proposal_queries import Dossier
from registry.services.skills.stale_proposals import DELETE
from registry.web.access import ProjectRequest
from registry.web.navigation import may

_BLOCKED_BY_SCAN = "Security findings block this proposal"


@dataclass(frozen=True, slots=True)
class Powers:
    """The actions that are possible now. `blocked_reason` is why a reviewer may not approve this proposal.

    `own_agent` means that they made a token of an agent that backs it, which the project allows.
    """

    approve: bool = False
    edit: bool = False
    request_changes: bool = False
    reject: bool = False
    update: bool = False
    resolve: bool = False
    revise: bool = False
    withdraw: bool = False
    blocked_reason: str = ""
    own_agent: bool = False

    @property
    def any(self) -> bool:
        deciding = self.approve, self.request_changes, self.reject
        return any((*deciding, self.update, self.resolve, self.revise, self.withdraw))


def powers(request: ProjectRequest, dossier: Dossier) -> Powers:
    proposal, offer = dossier.proposal, dossier.rebase
    state, is_proposer = State(proposal.state), proposals.is_proposer(proposal, request.actor)
    deciding = lifecycle.allowed(state, Who.REVIEWER) if may(request, roles.REVIEW) else ()
    proposing = lifecycle.allowed(state, Who.PROPOSER) if is_proposer else ()
    blocked_reason = _blocked_reason(request, proposal.pk) if Action.APPROVE in deciding else ""
    permitted = Action.APPROVE in deciding and not blocked_reason
    scan_blocks = dossier.scan is not None and dossier.scan.blocked
    can_rebase = Action.REBASE in (*deciding, *proposing)
    deletes = proposal.kind == DELETE
    return Powers(
        approve=permitted and not scan_blocks,
        edit=permitted and not deletes,
        request_changes=Action.REQUEST_CHANGES in deciding and not is_proposer,
        reject=Action.REJECT in deciding and not is_proposer,
        update=can_rebase and offer is not None and offer.prepared is not None,
        resolve=can_rebase and offer is not None and offer.conflict is not None,
        revise=Action.REVISE in proposing and not deletes,
        withdraw=Action.WITHDRAW in proposing,
        blocked_reason=_BLOCKED_BY_SCAN if permitted and scan_blocks else blocked_reason,
        own_agent=permitted and request.project.makers_approve and reviews.is_of_own_agent(proposal, request.actor),
    )


def _blocked_reason(request: ProjectRequest, number: int) -> str:
    try:
        reviews.may_decide(request.project, number, approving=True, by=request.actor)
    except Forbidden as error:
        return error.message
    return ""


@dataclass(frozen=True, slots=True)
class ReasonStep:
    """The texts of a dialog that asks a reviewer for a reason, and of its page without JavaScript."""

    action: str
    heading: str
    consequence: str
    label: str
    missing: str
    cancel: str
    submit: str
    button_class: str
    done: str
    placeholder: str = ""


def reject_step(number: int, proposer: str) -> ReasonStep:
    return ReasonStep(
        action="Reject",
        heading=f"Reject proposal {number}?",
        consequence="Nothing changes for agents. The text stays in the history. "
        f"{proposer} sees your reason. You can’t undo this.",
        label="Reason",
        missing="Give a reason. The proposer sees it and can learn from it.",
        cancel="Keep it open",
        submit="Reject proposal",
        button_class="btn--danger-solid",
        done="Proposal rejected. Nothing changes for agents.",
        placeholder="What would have to be different?",
    )


def request_changes_step(number: int, proposer: str) -> ReasonStep:
    return ReasonStep(
        action="Request changes",
        heading=f"Request changes to proposal {number}?",
        consequence=f"{proposer} sees your comment and can send a revision. The proposal leaves the queue until then.",
        label="What should change",
        missing="Say what should change. The proposer needs it to revise the proposal.",
        cancel="Back to review",
        submit="Request changes",
        button_class="btn--primary",
        done="Changes requested. The proposal returns to the queue when it is revised.",
    )
