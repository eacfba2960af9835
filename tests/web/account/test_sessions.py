"""The list of sessions on the account page: browsers, last visits, and ending sessions."""

from collections.abc import Callable
from datetime import timedelta

from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.models import BrowserSession, Event, User
from registry.services.people import sessions
from tests.services.footprint import nothing_left_behind
from tests.web.account.signing_in import PASSWORD, enter, is_in


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


def test_a_hostile_browser_name_is_text(maja: User) -> None:
    client = Client()
    client.post("/sign-in/", {"username": "maja", "password": PASSWORD}, headers={"User-Agent": "<script>x</script>"})
    assert "<script>x" not in client.get("/account/").content.decode()
