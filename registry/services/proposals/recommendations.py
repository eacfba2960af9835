"""Recommendations of agents to the reviewers of a proposal, in projects that allow them."""

from django.utils import timezone

from registry.core import roles
from registry.core.errors import Forbidden, InvalidRequest
from registry.core.proposals.lifecycle import Action, Who
from registry.models import Agent, Project, Proposal, Recommendation
from registry.services import audit
from registry.services.permissions import Actor, require
from registry.services.proposals import prepare, proposals

VERDICTS = ("approve", "reject")


def recommend(project: Project, proposal_id: int, *, verdict: str, reason: str, by: Actor) -> Recommendation:
    """Store an agent's recommendation to the reviewers, if the project allows it."""
    found = may_recommend(project, proposal_id, by=by)
    reason = prepare.text(reason, what="reason")
    if verdict not in VERDICTS:
        raise InvalidRequest(f"{verdict!r} is not a recommendation. Use one of: {', '.join(VERDICTS)}.")
    with audit.change(project, "proposal.recommended", by=by, target=found.skill) as change:
        may_recommend(project, proposal_id, by=by)
        proposal = proposals.get(project, proposal_id)
        action = Action.APPROVE if verdict == "approve" else Action.REJECT
        proposals.step(proposal, action, Who.REVIEWER)
        advice, _ = Recommendation.objects.update_or_create(
            proposal=proposal, agent=_adviser(by), revision=proposal.revision,
            defaults={"verdict": verdict, "reason": reason, "created_at": timezone.now()},
        )  # fmt: skip
        change.data["verdict"] = verdict
        proposals.describe(change, proposal)
    return advice


def may_recommend(project: Project, proposal_id: int, *, by: Actor) -> Proposal:
    require(by, roles.PROPOSE, project)
    adviser = _adviser(by)
    if not Project.objects.filter(pk=project.pk, reviewer_agents=True).exists():
        raise Forbidden("Agents can advise reviewers only if an owner of the project allows it.")
    found = proposals.find(project, proposal_id, by=by)
    if found.backers.filter(agent=adviser).exists():
        raise Forbidden("An agent cannot recommend its own proposal.")
    return found


def _adviser(by: Actor) -> Agent:
    if by.agent_id is None:
        raise Forbidden("Only agents recommend. People approve or reject.")
    return Agent.objects.get(pk=by.agent_id)
