"""Proposals that notify people, and the people they notify."""

from collections.abc import Callable

from registry.core.text import edits
from registry.models import EmailPreference, Notification, Project, Proposal, User
from registry.models.notifications import WAITING
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from tests.conftest import skill_text

FIVE = "One\nTwo\nThree\nFour\nFive\n"
People = Callable[[str], User]


def suggested(body: str = "Uno\nTwo\nThree\n", why: str = "It is better.") -> Suggestion:
    return Suggestion("greeting", edits.parse(skill_md=skill_text(body=body)), why)


def propose(project: Project, by: Actor, body: str = "Uno\nTwo\nThree\n") -> Proposal:
    return proposals.propose(project, suggested(body), by=by).proposal


def told(name: str) -> list[tuple[str, bool]]:
    return [(n.event, n.waits) for n in Notification.objects.filter(user__username=name).order_by("pk")]


def everybody() -> set[str]:
    return set(Notification.objects.values_list("user__username", flat=True))


def gets_mail(user: User, address: str, wanted: str = WAITING) -> User:
    """Store a confirmed address and a preference for the user."""
    user.email = address
    user.save(update_fields=["email"])
    EmailPreference.objects.create(user=user, choice=wanted)
    return user
