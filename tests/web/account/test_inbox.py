"""The inbox: people see only their own notifications, mark them as read, and open their targets."""

import re
from collections.abc import Callable

import pytest
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.core import roles
from registry.core.notifications import events
from registry.core.text import edits
from registry.models import EmailPreference, Notification, Project, User
from registry.services import permissions
from registry.services.notifications import email, links
from registry.services.people import members
from registry.services.permissions import Actor
from registry.services.proposals import reviews
from registry.services.proposals.prepare import Suggestion
from tests import prepared
from tests.conftest import skill_bundle, skill_text
from tests.prepared import create_skill, ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in


@pytest.fixture
def propose(project: Project, operator: Actor) -> Callable[[str], int]:
    """A proposal of an agent, with words of its own."""
    create_skill(project, skill_bundle(), by=operator)
    bot = permissions.agent(ensure_agent(project, "bot", by=operator), frozenset({roles.PROPOSE}))

    def make(why: str) -> int:
        change = edits.parse(skill_md=skill_text(body=why))
        return prepared.propose(project, Suggestion("greeting", change, why), by=bot).proposal.pk

    return make


@pytest.fixture
def reviewer(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))


def text(client: Client, path: str = "/inbox/") -> str:
    return client.get(path).content.decode()


def test_inbox_lists_unread_notifications_with_links(reviewer: Client, propose: Callable[[str], int]) -> None:
    number = propose("Shorter is better.")
    page = text(reviewer)
    entry = Notification.objects.get()
    assert "bot proposes a change to greeting" in page
    assert "Shorter is better." in page
    assert "Waiting for you" in page
    answer = reviewer.get(f"/inbox/{entry.pk}/")
    assert (answer.status_code, answer["Location"]) == (302, f"/projects/demo/proposals/{number}/")
    assert reviewer.get(answer["Location"]).status_code == 200
    assert "You have read everything" in text(reviewer)
    assert "bot proposes a change" in text(reviewer, "/inbox/?show=all")


@pytest.mark.slow
def test_every_event_type_links_to_an_existing_page(
    reviewer: Client, project: Project, propose: Callable[[str], int], author: Actor
) -> None:
    number = propose("Why.")
    suggested = events.ProposalRef(number, "update", "open", 1, "", "")
    for event in events.TYPES:
        about = {"proposal": suggested} if event.startswith("proposal") else {"version": events.VersionRef("1", "")}
        news = events.Event(event, "greeting", "agent", "bot", **about)  # type: ignore[arg-type]
        assert reviewer.get(links.event_path(project.slug, news)).status_code == 200, event


def test_navigation_shows_the_number_of_unread_notifications(
    reviewer: Client, propose: Callable[[str], int], browser_client: Browser
) -> None:
    for why in ("A", "B"):
        propose(why)
    for page in ("/projects/", "/projects/demo/skills/", "/inbox/"):
        assert '2<span class="vh"> unread</span>' in text(reviewer, page)
    assert "unread</span>" not in text(browser_client(roles.VIEWER), "/projects/")


def test_decided_proposal_no_longer_waits(
    reviewer: Client, project: Project, person: Callable[[str], User], propose: Callable[[str], int]
) -> None:
    number = propose("Shorter is better.")
    assert "Waiting for you" in text(reviewer)
    reviews.reject(project, number, comment="No.", by=permissions.person(person(roles.OWNER), project))
    assert "Shorter is better." in text(reviewer)
    assert "Waiting for you" not in text(reviewer)


@pytest.mark.slow
def test_opening_a_proposal_marks_its_notifications_as_read(
    reviewer: Client, browser_client: Browser, propose: Callable[[str], int]
) -> None:
    owner = signed_in(browser_client(roles.OWNER))
    seen, other = propose("A"), propose("B")
    assert '1<span class="vh"> unread</span>' in text(reviewer, f"/projects/demo/proposals/{seen}/")
    assert list(Notification.objects.filter(read_at=None, user__username=roles.REVIEWER).values_list("proposal")) == [
        (other,)
    ]
    assert '2<span class="vh"> unread</span>' in text(owner, "/projects/")
    with nothing_left_behind():
        text(reviewer, f"/projects/demo/proposals/{seen}/")
        text(reviewer, "/projects/demo/proposals/")
        reviewer.post(f"/projects/demo/proposals/{other}/approve/", {"result_digest": "other"})
    assert '1<span class="vh"> unread</span>' in text(reviewer, "/projects/")


def test_strangers_are_sent_to_the_sign_in_page(client: Client, propose: Callable[[str], int]) -> None:
    for path in ("/inbox/", "/inbox/1/"):
        assert client.get(path)["Location"].startswith("/sign-in/")
    for path in ("/inbox/read/", "/inbox/1/read/"):
        assert client.post(path)["Location"].startswith("/sign-in/")


def test_notifications_of_other_people_are_not_found(
    reviewer: Client, propose: Callable[[str], int], browser_client: Browser
) -> None:
    propose("Private words.")
    entry = Notification.objects.get()
    for role in (roles.VIEWER, roles.AUTHOR, roles.OWNER):
        other = signed_in(browser_client(role))
        Notification.objects.filter(user__username=role).delete()
        with nothing_left_behind():
            assert "Private words." not in text(other, "/inbox/?show=all")
            assert other.get(f"/inbox/{entry.pk}/").status_code == 404
            assert other.post(f"/inbox/{entry.pk}/read/").status_code == 404
            other.post("/inbox/read/")


def test_one_or_all_are_marked_as_read(reviewer: Client, propose: Callable[[str], int]) -> None:
    for why in ("A", "B", "C"):
        propose(why)
    first = Notification.objects.order_by("pk")[0]
    assert reviewer.post(f"/inbox/{first.pk}/read/")["Location"] == "/inbox/"
    assert not Notification.objects.filter(pk=first.pk, read_at=None).exists()
    page = reviewer.post("/inbox/read/", follow=True).content.decode()
    assert "2 notifications marked as read." in page
    assert not Notification.objects.filter(read_at=None).exists()


def test_marking_as_read_takes_a_form_of_ours(browser_client: Browser, propose: Callable[[str], int]) -> None:
    client = signed_in(browser_client(roles.REVIEWER, strict=True))
    propose("A")
    with nothing_left_behind():
        assert client.post("/inbox/read/").status_code == 403
        assert client.post(f"/inbox/{Notification.objects.get().pk}/read/").status_code == 403
        assert client.get("/inbox/read/").status_code == 405


def test_notifications_of_a_project_that_the_person_left_are_not_found(
    reviewer: Client, project: Project, propose: Callable[[str], int], operator: Actor
) -> None:
    propose("Inner matters.")
    members.remove(project, User.objects.get(username="reviewer"), by=operator)
    assert "Inner matters." not in text(reviewer, "/inbox/?show=all")
    assert reviewer.get(f"/inbox/{Notification.objects.get().pk}/").status_code == 404


def test_hostile_text_is_escaped(reviewer: Client, propose: Callable[[str], int]) -> None:
    propose("<script>alert(1)</script> \u202eevil")
    page = text(reviewer)
    assert "<script>alert(1)" not in page
    assert "\u202e" not in page


def test_a_long_inbox_has_pages_and_no_more_queries(
    reviewer: Client, project: Project, propose: Callable[[str], int]
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert reviewer.get("/inbox/").status_code == 200
        return len(captured)

    number = propose("A")
    few = queries()
    one = Notification.objects.get()
    Notification.objects.bulk_create(
        Notification(
            user=one.user,
            project=project,
            proposal_id=number,
            event=one.event,
            title=f"T{i}",
            skill="greeting",
            actor="a",
        )
        for i in range(70)
    )
    assert queries() == few
    assert "1 to 30 of 71" in text(reviewer)
    assert "T69" not in text(reviewer, "/inbox/?page=2")
    assert "61 to 71 of 71" in text(reviewer, "/inbox/?page=99")


def test_htmx_gets_the_rows_alone(reviewer: Client, propose: Callable[[str], int]) -> None:
    propose("A")
    page = reviewer.get("/inbox/", headers={"HX-Request": "true"}).content.decode()
    assert "bot proposes" in page
    assert "<html" not in page


def test_email_is_chosen_on_the_account_page_and_the_address_is_confirmed_by_its_link(
    browser_client: Browser, mailoutbox: list[EmailMessage]
) -> None:
    client, other = signed_in(browser_client(roles.VIEWER)), signed_in(browser_client(roles.AUTHOR))
    assert 'value="waiting" selected' in text(client, "/account/")
    answer = client.post("/account/mail/", {"address": "v@example.org", "wanted": "everything"}, follow=True)
    html = answer.content.decode()
    assert "We sent a link to v@example.org." in html
    assert "v@example.org is not confirmed yet." in html
    assert EmailPreference.objects.get().choice == "everything"
    email.send_due()
    link = re.search(r"(/account/mail/\S+)", str(mailoutbox[0].body))
    assert link is not None
    strict = browser_client(roles.VIEWER, strict=True)
    assert Client().get(link[1]).status_code == 302
    with nothing_left_behind():
        assert other.get(link[1]).status_code == 404
        assert other.post(link[1]).status_code == 404
        assert "Confirm v@example.org" in text(client, link[1])
        assert strict.post(link[1]).status_code == 403
    assert User.objects.get(username="viewer").email == ""
    answer = client.post(link[1], follow=True)
    assert "Address confirmed. Your email now goes to v@example.org." in answer.content.decode()
    assert User.objects.get(username="viewer").email == "v@example.org"
    assert "not confirmed yet" not in text(client, "/account/")
    with nothing_left_behind():
        assert "This link no longer works" in client.post(link[1]).content.decode()


def test_another_link_is_sent_on_request(browser_client: Browser, mailoutbox: list[EmailMessage]) -> None:
    client = signed_in(browser_client(roles.VIEWER))
    given = {"address": "v@example.org", "wanted": "everything"}
    client.post("/account/mail/", given)
    client.post("/account/mail/", given)
    email.send_due()
    assert len(mailoutbox) == 1
    client.post("/account/mail/", {**given, "again": "yes"})
    email.send_due()
    assert [letter.to for letter in mailoutbox] == [["v@example.org"]] * 2
    assert mailoutbox[0].body != mailoutbox[1].body


@pytest.mark.parametrize(
    "given", [{"address": "no address", "wanted": "waiting"}, {"address": "v@example.org", "wanted": "x"}, {}]
)
def test_invalid_email_preferences_are_refused_and_the_form_keeps_its_values(
    browser_client: Browser, given: dict[str, str]
) -> None:
    client = signed_in(browser_client(roles.VIEWER))
    with nothing_left_behind():
        answer = client.post("/account/mail/", given)
    assert answer.status_code == 422
    assert f'value="{given.get("address", "")}"' in answer.content.decode() or not given
