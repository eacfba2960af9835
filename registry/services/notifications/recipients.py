"""Recipients of notifications: the members that an event concerns, and the rows of their inboxes and emails."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q

from registry.core import roles
from registry.core.notifications.events import Event
from registry.core.text.shorten import one_line, shorten
from registry.models import EmailPreference, Membership, Notification, NotificationEmail
from registry.models.notifications import WAITING
from registry.services.notifications import email, webhook_delivery, worker
from registry.services.permissions import Actor

TITLE_CHARS, TEXT_CHARS, ACTOR_CHARS = 500, 300, 150
REVIEWING = [role for role, scopes in roles.SCOPES_OF_ROLE.items() if roles.REVIEW in scopes]


@dataclass(frozen=True, slots=True)
class Recipient:
    member: Membership
    event: Event
    waits: bool = False


def excerpt(text: str) -> str:
    return shorten(one_line(text), TEXT_CHARS)


def members_of(project_id: int, users: set[int], by: Actor, *, reviewers: bool) -> list[Membership]:
    """Return the memberships of these users, of all reviewers if asked for, and of the actor for their name."""
    is_needed = Q(user__in={*users, by.user_id} - {None})
    if reviewers:
        is_needed |= Q(role__in=REVIEWING)
    members = Membership.objects.filter(is_needed, project=project_id, user__is_active=True)
    return list(members.select_related("user__email_preference", "project").order_by("user"))


def display_name(by: Actor, members: Iterable[Membership]) -> str:
    return next((member.user.display_name for member in members if member.user_id == by.user_id), by.name)


def send(project_id: int, created: Sequence[Event], recipients: Sequence[Recipient], *, who: str) -> None:
    """Store the notifications and emails, and queue the webhooks. Call it in the transaction of the change."""
    endpoints = webhook_delivery.endpoints_for(project_id)
    rows = Notification.objects.bulk_create([_notification(recipient, who) for recipient in recipients])
    emails = [
        NotificationEmail(notification=row)
        for row, recipient in zip(rows, recipients, strict=True)
        if _by_email(recipient.member, row)
    ]
    NotificationEmail.objects.bulk_create(emails)
    if webhook_delivery.queue(endpoints, created, who=who) or emails:
        worker.wake()


def _notification(recipient: Recipient, who: str) -> Notification:
    event, member = recipient.event, recipient.member
    return Notification(
        user=member.user,
        project=member.project,
        proposal_id=event.proposal.id if event.proposal else None,
        run_id=event.run.id if event.run else None,
        event=event.type,
        title=shorten(event.sentence(who), TITLE_CHARS),
        text=event.text,
        skill=event.skill,
        version=event.version.version if event.version else "",
        actor=shorten(who, ACTOR_CHARS),
        by_agent=event.actor_kind == "agent",
        waits=recipient.waits,
    )


def _by_email(member: Membership, notification: Notification) -> bool:
    preference: EmailPreference | None = getattr(member.user, "email_preference", None)
    choice = preference.choice if preference else WAITING
    return bool(member.user.email) and email.is_wanted(choice, waits=notification.waits)
