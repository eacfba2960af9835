"""Proposals for a skill of nine lines, and the texts that agents get."""

from typing import Any

from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.models import Project, Proposal
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.proposals import reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills
from tests import prepared
from tests.conftest import skill_text
from tests.prepared import save_skill

LINES = "# greeting\n\nOne\nTwo\nThree\nFour\nFive\nSix\nSeven\nEight\nNine\n"
WHY = "The old text is wrong."


def text(**changes: str) -> str:
    body = LINES
    for word, other in changes.items():
        body = body.replace(word, other)
    return skill_text(body=body)


def rewrite(**changes: str) -> Edit:
    return edits.parse(skill_md=text(**changes))


def suggest(edit: Edit | None = None, **more: Any) -> Suggestion:
    return Suggestion(**{"skill": "greeting", "edit": edit or rewrite(One="Uno"), "justification": WHY, **more})


def propose(project: Project, by: Actor, edit: Edit | None = None, **more: Any) -> Proposal:
    return prepared.propose(project, suggest(edit, **more), by=by).proposal


def save(project: Project, by: Actor, **changes: str) -> str:
    bundle = skills.with_text(project, "greeting", text(**changes))
    return save_skill(project, "greeting", bundle, base=served(project), by=by).version.digest


def served(project: Project, name: str = "greeting") -> str:
    return catalog.load(project.pk, name).candidate.digest


def now(proposal: Proposal) -> Proposal:
    return Proposal.objects.get(pk=proposal.pk)


def approve(project: Project, made: Proposal, by: Actor, **more: Any) -> Proposal:
    return reviews.approve(project, made.pk, result_digest=now(made).result_digest, by=by, **more)


def deletion(project: Project, by: Actor) -> Proposal:
    return prepared.propose(project, Suggestion("greeting", None, WHY, kind="delete"), by=by).proposal
