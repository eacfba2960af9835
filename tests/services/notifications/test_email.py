"""Notifications by email: sent once, retried, and dropped when no longer wanted."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from registry.models import EmailPreference, Membership, NotificationEmail, Project, User
from registry.models.notifications import EVERYTHING, NOTHING, WAITING
from registry.models.outgoing import DROPPED, FAILED, PENDING, SENT
from registry.services.notifications import email, retries
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from tests.services.mailboxes import Mailbox, free_port
from tests.services.notifications.recipients import People, gets_mail, propose


def test_notification_that_waits_for_a_user_is_sent_by_email(
    project: Project, maja: User, bot: Actor, skill: str, box: Mailbox
) -> None:
    made = propose(project, bot)
    assert box.got == []
    assert email.send_due() == 1
    (letter,) = box.got
    assert (letter["To"], letter["From"]) == ("maja@example.org", "Skillsite <skills@example.org>")
    assert letter["Subject"] == "[Demo] bot proposes a change to greeting"
    assert letter["Auto-Submitted"] == "auto-generated"
    body = letter.get_content()
    assert f"https://skills.example.org/projects/demo/proposals/{made.pk}/" in body
    assert "> It is better." in body
    assert "https://skills.example.org/account/" in body
    assert email.send_due() == 0
    assert NotificationEmail.objects.get().state == SENT


@pytest.mark.parametrize(
    ("wanted", "address", "arrive"),
    [
        (NOTHING, "maja@example.org", []),
        (WAITING, "maja@example.org", ["proposes a change"]),
        (EVERYTHING, "maja@example.org", ["proposes a change", "withdrew"]),
        (EVERYTHING, "", []),
    ],
)
def test_email_follows_the_preference(
    project: Project, people: People, acting: Any, bot: Actor, skill: str, box: Mailbox, wanted: str, address: str,
    arrive: list[str],
) -> None:  # fmt: skip
    gets_mail(people("maja"), address, wanted)
    made = propose(project, bot)
    proposals.comment(project, made.pk, "Hm.", by=acting("maja"))
    proposals.withdraw(project, made.pk, by=bot)
    email.send_due()
    assert len(box.got) == bool(arrive)
    body = box.got[0].get_content() if box.got else ""
    assert [part for part in ("proposes a change", "withdrew") if part in body] == arrive


def test_several_notifications_of_one_person_are_one_email_and_the_next_one_waits(
    project: Project, maja: User, people: People, bot: Actor, skill: str, box: Mailbox
) -> None:
    gets_mail(people("noor"), "noor@example.org")
    now = timezone.now() + timedelta(seconds=1)
    first = [propose(project, bot, body) for body in ("One.", "Two.", "Three.")]
    assert email.send_due(clock=lambda: now) == 2
    letters = {letter["To"]: letter for letter in box.got}
    assert letters.keys() == {"maja@example.org", "noor@example.org"}
    assert {letter["Subject"] for letter in box.got} == {"[Demo] 3 notifications"}
    body = letters["maja@example.org"].get_content()
    assert [f"/proposals/{made.pk}/" in body for made in first] == [True] * 3
    later = [propose(project, bot, body) for body in ("Four.", "Five.")]
    NotificationEmail.objects.filter(state=PENDING).update(due_at=now)
    assert email.send_due(clock=lambda: now + timedelta(minutes=4)) == 0
    assert email.send_due(clock=lambda: now + timedelta(minutes=6)) == 2
    body = box.got[-1].get_content()
    assert [f"/proposals/{made.pk}/" in body for made in first + later] == [False] * 3 + [True] * 2
    assert set(NotificationEmail.objects.values_list("state", flat=True)) == {SENT}


@pytest.mark.parametrize("why", ["left", "inactive", "changed their mind", "no address", "archived"])
def test_email_is_dropped_when_it_is_no_longer_wanted(
    project: Project, maja: User, operator: Actor, bot: Actor, skill: str, box: Mailbox, why: str
) -> None:
    propose(project, bot)
    match why:
        case "left":
            Membership.objects.filter(user=maja).delete()
        case "inactive":
            User.objects.filter(pk=maja.pk).update(is_active=False)
        case "changed their mind":
            EmailPreference.objects.update(choice=NOTHING)
        case "no address":
            User.objects.filter(pk=maja.pk).update(email="")
        case _:
            Project.objects.update(archived_at=timezone.now())
    assert email.send_due() == 0
    assert (box.got, NotificationEmail.objects.get().state) == ([], DROPPED)


def test_email_is_retried_when_the_mail_server_is_down(
    project: Project, maja: User, bot: Actor, skill: str, box: Mailbox, settings: Any
) -> None:
    propose(project, bot)
    settings.EMAIL_PORT = free_port()
    now = timezone.now()
    assert email.send_due(clock=lambda: now) == 0
    letter = NotificationEmail.objects.get()
    assert (letter.state, letter.attempts, letter.leased_until) == (PENDING, 1, None)
    assert "cannot be reached" in letter.error
    assert timedelta(minutes=1) <= letter.due_at - now <= timedelta(minutes=1.2)
    settings.EMAIL_PORT = box.port
    assert email.send_due(clock=lambda: now) == 0
    assert email.send_due(clock=lambda: now + timedelta(minutes=2)) == 1
    assert len(box.got) == 1


def test_refused_email_fails_and_does_not_delay_others(
    project: Project, maja: User, people: People, bot: Actor, skill: str, box: Mailbox
) -> None:
    gets_mail(people("noor"), "noor@example.org")
    box.refuses = {"maja@example.org"}
    propose(project, bot)
    now = timezone.now()
    for attempt in range(retries.MAX_ATTEMPTS):
        email.send_due(clock=lambda later=now + timedelta(days=attempt): later)
    assert [letter["To"] for letter in box.got] == ["noor@example.org"]
    refused = NotificationEmail.objects.get(notification__user=maja)
    assert (refused.state, refused.attempts) == (FAILED, retries.MAX_ATTEMPTS)
    assert "550" in refused.error


def test_a_name_with_a_line_break_adds_no_header(
    project: Project, maja: User, bot: Actor, skill: str, box: Mailbox
) -> None:
    Project.objects.update(name="Demo\nBcc: all@example.org")
    propose(project, bot)
    assert email.send_due() == 1
    assert (box.got[0]["Bcc"], box.got[0]["Subject"][:6]) == (None, "[Demo ")
