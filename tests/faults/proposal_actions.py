"""Actions on proposals: propose, decide, and return the state."""

from collections.abc import Callable
from typing import Any

from registry.core import roles
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md
from registry.core.text import edits
from registry.models import Agent, Approval, Event, Project, Proposal, User
from registry.services import permissions
from registry.services.agents import agents
from registry.services.people import accounts, members, projects
from registry.services.permissions import Actor
from registry.services.proposals import approval_records, proposals, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills

OPERATOR = permissions.operator()
NAME = "greeting"


def _text(body: str) -> str:
    return skill_md.compose(
        name=NAME, description="Greets the team. Use when somebody says hello.", instructions=f"# Greeting\n\n{body}"
    )


def _project(slug: str) -> Project:
    return Project.objects.get(slug=slug)


def _actor(project: Project, who: str) -> Actor:
    if who == "bot":
        return permissions.agent(Agent.objects.get(project=project, name=who), frozenset({roles.PROPOSE}))
    return permissions.person(User.objects.get(username=f"{project.slug}-{who}"), project)


def make_review(slug: str) -> None:
    """Create a project with a skill, an agent that proposes, two reviewers and an author."""
    project = projects.create(slug=slug, name=slug.capitalize(), by=OPERATOR)
    for who, role in (("ana", roles.REVIEWER), ("ben", roles.REVIEWER), ("cy", roles.AUTHOR)):
        members.set_role(project, accounts.create_user(f"{slug}-{who}", by=OPERATOR), role, by=OPERATOR)
    agents.ensure(project, "bot", by=OPERATOR)
    skills.create(project, skills.from_text(_text("The first text.")), by=_actor(project, "cy"))


def propose(slug: str, body: str) -> dict[str, Any]:
    project = _project(slug)
    edit = edits.parse(skill_md=_text(body))
    made = proposals.propose(project, Suggestion(NAME, edit, "It is better."), by=_actor(project, "bot")).proposal
    return {"id": made.pk, "base": made.base_digest, "result": made.result_digest}


def decide(slug: str, what: str, who: str, proposal: dict[str, Any], body: str = "") -> dict[str, str]:
    project = _project(slug)
    by = _actor(project, who)
    pk, result = proposal["id"], proposal["result"]
    decisions: dict[str, Callable[[], object]] = {
        "approve": lambda: reviews.approve(project, pk, result_digest=result, by=by),
        "reject": lambda: reviews.reject(project, pk, comment="No.", by=by),
        "withdraw": lambda: proposals.withdraw(project, pk, by=by),
        "revise": lambda: proposals.revise(
            project, pk, Suggestion(NAME, edits.parse(skill_md=_text(body)), "Again."), by=by
        ),
        "save": lambda: skills.save(project, NAME, skills.from_text(_text(body)), base=proposal["base"], by=by),
        "propose": lambda: proposals.propose(
            project, Suggestion(NAME, edits.parse(skill_md=_text(body)), "So."), by=by
        ),
    }
    try:
        decisions[what]()
    except SkillsiteError as error:
        return {"what": what, "refused": error.code}
    return {"what": what}


def reviewed(slug: str, pk: int) -> dict[str, Any]:
    """Return the state of a proposal, with its events and approvals, and the result of checking them."""
    project = _project(slug)
    current = project.skills.get(name=NAME).current
    events = Event.objects.filter(chain__project=project, data__proposal=pk).order_by("pk")
    good, doubts = approval_records.verify()
    return {
        "state": Proposal.objects.get(pk=pk).state,
        "revision": Proposal.objects.get(pk=pk).revision,
        "waiting": Proposal.objects.undecided().filter(project=project).count(),
        "backers": Proposal.objects.get(pk=pk).backers.count(),
        "approvals": list(Approval.objects.filter(proposal=pk).values_list("digest", flat=True)),
        "served": current.digest if current else "",
        "events": [event.verb for event in events],
        "overtaken": Event.objects.filter(chain__project=project, data__overtaken__isnull=False).count(),
        "doubts": [str(doubt) for doubt in doubts],
        "good": good,
    }


ACTIONS: dict[str, Callable[..., Any]] = {
    action.__name__: action for action in (make_review, propose, decide, reviewed)
}
