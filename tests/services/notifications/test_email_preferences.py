"""Email preferences, and the confirmation of an address."""

import time
from typing import Any

import pytest

from registry.core.errors import InvalidRequest, NotFound
from registry.models import EmailConfirmation, Event, Project, User
from registry.models.notifications import EVERYTHING, WAITING
from registry.models.outgoing import DROPPED
from registry.services.notifications import email, email_preferences
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind
from tests.services.mailboxes import Mailbox
from tests.services.notifications.recipients import People, propose


@pytest.mark.parametrize(
    ("address", "wanted"),
    [("nobody", WAITING), ("a@b", WAITING), ("a@example.org\nBcc: b@example.org", WAITING), ("a@example.org", "often"),
     (f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 63}.example.org", WAITING)],
)  # fmt: skip
def test_invalid_address_or_preference_is_refused(people: People, address: str, wanted: str) -> None:
    user = people("maja")
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        email_preferences.choose(user, address=address, wanted=wanted)


def link_in(letter: Any) -> str:
    return str(letter.get_content().split("https://skills.example.org/account/mail/")[1].split("/")[0])


def test_no_notification_is_sent_to_an_unconfirmed_address(
    project: Project, people: People, bot: Actor, skill: str, box: Mailbox
) -> None:
    maja = people("maja")
    assert email_preferences.choose(maja, address="maja@example.org", wanted=WAITING)
    propose(project, bot)
    assert email.send_due() == 1
    (question,) = box.got
    assert (question["To"], question["Subject"]) == ("maja@example.org", "Confirm your email address")
    assert (email_preferences.unconfirmed_address(maja), User.objects.get(pk=maja.pk).email) == ("maja@example.org", "")
    assert email_preferences.confirm(maja, link_in(question)) == "maja@example.org"
    assert (email_preferences.unconfirmed_address(maja), User.objects.get(pk=maja.pk).email) == ("", "maja@example.org")
    propose(project, bot, "Another one.")
    assert email.send_due() == 1
    assert "proposes a change" in box.got[1]["Subject"]


def test_old_address_is_used_until_the_new_one_is_confirmed(
    project: Project, maja: User, bot: Actor, skill: str, box: Mailbox
) -> None:
    email_preferences.choose(maja, address="new@example.org", wanted=WAITING)
    propose(project, bot)
    assert email.send_due() == 2
    assert [letter["To"] for letter in box.got] == ["new@example.org", "maja@example.org"]
    email_preferences.confirm(maja, link_in(box.got[0]))
    assert User.objects.get(pk=maja.pk).email == "new@example.org"
    assert [event.verb for event in Event.objects.filter(verb__startswith="user.mail").order_by("pk")][-2:] == [
        "user.mail-chosen", "user.mail-confirmed"]  # fmt: skip


def asked_for(user: User, address: str = "new@example.org") -> str:
    """The secret in the link that would be sent."""
    email_preferences.choose(user, address=address, wanted=WAITING)
    return email.confirmation_secret(EmailConfirmation.objects.get(user=user))


@pytest.mark.parametrize("how", ["spent", "late", "forged", "cut", "another one since", "changed their mind", "none"])
def test_invalid_link_confirms_nothing(maja: User, how: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = asked_for(maja)
    match how:
        case "spent":
            email_preferences.confirm(maja, secret)
        case "late":
            later = time.time() + 86_401
            monkeypatch.setattr("django.core.signing.time.time", lambda: later)
        case "forged":
            settings.SECRET_KEY = "another" * 10
        case "cut":
            secret = secret[:-1]
        case "another one since":
            asked_for(maja, "other@example.org")
        case "changed their mind":
            email_preferences.choose(maja, address="maja@example.org", wanted=WAITING)
        case _:
            email_preferences.choose(maja, address="", wanted=WAITING)
    before = User.objects.get(pk=maja.pk).email
    with nothing_left_behind(), pytest.raises(NotFound, match="This link was used"):
        email_preferences.confirm(maja, secret)
    assert User.objects.get(pk=maja.pk).email == before


def test_link_of_another_user_confirms_nothing(maja: User, people: People) -> None:
    secret, noor = asked_for(maja), people("noor")
    with nothing_left_behind(), pytest.raises(NotFound):
        email_preferences.confirm(noor, secret)


def test_saving_the_same_address_again_sends_no_second_link_unless_requested(maja: User, box: Mailbox) -> None:
    asked_for(maja)
    email.send_due()
    with nothing_left_behind():
        assert not email_preferences.choose(maja, address="new@example.org", wanted=WAITING)
    assert not email_preferences.choose(maja, address="new@example.org", wanted=EVERYTHING)
    assert email_preferences.unconfirmed_address(maja) == "new@example.org"
    assert email.send_due() == 0
    assert email_preferences.choose(maja, address="new@example.org", wanted=EVERYTHING, again=True)
    assert email.send_due() == 1


def test_confirmation_links_are_rate_limited(maja: User) -> None:
    for number in range(5):
        email_preferences.choose(maja, address=f"stranger-{number}@example.org", wanted=WAITING)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="5 links in the last hour"):
        email_preferences.choose(maja, address="stranger@example.org", wanted=WAITING, again=True)


def test_link_is_not_sent_to_an_inactive_user(maja: User, box: Mailbox) -> None:
    asked_for(maja)
    User.objects.filter(pk=maja.pk).update(is_active=False)
    assert email.send_due() == 0
    assert EmailConfirmation.objects.get().state == DROPPED
