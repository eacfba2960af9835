"""People and the links that let them in once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.core.errors import AlreadyExists, InvalidRequest, NotFound
from registry.models import Event, SignInLink, User
from registry.services import accounts
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def ada(db: None, operator: Actor) -> User:
    return accounts.create_user("ada", full_name="Ada Okafor", by=operator)


@pytest.fixture
def secret(ada: User, operator: Actor) -> str:
    return accounts.make_sign_in_link(ada, by=operator)


def test_a_new_person_has_no_password(ada: User) -> None:
    assert not ada.has_usable_password()
    assert ada.display_name == "Ada Okafor"


@pytest.mark.parametrize("name", ["ada", "Ada", "", "a b", "-ada", "ada\n", "x" * 65, "ä", "../ada"])
def test_a_name_that_is_taken_or_odd_is_refused(ada: User, operator: Actor, name: str) -> None:
    with nothing_left_behind(), pytest.raises((AlreadyExists, InvalidRequest)):
        accounts.create_user(name, by=operator)


def test_the_secret_of_a_link_is_not_stored(ada: User, secret: str) -> None:
    assert secret not in str(SignInLink.objects.values().get())


def test_looking_at_a_link_does_not_spend_it(ada: User, secret: str) -> None:
    now = timezone.now()
    with nothing_left_behind():
        assert accounts.peek_sign_in_link(secret, now=now) == ada
    assert accounts.spend_sign_in_link(secret, now=now) == ada


@pytest.mark.parametrize("act", [accounts.peek_sign_in_link, accounts.spend_sign_in_link])
def test_a_link_works_once(ada: User, secret: str, act: Callable[..., User]) -> None:
    accounts.spend_sign_in_link(secret, now=timezone.now())
    with nothing_left_behind(), pytest.raises(NotFound):
        act(secret, now=timezone.now())


@pytest.mark.parametrize("act", [accounts.peek_sign_in_link, accounts.spend_sign_in_link])
def test_a_link_is_good_for_an_hour(ada: User, secret: str, act: Callable[..., User]) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        act(secret, now=SignInLink.objects.get().expires_at)
    assert SignInLink.objects.get().expires_at - SignInLink.objects.get().created_at == timedelta(hours=1)


@pytest.mark.parametrize("guess", ["", "x", "é", "a\0b", "x" * 10_000])
def test_a_guess_opens_nothing(ada: User, secret: str, guess: str) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        accounts.spend_sign_in_link(guess, now=timezone.now())


def test_somebody_who_may_not_sign_in_is_not_let_in_by_a_link(ada: User, secret: str) -> None:
    User.objects.filter(pk=ada.pk).update(is_active=False)
    with nothing_left_behind(), pytest.raises(NotFound):
        accounts.spend_sign_in_link(secret, now=timezone.now())


@pytest.mark.parametrize("act", ["signed-in", "password.set", "user.renamed"])
def test_what_people_do_to_their_own_account_leaves_one_event(ada: User, secret: str, act: str) -> None:
    before = Event.objects.count()
    if act == "signed-in":
        accounts.spend_sign_in_link(secret, now=timezone.now())
    elif act == "password.set":
        accounts.set_password(ada, "a long enough password")
    else:
        accounts.rename(ada, "Ada Lovelace")
    event = Event.objects.order_by("-pk").first()
    assert event is not None
    assert (Event.objects.count(), event.verb, event.user_id) == (before + 1, act, ada.pk)
