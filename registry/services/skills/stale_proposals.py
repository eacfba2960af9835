"""Marking proposals as stale when their skill changes, so that every open proposal can be approved.

A change of a skill calls `mark_stale` inside its transaction. Built-in skills change on disk without a transaction, so
`check_built_in` runs before proposals are shown or decided.
"""

from collections.abc import Iterable

from django.db.models import QuerySet

from registry.core.catalog import precedence
from registry.core.catalog.precedence import EffectiveSkill
from registry.core.notifications import events
from registry.core.proposals import lifecycle
from registry.core.proposals.lifecycle import Action, State, Who
from registry.models import Project, Proposal, Skill
from registry.services import audit
from registry.services.audit import Change
from registry.services.catalog import built_in, catalog
from registry.services.notifications import notifications
from registry.services.permissions import Actor

SYSTEM = Actor(kind="system", name="skillsite")
DELETE = "delete"


def current_base(kind: str, current: EffectiveSkill | None) -> str | None:
    """Return the digest that a new proposal of this kind would have as its base; None if there is nothing to delete."""
    if kind == DELETE and (current is None or not current.from_project):
        return None
    return precedence.digest_of(current)


def mark_stale(skill: Skill, *, change: Change) -> None:
    """Mark the proposals that a change made stale, and record them in its audit event."""
    waiting = list(_waiting(skill.project_id).filter(skill=skill.name))
    if waiting:
        current = catalog.find(skill.project_id, skill.name)
        if stale := _make_stale(((proposal, current) for proposal in waiting), by=change.by):
            change.data["overtaken"] = stale


def check_built_in(project: Project) -> None:
    """Mark proposals for built-in skills that changed on disk."""
    if any(_is_outdated(*each) for each in _for_built_in(project)):
        with audit.change(project, "proposal.overtaken", by=SYSTEM) as change:
            change.data["overtaken"] = _make_stale(_for_built_in(project), by=SYSTEM)
            if not change.data["overtaken"]:
                change.cancel()


def _waiting(project_id: int) -> QuerySet[Proposal]:
    return Proposal.objects.filter(project_id=project_id, state__in=lifecycle.states_that_become_stale()).order_by("pk")


def _for_built_in(project: Project) -> list[tuple[Proposal, EffectiveSkill | None]]:
    """Return the waiting proposals for names without a skill of the project, with the current built-in skill."""
    waiting = list(_waiting(project.pk))
    names = {proposal.skill for proposal in waiting}
    own = set(
        Skill.objects.filter(project=project, name__in=names, overrides=True).values_list("name", flat=True)
        if names
        else ()
    )
    skills = built_in.snapshot().skills if names - own else {}
    return [
        (
            proposal,
            precedence.resolve(proposal.skill, [found.candidate for found in skills.get(proposal.skill, ())], None),
        )
        for proposal in waiting
        if proposal.skill not in own
    ]


def _is_outdated(proposal: Proposal, current: EffectiveSkill | None) -> bool:
    return current_base(proposal.kind, current) != proposal.base_digest


def _make_stale(waiting: Iterable[tuple[Proposal, EffectiveSkill | None]], *, by: Actor) -> list[int]:
    stale = []
    for proposal, current in waiting:
        if _is_outdated(proposal, current):
            proposal.state = lifecycle.step(State(proposal.state), Action.OUTDATE, Who.SYSTEM)
            proposal.state_reason = outdated_reason(proposal, current)
            proposal.save(update_fields=["state", "state_reason"])
            stale.append(proposal)
    notifications.notify(events.OUTDATED, *stale, by=by)
    return [proposal.pk for proposal in stale]


def outdated_reason(proposal: Proposal, current: EffectiveSkill | None) -> str:
    """Say in a sentence why the proposal is stale."""
    made_for = f"made for {proposal.base_digest}" if proposal.base_digest else "made when the skill did not exist"
    if current is None or current.winner is None:
        return f"{proposal.skill} no longer exists; the proposal was {made_for}."
    return f"{proposal.skill} is now {current.winner.digest}; the proposal was {made_for}."
