"""Signing in with a password or a link, the limits for wrong passwords, and signing out."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from registry.core.errors import RateLimited
from registry.models import Event, SignInLink, User
from registry.services import counters
from registry.services.people import accounts, password_throttle
from registry.services.permissions import Actor
from registry.web.account.accounts import SignInForm
from tests.services.footprint import nothing_left_behind
from tests.web.account.signing_in import PASSWORD, enter, is_in


def test_the_right_password_signs_in_and_is_recorded(maja: User) -> None:
    client = Client()
    assert enter(client)["Location"] == "/projects/"
    assert is_in(client)
    event = Event.objects.get(verb="signed-in")
    assert (event.target, event.data) == ("maja", {"with": "password"})


@pytest.mark.parametrize(("username", "password"), [("maja", "wrong"), ("nobody", PASSWORD), ("", ""), ("maja", "")])
def test_a_wrong_name_and_a_wrong_password_sound_the_same(maja: User, username: str, password: str) -> None:
    client = Client()
    with nothing_left_behind():
        response = enter(client, password, username)
    page = response.content.decode()
    assert response.status_code == 422
    assert ("Wrong username or password" in page) == bool(username and password)
    assert "lease" not in page.replace("release", "")
    assert not is_in(client)


def test_a_deactivated_person_gets_the_same_error_as_a_wrong_password(maja: User) -> None:
    User.objects.filter(pk=maja.pk).update(is_active=False)
    response = enter(Client())
    assert response.status_code == 422
    assert "Wrong username or password" in response.content.decode()


@pytest.mark.parametrize("username", ["maja", "MAJA", "nobody"])
def test_a_name_rests_in_a_network_after_ten_wrong_passwords_whether_it_exists_or_not(
    maja: User, username: str
) -> None:
    for _ in range(password_throttle.PER_NAME_AND_NETWORK):
        assert enter(Client(), "wrong", username).status_code == 422
    response = enter(Client(), PASSWORD, username)
    assert response.status_code == 429
    assert response["Retry-After"] == "900"
    assert "Too many wrong passwords. Wait 15 minutes" in response.content.decode()
    assert f'value="{username}"' in response.content.decode()  # nobody has to type it again


# The form takes all of them for “maja”.
SPELLINGS = (
    " maja", "maja ", "\tmaja", "maja\n", "\u00a0maja", "\u3000maja\u2003", "ｍａｊａ", "ｍaja", "𝐦𝐚𝐣𝐚", "ⓜⓐⓙⓐ",
    "ma\u02b2a", "  ｍaｊa  ", "maja\x1f",
)  # fmt: skip


def test_other_spellings_of_a_name_do_not_walk_around_the_limit(maja: User) -> None:
    assert all(enter(Client(), PASSWORD, spelling).status_code == 302 for spelling in SPELLINGS)
    for spelling in SPELLINGS[: password_throttle.PER_NAME_AND_NETWORK]:
        assert enter(Client(), "wrong", spelling).status_code == 422
    assert {enter(Client(), PASSWORD, spelling).status_code for spelling in SPELLINGS} == {429}


@given(st.text(max_size=160))
def test_two_texts_that_the_form_takes_for_one_name_are_counted_as_one(text: str) -> None:
    try:
        cleaned = SignInForm().fields["username"].clean(text)
    except ValidationError:
        return
    assert password_throttle.normalise(text) == password_throttle.normalise(cleaned)


def test_a_stranger_cannot_lock_a_person_out(maja: User) -> None:
    for number in range(2 * password_throttle.PER_NAME_AND_NETWORK):
        for network in range(9):
            with suppress(RateLimited):
                password_throttle.attempt("maja", address=f"192.0.2.{network}")
        assert enter(Client(), REMOTE_ADDR="198.51.100.7").status_code == 302, number


@pytest.mark.parametrize("name", ["Änne-Weiß", "ИГОРЬ"])
def test_a_name_with_other_letters_is_known_where_its_owner_signed_in(db: None, name: str) -> None:
    User.objects.create_user(name, password=PASSWORD)
    assert enter(Client(), PASSWORD, name, REMOTE_ADDR="198.51.100.7").status_code == 302
    for number in range(password_throttle.PER_NAME + 1):
        with suppress(RateLimited):
            password_throttle.attempt(name, address=f"192.0.2.{number}")
    assert enter(Client(), PASSWORD, name, REMOTE_ADDR="203.0.113.9").status_code == 429
    assert enter(Client(), PASSWORD, name, REMOTE_ADDR="198.51.100.7").status_code == 302
    assert {event.target for event in Event.objects.filter(verb="sign-in.refused")} == {name}


def test_a_name_that_many_networks_try_rests_only_where_its_owner_never_signed_in(maja: User) -> None:
    assert enter(Client(), REMOTE_ADDR="198.51.100.7").status_code == 302
    for number in range(password_throttle.PER_NAME + 1):
        with suppress(RateLimited):
            password_throttle.attempt("maja", address=f"192.0.2.{number}")
    assert enter(Client(), REMOTE_ADDR="203.0.113.9").status_code == 429
    assert enter(Client(), REMOTE_ADDR="198.51.100.7").status_code == 302
    for _ in range(password_throttle.PER_NAME_AND_NETWORK):
        assert enter(Client(), "wrong", REMOTE_ADDR="198.51.100.7").status_code == 422
    assert enter(Client(), REMOTE_ADDR="198.51.100.7").status_code == 429
    assert {event.data["counted_by"] for event in Event.objects.filter(verb="sign-in.refused")} == {
        "name", "name and address",
    }  # fmt: skip


def test_an_address_rests_after_fifty_wrong_passwords_whatever_the_names(maja: User) -> None:
    for number in range(password_throttle.PER_NETWORK - 1):
        password_throttle.attempt(f"name-{number}", address="127.0.0.1")
    assert enter(Client(), "wrong", "one-more").status_code == 422
    assert enter(Client()).status_code == 429
    assert enter(Client(), REMOTE_ADDR="192.0.2.1").status_code == 302


@pytest.mark.parametrize(
    ("same", "other"), [("2001:db8:1:2:ffff::9", "2001:db8:1:3::1"), ("2001:db8:1:2::1", "192.0.2.1")]
)
def test_the_addresses_of_one_subscriber_are_counted_as_one(maja: User, same: str, other: str) -> None:
    for number in range(password_throttle.PER_NETWORK):
        password_throttle.attempt(f"name-{number}", address=f"2001:db8:1:2::{number:x}")
    assert enter(Client(), REMOTE_ADDR=same).status_code == 429
    assert enter(Client(), REMOTE_ADDR=other).status_code == 302


def test_being_refused_is_recorded_once_and_without_a_mistyped_password(maja: User) -> None:
    for _ in range(password_throttle.PER_NAME_AND_NETWORK):
        password_throttle.attempt("hunter2-is-my-password", address="127.0.0.1")
    for _ in range(3):
        assert enter(Client(), "x", "hunter2-is-my-password").status_code == 429
    event = Event.objects.get(verb="sign-in.refused")
    assert (event.target, event.data) == ("", {"counted_by": "name and address", "address": "127.0.0.1"})


def test_the_right_password_starts_the_count_of_the_name_anew(maja: User) -> None:
    for _ in range(3):
        for _ in range(password_throttle.PER_NAME_AND_NETWORK - 1):
            password_throttle.attempt("maja", address="127.0.0.1")
        assert enter(Client()).status_code == 302
    assert cache.get(password_throttle._key("address", "127.0.0.1")) == 3 * (password_throttle.PER_NAME_AND_NETWORK - 1)


@pytest.fixture
def unreachable_cache(settings: Any) -> Iterator[None]:
    """Use the address of a Redis server that does not run."""
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    }
    yield
    counters.clear_local()


@pytest.mark.slow
@pytest.mark.usefixtures("unreachable_cache")
def test_without_the_shared_cache_people_sign_in_and_passwords_are_still_throttled(maja: User) -> None:
    client = Client()
    assert enter(client)["Location"] == "/projects/"
    for page in ("/projects/", "/account/", "/inbox/"):
        assert client.get(page).status_code == 200
    for _ in range(password_throttle.PER_NAME_AND_NETWORK):
        assert enter(Client(), "wrong").status_code == 422
    assert enter(Client()).status_code == 429
    assert enter(Client(), "wrong", "nobody").status_code == 422
    assert client.get("/account/").status_code == 200


@pytest.mark.parametrize("following", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "\\\\evil"])
def test_signing_in_never_leads_to_another_site(maja: User, following: str) -> None:
    assert enter(Client(), fields={"next": following})["Location"] == "/projects/"


def test_signing_in_redirects_to_the_requested_page(maja: User) -> None:
    assert enter(Client(), fields={"next": "/account/"})["Location"] == "/account/"


def test_a_sign_in_form_of_another_site_is_refused(maja: User) -> None:
    assert enter(Client(enforce_csrf_checks=True)).status_code == 403


def test_the_session_key_changes_when_somebody_signs_in(maja: User) -> None:
    client = Client()
    client.session["before"] = True
    before = client.session
    before.save()
    client.cookies["sessionid"] = before.session_key
    enter(client)
    assert client.cookies["sessionid"].value != before.session_key
    assert not Session.objects.filter(session_key=before.session_key).exists()


def test_signing_out_takes_a_post(maja: User) -> None:
    client = Client()
    enter(client)
    assert client.get("/sign-out/").status_code == 405
    assert is_in(client)
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert not is_in(client)


# -- Links --------------------------------------------------------------------------------------------------


@pytest.fixture
def link(maja: User, operator: Actor) -> str:
    return f"/sign-in/{accounts.make_sign_in_link(maja, by=operator)}/"


@pytest.mark.parametrize("method", ["get", "head"])
def test_looking_at_a_link_does_not_spend_it(link: str, method: str) -> None:
    with nothing_left_behind():
        response = getattr(Client(), method)(link)
    assert response.status_code == 200
    # Without any referrer a browser sends no origin either, and the form would be refused.
    assert response["Referrer-Policy"] == "same-origin"
    assert "no-store" in response["Cache-Control"]


def test_a_link_signs_in_once(link: str) -> None:
    first, second = Client(), Client()
    assert "Sign in as Maja Lindqvist" in first.get(link).content.decode()
    assert first.post(link)["Location"] == "/projects/"
    assert is_in(first)
    assert second.post(link).status_code == 404
    assert second.get(link).status_code == 404
    assert not is_in(second)
    assert Event.objects.get(verb="signed-in").data == {"with": "link"}


@pytest.mark.parametrize("how", ["expired", "unknown", "shut out"])
def test_an_invalid_sign_in_link_signs_nobody_in(link: str, maja: User, how: str) -> None:
    if how == "expired":
        SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "unknown":
        SignInLink.objects.all().delete()
    else:
        User.objects.filter(pk=maja.pk).update(is_active=False)
    client = Client()
    with nothing_left_behind():
        for response in (client.get(link), client.post(link)):
            assert response.status_code == 404
            assert "This link no longer works" in response.content.decode()
            assert "Maja" not in response.content.decode()
    assert not is_in(client)


def test_a_link_needs_the_token_of_its_form(link: str) -> None:
    with nothing_left_behind():
        assert Client(enforce_csrf_checks=True).post(link).status_code == 403
