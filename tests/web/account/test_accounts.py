"""The account page: name, password and colour theme."""

import pytest
from django.test import Client
from django.utils import timezone

from registry.models import Project, User
from registry.services.people import accounts, password_throttle, sessions
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind
from tests.web.account.signing_in import PASSWORD, enter, is_in

CHANGE = {"current": PASSWORD, "new": "another horse 8", "again": "another horse 8"}


def test_the_name_can_be_changed(browser: Client, maja: User) -> None:
    assert browser.post("/account/name/", {"full_name": " Maja   de  Wit "})["Location"] == "/account/"
    maja.refresh_from_db()
    assert maja.display_name == "Maja de Wit"


@pytest.mark.parametrize("name", ["", "   ", "x" * 101])
def test_a_name_that_cannot_be_kept_is_refused(browser: Client, name: str) -> None:
    with nothing_left_behind():
        assert browser.post("/account/name/", {"full_name": name}).status_code == 422


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
    for _ in range(password_throttle.PER_NAME_AND_NETWORK - 1):
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


@pytest.mark.parametrize(("theme", "kept"), [("dark", "dark"), ("light", "light"), ("", ""), ("<b>", "")])
def test_the_colours_are_kept_in_a_cookie(browser: Client, theme: str, kept: str) -> None:
    response = browser.post("/theme/", {"theme": theme}, headers={"Referer": "http://testserver/account/"})
    assert response["Location"] == "http://testserver/account/"
    assert response.cookies["theme"].value == kept


def test_choosing_colours_never_leads_to_another_site(browser: Client) -> None:
    response = browser.post("/theme/", {"theme": "dark"}, headers={"Referer": "https://evil.example/"})
    assert response["Location"] == "/projects/"
