"""Signing in, by password and by link; the account page; sessions."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.models import BrowserSession, Event, Project, SignInLink, User
from registry.services import counters
from registry.services.people import accounts, password_throttle, sessions
from registry.services.permissions import Actor
from registry.web import user_agent
from tests.remembered import remembered
from tests.services.footprint import nothing_left_behind

PASSWORD = "correct horse 9"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
@remembered
def maja(project: Project, operator: Actor) -> User:
    user = accounts.create_user("maja", full_name="Maja Lindqvist", by=operator)
    accounts.set_password(user, PASSWORD)
    return user


def enter(client: Client, password: str = PASSWORD, username: str = "maja", **more: Any) -> Any:
    fields = {"username": username, "password": password, **more.pop("fields", {})}
    return client.post("/sign-in/", fields, headers={"User-Agent": FIREFOX}, **more)


def is_in(client: Client) -> bool:
    return bool(client.get("/projects/").status_code == 200)


# -- By password --------------------------------------------------------------------------------------------


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
def test_a_name_rests_after_ten_wrong_passwords_whether_it_exists_or_not(maja: User, username: str) -> None:
    for number in range(password_throttle.PER_NAME - 1):
        password_throttle.attempt(username, address=f"192.0.2.{number}")
    assert enter(Client(), "wrong", username).status_code == 422
    response = enter(Client(), PASSWORD, username, REMOTE_ADDR="192.0.2.200")
    assert response.status_code == 429
    assert response["Retry-After"] == "900"
    assert "Too many wrong passwords. Wait 15 minutes" in response.content.decode()


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
    for _ in range(password_throttle.PER_NAME):
        password_throttle.attempt("hunter2-is-my-password", address="127.0.0.1")
    for _ in range(3):
        assert enter(Client(), "x", "hunter2-is-my-password").status_code == 429
    event = Event.objects.get(verb="sign-in.refused")
    assert (event.target, event.data) == ("", {"counted_by": "name", "address": "127.0.0.1"})


def test_the_right_password_starts_the_count_of_the_name_anew(maja: User) -> None:
    for _ in range(3):
        for _ in range(password_throttle.PER_NAME - 1):
            password_throttle.attempt("maja", address="127.0.0.1")
        assert enter(Client()).status_code == 302
    assert cache.get(password_throttle._key("address", "127.0.0.1")) == 3 * (password_throttle.PER_NAME - 1)


@pytest.fixture
def unreachable_cache(settings: Any) -> Iterator[None]:
    """A Redis that nobody listens for."""
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
    for _ in range(password_throttle.PER_NAME):
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


# -- By link ------------------------------------------------------------------------------------------------


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


# -- The account page ---------------------------------------------------------------------------------------


@pytest.fixture
def browser(maja: User) -> Client:
    client = Client()
    enter(client)
    client.get("/account/")
    return client


def test_the_name_can_be_changed(browser: Client, maja: User) -> None:
    assert browser.post("/account/name/", {"full_name": " Maja   de  Wit "})["Location"] == "/account/"
    maja.refresh_from_db()
    assert maja.display_name == "Maja de Wit"


@pytest.mark.parametrize("name", ["", "   ", "x" * 101])
def test_a_name_that_cannot_be_kept_is_refused(browser: Client, name: str) -> None:
    with nothing_left_behind():
        assert browser.post("/account/name/", {"full_name": name}).status_code == 422


CHANGE = {"current": PASSWORD, "new": "another horse 8", "again": "another horse 8"}


def test_a_new_password_ends_every_other_session(browser: Client, maja: User) -> None:
    other = Client()
    enter(other)
    assert browser.post("/account/password/", CHANGE)["Location"] == "/account/"
    assert "Password set. 1 other session signed out." in browser.get("/account/").content.decode()
    assert not is_in(other)
    assert [session.session_key for session in sessions.list_active(maja, now=timezone.now())] == [
        browser.session.session_key
    ]
    assert enter(Client()).status_code == 422
    assert enter(Client(), CHANGE["new"]).status_code == 302


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"current": ""}, "Enter your current password."),
        ({"current": "wrong"}, "This is not your current password."),
        ({"again": "something else"}, "The two passwords are different."),
        ({"new": "short", "again": "short"}, "too short"),
        ({"new": "password123", "again": "password123"}, "too common"),
        ({"new": "maja lindqvist", "again": "maja lindqvist"}, "too similar"),
    ],
)
def test_a_password_that_cannot_be_set_changes_nothing(browser: Client, values: dict[str, str], said: str) -> None:
    with nothing_left_behind():
        response = browser.post("/account/password/", {**CHANGE, **values})
    assert response.status_code == 422
    assert said in response.content.decode()
    assert PASSWORD not in response.content.decode()


def test_the_current_password_cannot_be_tried_out(browser: Client) -> None:
    for _ in range(password_throttle.PER_NAME - 1):
        password_throttle.attempt("maja", address="127.0.0.1")
    assert browser.post("/account/password/", {**CHANGE, "current": "wrong"}).status_code == 422
    assert browser.post("/account/password/", CHANGE).status_code == 429


def test_a_person_without_a_password_sets_one_without_an_old_one(project: Project, operator: Actor) -> None:
    user = accounts.create_user("new", by=operator)
    client = Client()
    client.post(f"/sign-in/{accounts.make_sign_in_link(user, by=operator)}/")
    page = client.get("/account/").content.decode()
    assert "You have no password yet." in page
    assert "Current password" not in page
    assert client.post("/account/password/", {"new": PASSWORD, "again": PASSWORD}).status_code == 302
    assert "Current password" in client.get("/account/").content.decode()


@pytest.mark.parametrize(
    "address",
    ["/account/", "/account/name/", "/account/password/", "/account/sessions/1/end/", "/account/sessions/end-others/"],
)
def test_a_stranger_has_no_account_page(maja: User, address: str) -> None:
    for response in (Client().get(address), Client().post(address)):
        assert (response.status_code, response["Location"].startswith("/sign-in/")) == (302, True)


@pytest.mark.parametrize("address", ["/account/name/", "/account/password/", "/account/sessions/end-others/"])
def test_account_forms_of_another_site_are_refused(maja: User, address: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(maja)
    client.get("/account/")
    with nothing_left_behind():
        assert client.post(address, {**CHANGE, "full_name": "Evil"}).status_code == 403


# -- Sessions -----------------------------------------------------------------------------------------------


def test_the_account_page_lists_all_sessions(browser: Client) -> None:
    enter(Client(), REMOTE_ADDR="192.0.2.7")
    page = browser.get("/account/").content.decode()
    assert page.count("Firefox on Linux") >= 2
    assert "192.0.2.7" in page
    assert page.count("This browser</span>") == 1


def test_ending_a_session_signs_that_browser_out(browser: Client) -> None:
    other = Client()
    enter(other)
    row = BrowserSession.objects.get(session_key=other.session.session_key)
    assert browser.post(f"/account/sessions/{row.pk}/end/").status_code == 302
    assert not is_in(other)
    assert is_in(browser)
    assert Event.objects.filter(verb="session.ended", target="maja").count() == 1
    assert browser.post(f"/account/sessions/{row.pk}/end/").status_code == 404


def test_the_session_of_another_person_cannot_be_ended(browser: Client, browser_client: Callable[..., Client]) -> None:
    row = BrowserSession.objects.get(session_key=browser.session.session_key)
    owner = browser_client(roles.OWNER)
    owner.get("/account/")
    with nothing_left_behind():
        assert owner.post(f"/account/sessions/{row.pk}/end/").status_code == 404
    assert is_in(browser)


def test_ending_all_others_keeps_this_one(browser: Client) -> None:
    others = [Client(), Client()]
    for other in others:
        enter(other)
    browser.post("/account/sessions/end-others/")
    assert "2 sessions signed out. You are signed in here only." in browser.get("/account/").content.decode()
    assert [is_in(other) for other in others] == [False, False]


def test_a_session_that_ended_by_itself_is_not_listed(browser: Client, maja: User) -> None:
    other = Client()
    enter(other)
    other.post("/sign-out/")
    assert len(sessions.list_active(maja, now=timezone.now())) == 1
    enter(Client())
    assert BrowserSession.objects.filter(user=maja).count() == 2


def test_a_visit_moves_the_time_of_the_last_one_at_most_every_few_minutes(browser: Client) -> None:
    long_ago = timezone.now() - timedelta(days=2)
    BrowserSession.objects.update(last_seen_at=long_ago)
    browser.get("/projects/")
    assert BrowserSession.objects.get().last_seen_at == long_ago
    cache.clear()
    browser.get("/projects/")
    assert BrowserSession.objects.get().last_seen_at > long_ago


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (FIREFOX, "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140 Safari/537 Edg/140", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19 Mobile Safari/604", "Safari on iOS"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/140 Mobile Safari/537", "Chrome on Android"),
        ("curl/8.1", "curl/8.1"),
        ("", ""),
        ("<script>" * 50, ("<script>" * 50)[:60]),
    ],
)  # fmt: skip
def test_a_session_is_described_by_its_user_agent(header: str, said: str) -> None:
    assert user_agent.describe(header) == said


def test_a_hostile_browser_name_is_text(maja: User) -> None:
    client = Client()
    client.post("/sign-in/", {"username": "maja", "password": PASSWORD}, headers={"User-Agent": "<script>x</script>"})
    assert "<script>x" not in client.get("/account/").content.decode()


@pytest.mark.parametrize(
    ("behind", "header", "said"),
    [
        (False, "203.0.113.9", "127.0.0.1"),
        (True, "203.0.113.9, 198.51.100.4", "198.51.100.4"),
        (True, "", "127.0.0.1"),
    ],
)
def test_a_forwarded_address_counts_only_behind_a_proxy(
    rf: Any, settings: Any, behind: bool, header: str, said: str
) -> None:
    settings.BEHIND_PROXY = behind
    assert user_agent.address(rf.get("/", headers={"X-Forwarded-For": header})) == said


# -- Colours ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("theme", "kept"), [("dark", "dark"), ("light", "light"), ("", ""), ("<b>", "")])
def test_the_colours_are_kept_in_a_cookie(browser: Client, theme: str, kept: str) -> None:
    response = browser.post("/theme/", {"theme": theme}, headers={"Referer": "http://testserver/account/"})
    assert response["Location"] == "http://testserver/account/"
    assert response.cookies["theme"].value == kept


def test_choosing_colours_never_leads_to_another_site(browser: Client) -> None:
    response = browser.post("/theme/", {"theme": "dark"}, headers={"Referer": "https://evil.example/"})
    assert response["Location"] == "/projects/"
