"""People: which names they may have, and the link that lets them in once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.core.errors import AlreadyExists, InvalidRequest, NotFound
from registry.models import SignInLink, User
from registry.services.people import accounts
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["a", "maja", "maja.lindqvist", "m_l-2", "9", "a" * 64])
def test_a_plain_name_is_taken(operator: Actor, name: str) -> None:
    user = accounts.create_user(name, by=operator)
    assert (user.username, user.has_usable_password(), user.is_staff) == (name, False, False)


@pytest.mark.parametrize(
    "name", ["", " ", "Maja", "maja ", "maja lindqvist", ".maja", "maja.", "ma..ja", "mája", "maja\n", "a/b", "a" * 65]
)
def test_a_name_that_could_be_mistaken_for_another_is_refused(operator: Actor, name: str) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="Nothing was saved"):
        accounts.create_user(name, by=operator)


def test_a_name_is_given_once_whatever_its_case(operator: Actor) -> None:
    User.objects.create(username="Maja")
    with nothing_left_behind(), pytest.raises(AlreadyExists, match="The username maja is taken"):
        accounts.create_user("maja", by=operator)


@pytest.mark.parametrize(
    ("written", "shown"), [("Maja Lindqvist", "Maja Lindqvist"), ("  Ana   de  Wit ", "Ana de Wit"), ("", "maja")]
)  # fmt: skip
def test_a_full_name_is_shown_as_a_whole(operator: Actor, written: str, shown: str) -> None:
    assert accounts.create_user("maja", full_name=written, by=operator).display_name == shown


def test_a_full_name_has_a_limit(operator: Actor) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=r"101 characters\. The limit is 100"):
        accounts.create_user("maja", full_name="x" * 101, by=operator)


def test_saving_the_same_name_is_no_change(operator: Actor) -> None:
    user = accounts.create_user("maja", full_name="Maja Lindqvist", by=operator)
    with nothing_left_behind():
        accounts.rename(user, " Maja  Lindqvist")


def test_only_the_hash_of_a_link_is_kept(operator: Actor) -> None:
    user = accounts.create_user("maja", by=operator)
    secret = accounts.make_sign_in_link(user, by=operator)
    assert secret not in str(list(SignInLink.objects.values()))
    assert accounts.peek_sign_in_link(secret, now=timezone.now()) == user


@pytest.mark.parametrize("later", [timedelta(hours=1), timedelta(days=400)])
def test_a_link_holds_for_an_hour(operator: Actor, later: timedelta) -> None:
    user = accounts.create_user("maja", by=operator)
    secret = accounts.make_sign_in_link(user, by=operator)
    almost = SignInLink.objects.get().expires_at - timedelta(microseconds=1)
    assert accounts.peek_sign_in_link(secret, now=almost) == user
    with nothing_left_behind(), pytest.raises(NotFound):
        accounts.spend_sign_in_link(secret, now=timezone.now() + later)


def test_a_link_is_spent_once(operator: Actor) -> None:
    secret = accounts.make_sign_in_link(accounts.create_user("maja", by=operator), by=operator)
    accounts.spend_sign_in_link(secret, now=timezone.now())
    with nothing_left_behind(), pytest.raises(NotFound):
        accounts.spend_sign_in_link(secret, now=timezone.now())
