"""Paths of the review pages, and proposals to show there."""

from typing import Any

from registry.core.bundle import SKILL_MD
from registry.core.text import edits
from registry.models import Project, Proposal
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.proposals import prepare
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills
from tests.conftest import skill_text
from tests.prepared import propose, save_skill

QUEUE = "/projects/demo/proposals/"
SKILL = "/projects/demo/skills/greeting/"
LINES = "# greeting\n\nOne\nTwo\nThree\nFour\nFive\nSix\nSay good morning to every guest.\n"


def suggest(project: Project, by: Actor, why: str = "The old text is wrong.", **more: Any) -> Proposal:
    text = skill_text(body=more.pop("body", LINES.replace("One", "Uno")))
    change = more.pop("edit", None) or edits.parse(skill_md=text)
    pieces = prepare.evidence(more.pop("evidence", ()))
    return propose(project, Suggestion("greeting", change, why, pieces, **more), by=by).proposal


def save_meanwhile(project: Project, author: Actor, base: str, **changes: str) -> None:
    body = LINES
    for word, other in changes.items():
        body = body.replace(word, other)
    bundle = skills.with_text(project, "greeting", skill_text(body=body))
    save_skill(project, "greeting", bundle, base=base, by=author)


def typed(body: str, **more: str) -> dict[str, str]:
    """Return the text as a browser sends it, with CRLF line endings."""
    return {f"file:{SKILL_MD}": skill_text(body=body).replace("\n", "\r\n"), **more}


def url(proposal: Proposal, part: str = "") -> str:
    return f"{QUEUE}{proposal.pk}/{part}"


def text(response: Any, status: int = 200) -> str:
    assert response.status_code == status, response.status_code
    return str(response.content.decode())


def served(project: Project) -> str:
    return catalog.load(project.pk, "greeting").candidate.digest


def now(proposal: Proposal) -> Proposal:
    return Proposal.objects.get(pk=proposal.pk)
