"""Letters on their way: notices by email, and links that confirm an address. Django's mail settings say how."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core import mail, signing
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Exists, OuterRef
from django.utils import timezone

from registry.models import Letter, Membership, NewAddress, Notice, Preference
from registry.models.notifications import EVERYTHING, WAITING
from registry.models.outgoing import DROPPED, SENT, is_due
from registry.services.notifications import links, retries

log = logging.getLogger(__name__)

SALT = "registry.new-address"
_WHY = {
    WAITING: "You get an email for what waits for you.",
    EVERYTHING: "You get an email for everything that you are told.",
}


def is_wanted(mail_wanted: str, *, waits: bool) -> bool:
    return mail_wanted == EVERYTHING or (mail_wanted == WAITING and waits)


def wants(user_id: int) -> str:
    found = Preference.objects.filter(user=user_id).values_list("mail", flat=True).first()
    return found if found is not None else WAITING


def send_due(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = timedelta(seconds=30)) -> int:
    """Sends what is due, for as long as the budget lasts: links first, somebody waits for those. Says how many went.

    A server that cannot be reached ends it, so that not every letter has to find that out.
    """
    stop, sent = clock() + budget, 0
    connection: BaseEmailBackend = mail.get_connection()
    try:
        while clock() < stop and (letter := _first_due(clock())) is not None:
            if not retries.take(letter, now=clock()):
                continue
            if not _still_wanted(letter):
                retries.finish(letter, DROPPED, now=clock())
            elif _opened(connection, letter, now=clock()):
                sent += _taken(connection, letter, clock)
            else:
                break
    finally:
        connection.close()
    return sent


def _first_due(now: datetime) -> Letter | NewAddress | None:
    return NewAddress.objects.filter(is_due(now)).select_related("user").order_by("pk").first() or _first_letter(now)


def _first_letter(now: datetime) -> Letter | None:
    member = Membership.objects.filter(project=OuterRef("notice__project"), user=OuterRef("notice__user"))
    return (
        Letter.objects.filter(is_due(now))
        .select_related("notice__user__notice_preference", "notice__project")
        .annotate(is_member=Exists(member))
        .order_by("due_at", "pk")
        .first()
    )


def _still_wanted(letter: Letter | NewAddress) -> bool:
    """Between the event and now somebody may have left, or have changed their mind."""
    if isinstance(letter, NewAddress):
        return letter.user.is_active
    notice = letter.notice
    member: bool = letter.is_member  # type: ignore[attr-defined]
    here = member and notice.user.is_active and notice.project.archived_at is None
    return bool(here and notice.user.email and is_wanted(_preference(notice), waits=notice.waits))


def _preference(notice: Notice) -> str:
    chosen: Preference | None = getattr(notice.user, "notice_preference", None)
    return chosen.mail if chosen is not None else WAITING


def _opened(connection: BaseEmailBackend, letter: Letter | NewAddress, *, now: datetime) -> bool:
    try:
        connection.open()
    except (OSError, SMTPException) as error:
        log.warning("The mail server cannot be reached: %s", error)
        retries.retry_later(letter, now=now, error=f"The mail server cannot be reached: {error}")
        return False
    return True


def _taken(connection: BaseEmailBackend, letter: Letter | NewAddress, clock: Callable[[], datetime]) -> bool:
    """A letter that the server does not take does not stand in the way of the next."""
    try:
        connection.send_messages([question(letter) if isinstance(letter, NewAddress) else composed(letter.notice)])
    except (OSError, SMTPException, ValueError) as error:
        log.warning("A letter was not taken: %s", error)
        retries.retry_later(letter, now=clock(), error=f"The letter was not taken: {error}")
        connection.close()
        return False
    retries.finish(letter, SENT, now=clock())
    return True


def composed(notice: Notice) -> mail.EmailMessage:
    said = [f"{notice.title}."]
    if notice.text:
        said.append("\n".join(f"> {line}" for line in notice.text.splitlines()))
    said.append(links.absolute(links.notice_path(notice)))
    said.append(f"-- \n{_WHY[_preference(notice)]} Choose what you get: {links.absolute(links.account_path())}")
    return mail.EmailMessage(
        subject=" ".join(f"[{notice.project.name}] {notice.title}".split()),
        body="\n\n".join(said) + "\n",
        to=[notice.user.email],
        headers={"Auto-Submitted": "auto-generated"},
    )


def question(asked: NewAddress) -> mail.EmailMessage:
    """Goes to somebody who may have nothing to do with this site, so it says nothing that a stranger could choose."""
    link = links.absolute(links.confirm_address_path(secret_for(asked)))
    said = (
        f"{asked.user.username} wants to get the email of {settings.PUBLIC_URL} at this address.",
        f"If that is you, open this link within a day and confirm it:\n{link}",
        "If it is not you, do nothing. No other letter comes.",
    )
    return mail.EmailMessage(
        subject="Confirm this address",
        body="\n\n".join(said) + "\n",
        to=[asked.address],
        headers={"Auto-Submitted": "auto-generated"},
    )


def secret_for(asked: NewAddress) -> str:
    """Signed with its time, for this row and this address alone."""
    return signing.dumps([asked.pk, asked.address], salt=SALT)
