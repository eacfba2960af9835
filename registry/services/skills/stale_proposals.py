"""Proposals whose skill moved on become stale at that moment, so that one shown as open can be approved.

A verb that changes what stands under a name calls `mark` inside its own transaction. Bundled skills change on disk,
where no transaction is; `settle` catches up with those before anybody looks at proposals or decides.
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


def base_now(kind: str, standing: EffectiveSkill | None) -> str | None:
    """What a proposal of this kind would be made for now; None where there is nothing that it could delete."""
    if kind == DELETE and (standing is None or not standing.from_project):
        return None
    return precedence.digest_of(standing)


def mark(skill: Skill, *, change: Change) -> None:
    """After a change of a skill: the proposals it overtook, named in the event of that change."""
    waiting = list(_waiting(skill.project_id).filter(skill=skill.name))
    if waiting:
        standing = catalog.find(skill.project_id, skill.name)
        if overtaken := _overtake(((proposal, standing) for proposal in waiting), by=change.by):
            change.data["overtaken"] = overtaken


def settle(project: Project) -> None:
    """Catches up with the directories of bundled skills."""
    if any(_moved(*each) for each in _on_disk(project)):
        with audit.change(project, "proposal.overtaken", by=SYSTEM) as change:
            change.data["overtaken"] = _overtake(_on_disk(project), by=SYSTEM)
            if not change.data["overtaken"]:
                change.cancel()


def _waiting(project_id: int) -> QuerySet[Proposal]:
    return Proposal.objects.filter(project_id=project_id, state__in=lifecycle.overtaken_states()).order_by("pk")


def _on_disk(project: Project) -> list[tuple[Proposal, EffectiveSkill | None]]:
    """The waiting proposals for names that the project has no skill of its own for, and what stands there now."""
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


def _moved(proposal: Proposal, standing: EffectiveSkill | None) -> bool:
    return base_now(proposal.kind, standing) != proposal.base_digest


def _overtake(waiting: Iterable[tuple[Proposal, EffectiveSkill | None]], *, by: Actor) -> list[int]:
    overtaken = []
    for proposal, standing in waiting:
        if _moved(proposal, standing):
            proposal.state = lifecycle.step(State(proposal.state), Action.OVERTAKE, Who.SYSTEM)
            proposal.state_reason = moved(proposal, standing)
            proposal.save(update_fields=["state", "state_reason"])
            overtaken.append(proposal)
    notifications.notify(events.OUTDATED, *overtaken, by=by)
    return [proposal.pk for proposal in overtaken]


def moved(proposal: Proposal, standing: EffectiveSkill | None) -> str:
    """Why a proposal does not fit any more, in a sentence."""
    made_for = f"made for {proposal.base_digest}" if proposal.base_digest else "made while nothing stood there"
    if standing is None or standing.winner is None:
        return f"{proposal.skill} is gone since; the proposal was {made_for}."
    return f"{proposal.skill} is {standing.winner.digest} now; the proposal was {made_for}."
