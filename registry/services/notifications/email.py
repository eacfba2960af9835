"""Emails: notifications, and links that confirm an address. Django's email settings choose the server."""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core import mail, signing
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Exists, OuterRef
from django.utils import timezone

from registry.models import EmailConfirmation, EmailPreference, Membership, Notification, NotificationEmail
from registry.models.notifications import EVERYTHING, WAITING
from registry.models.outgoing import DROPPED, SENT, is_due
from registry.services.notifications import links, retries

log = logging.getLogger(__name__)

SALT = "registry.new-address"
_GATHERED, _NAMED_PROJECTS = 50, 3
_WHY = {
    WAITING: "You get an email for everything that waits for you.",
    EVERYTHING: "You get an email for every notification.",
}

OutgoingEmail = NotificationEmail | EmailConfirmation


def is_wanted(choice: str, *, waits: bool) -> bool:
    return choice == EVERYTHING or (choice == WAITING and waits)


def preference_of(user_id: int) -> str:
    choice = EmailPreference.objects.filter(user=user_id).values_list("choice", flat=True).first()
    return choice if choice is not None else WAITING


def send_due(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = timedelta(seconds=30)) -> int:
    """Send the emails that are due, within the time budget. Return how many the server accepted.

    Confirmation links go first, because somebody waits for them. Notifications of one person become one email. If the
    server cannot be reached, the run ends, so that not every email waits for the same timeout.
    """
    stop, sent = clock() + budget, 0
    connection: BaseEmailBackend = mail.get_connection()
    try:
        while clock() < stop and (due := _next_due(clock())):
            rows = _wanted([row for row in due if retries.take(row, now=clock())], now=clock())
            if not rows:
                continue
            if not _connect(connection, rows, now=clock()):
                break
            sent += _send(connection, rows, clock)
    finally:
        connection.close()
    return sent


def _next_due(now: datetime) -> Sequence[OutgoingEmail]:
    """Return the rows of the next email: one confirmation, or the notifications of one person."""
    confirmation = EmailConfirmation.objects.filter(is_due(now)).select_related("user").order_by("pk").first()
    return [confirmation] if confirmation is not None else _next_notifications(now)


def _next_notifications(now: datetime) -> list[NotificationEmail]:
    member = Membership.objects.filter(project=OuterRef("notification__project"), user=OuterRef("notification__user"))
    pause = timedelta(seconds=settings.EMAIL_PAUSE_SECONDS)
    just_sent = NotificationEmail.objects.filter(state=SENT, finished_at__gt=now - pause)
    due = (
        NotificationEmail.objects.filter(is_due(now))
        .exclude(notification__user__in=just_sent.values("notification__user"))
        .select_related("notification__user__email_preference", "notification__project")
        .annotate(is_member=Exists(member))
        .order_by("due_at", "pk")
    )
    first = due.first()
    return list(due.filter(notification__user=first.notification.user_id)[:_GATHERED]) if first is not None else []


def _wanted(rows: Sequence[OutgoingEmail], *, now: datetime) -> list[OutgoingEmail]:
    wanted = [row for row in rows if _still_wanted(row)]
    for row in rows:
        if row not in wanted:
            retries.finish(row, DROPPED, now=now)
    return wanted


def _still_wanted(row: OutgoingEmail) -> bool:
    """Check again: since the event, the user may have left the project or changed the preference."""
    if isinstance(row, EmailConfirmation):
        return row.user.is_active
    notification = row.notification
    user, is_member = notification.user, row.is_member  # type: ignore[attr-defined]
    can_see = is_member and user.is_active and notification.project.archived_at is None
    return bool(can_see and user.email and is_wanted(_preference(notification), waits=notification.waits))


def _preference(notification: Notification) -> str:
    preference: EmailPreference | None = getattr(notification.user, "email_preference", None)
    return preference.choice if preference is not None else WAITING


def _connect(connection: BaseEmailBackend, rows: Sequence[OutgoingEmail], *, now: datetime) -> bool:
    try:
        connection.open()
    except (OSError, SMTPException) as error:
        log.warning("The mail server cannot be reached: %s", error)
        for row in rows:
            retries.retry_later(row, now=now, error=f"The mail server cannot be reached: {error}")
        return False
    return True


def _send(connection: BaseEmailBackend, rows: Sequence[OutgoingEmail], clock: Callable[[], datetime]) -> bool:
    """Send one email. If the server refuses it, the next email is still sent."""
    try:
        connection.send_messages([_message(rows)])
    except (OSError, SMTPException, ValueError) as error:
        log.warning("The mail server refused an email: %s", error)
        for row in rows:
            retries.retry_later(row, now=clock(), error=f"The mail server refused the email: {error}")
        connection.close()
        return False
    for row in rows:
        retries.finish(row, SENT, now=clock())
    return True


def _message(rows: Sequence[OutgoingEmail]) -> mail.EmailMessage:
    if isinstance(rows[0], EmailConfirmation):
        return confirmation_email(rows[0])
    return notification_email([row.notification for row in rows if isinstance(row, NotificationEmail)])


def notification_email(notifications: Sequence[Notification]) -> mail.EmailMessage:
    """Return one email about the notifications of one person."""
    first = notifications[0]
    projects = sorted({notification.project.name for notification in notifications})
    subject = first.title if len(notifications) == 1 else f"{len(notifications)} notifications"
    account = links.absolute(links.account_path())
    parts = [part for notification in notifications for part in _paragraphs(notification)]
    parts.append(f"-- \n{_WHY[_preference(first)]} Change this on your account page: {account}")
    return mail.EmailMessage(
        subject=" ".join(f"[{', '.join(projects[:_NAMED_PROJECTS])}] {subject}".split()),
        body="\n\n".join(parts) + "\n",
        to=[first.user.email],
        headers={"Auto-Submitted": "auto-generated"},
    )


def _paragraphs(notification: Notification) -> Iterator[str]:
    yield f"{notification.title}."
    if notification.text:
        yield "\n".join(f"> {line}" for line in notification.text.splitlines())
    yield links.absolute(links.notification_path(notification))


def confirmation_email(confirmation: EmailConfirmation) -> mail.EmailMessage:
    """Return the email with the link.

    The recipient may not be a user of this site, so the email contains no text that its sender could choose.
    """
    link = links.absolute(links.confirm_address_path(confirmation_secret(confirmation)))
    parts = (
        f"{confirmation.user.username} wants to get email from {settings.PUBLIC_URL} at this address.",
        f"If this is you, open this link within a day to confirm the address:\n{link}",
        "If it is not you, ignore this email. You will get no other one.",
    )
    return mail.EmailMessage(
        subject="Confirm your email address",
        body="\n\n".join(parts) + "\n",
        to=[confirmation.address],
        headers={"Auto-Submitted": "auto-generated"},
    )


def confirmation_secret(confirmation: EmailConfirmation) -> str:
    """Return the signed and timestamped secret for this row and address."""
    return signing.dumps([confirmation.pk, confirmation.address], salt=SALT)
