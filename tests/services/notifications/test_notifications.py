"""Recipients of notifications, the inbox, and email."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Forbidden, InvalidRequest, NotFound, SkillsiteError
from registry.core.notifications import events
from registry.core.text import edits
from registry.models import (
    Agent,
    EmailConfirmation,
    EmailPreference,
    Event,
    Membership,
    Notification,
    NotificationEmail,
    Project,
    Proposal,
    User,
)
from registry.models.notifications import EVERYTHING, NOTHING, WAITING
from registry.models.outgoing import DROPPED, FAILED, PENDING, SENT
from registry.services import permissions
from registry.services.agents import agents, tokens
from registry.services.notifications import email, email_preferences, links, notifications, retries
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from registry.services.proposals import proposals, rebasing, review_queue, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills, versions
from tests.conftest import skill_bundle, skill_text
from tests.remembered import remembered
from tests.services.footprint import nothing_left_behind
from tests.services.mailboxes import Mailbox, free_port, mailbox

FIVE = "One\nTwo\nThree\nFour\nFive\n"
People = Callable[[str], User]


@pytest.fixture
def people(project: Project, operator: Actor) -> People:
    """Members by name; those called after a role have it, others review."""

    def make(name: str) -> User:
        found = User.objects.filter(username=name).first()
        if found is None:
            found = accounts.create_user(name, full_name=f"{name.capitalize()} Somebody", by=operator)
            members.set_role(project, found, name if name in roles.ROLES else roles.REVIEWER, by=operator)
        return found

    return make


@pytest.fixture
def acting(project: Project, people: People) -> Callable[[str], Actor]:
    return lambda name: permissions.person(people(name), project)


@pytest.fixture
def bot(project: Project, operator: Actor) -> Actor:
    return permissions.agent(agents.ensure(project, "bot", by=operator), frozenset({roles.READ, roles.PROPOSE}))


@pytest.fixture
@remembered
def skill(project: Project, operator: Actor) -> str:
    return skills.create(project, skill_bundle(body=FIVE), by=operator).version.digest


def suggested(body: str = "Uno\nTwo\nThree\n", why: str = "It is better.") -> Suggestion:
    return Suggestion("greeting", edits.parse(skill_md=skill_text(body=body)), why)


def propose(project: Project, by: Actor, body: str = "Uno\nTwo\nThree\n") -> Proposal:
    return proposals.propose(project, suggested(body), by=by).proposal


def told(name: str) -> list[tuple[str, bool]]:
    return [(n.event, n.waits) for n in Notification.objects.filter(user__username=name).order_by("pk")]


def everybody() -> set[str]:
    return set(Notification.objects.values_list("user__username", flat=True))


# -- Recipients ----------------------------------------------------------------------------------------------


def test_only_reviewers_and_owners_are_notified_about_a_new_proposal(
    project: Project, people: People, bot: Actor, skill: str
) -> None:
    for name in ("viewer", "author", "reviewer", "owner"):
        people(name)
    made = propose(project, bot)
    assert everybody() == {"reviewer", "owner"}
    notice = Notification.objects.get(user__username="reviewer")
    assert (notice.title, notice.text) == ("bot proposes a change to greeting", "It is better.")
    assert (links.notification_path(notice), notice.waits, notice.by_agent) == (
        f"/projects/demo/proposals/{made.pk}/",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("kind", "title"), [("create", "bot proposes a new skill, fresh"), ("delete", "bot proposes to delete greeting")]
)
def test_the_title_says_what_kind_of_change_it_is(
    project: Project, people: People, bot: Actor, skill: str, kind: str, title: str
) -> None:
    people("reviewer")
    edit = edits.parse(skill_md=skill_text("fresh")) if kind == "create" else None
    proposals.propose(project, Suggestion("fresh" if edit else "greeting", edit, "Why.", kind=kind), by=bot)
    assert Notification.objects.get().title == title


def test_the_actor_is_not_notified(project: Project, acting: Any, people: People, skill: str) -> None:
    people("owner")
    made = propose(project, acting("reviewer"))
    proposals.comment(project, made.pk, "What do you think?", by=acting("reviewer"))
    assert everybody() == {"owner"}
    assert Notification.objects.get().title == "Reviewer Somebody proposes a change to greeting"


def test_proposal_does_not_wait_for_the_maker_of_its_agents_token(
    project: Project, people: People, acting: Any, bot: Actor, skill: str
) -> None:
    people("reviewer")
    tokens.create_token(project, agent=Agent.objects.get(pk=bot.agent_id), by=acting("owner"))
    propose(project, bot)
    assert told("owner") == [(events.OPENED, False)]
    assert told("reviewer") == [(events.OPENED, True)]


@pytest.mark.parametrize("with_token", [True, False], ids=["sent with the token", "sent from the page"])
def test_proposal_does_not_wait_for_the_maker_of_a_token_for_its_author(
    project: Project, people: People, acting: Any, skill: str, box: Mailbox, with_token: bool
) -> None:
    """The maker of the token could have sent the proposal in the author's name, so somebody else has to approve it."""
    reviewer = gets_mail(people("reviewer"), "reviewer@example.org")
    gets_mail(people("owner"), "owner@example.org")
    author, owner = acting("author"), acting("owner")
    tokens.create_token(project, user=people("author"), scopes=(roles.PROPOSE,), by=owner)
    made = propose(project, replace(author, maker_id=owner.user_id) if with_token else author)
    with pytest.raises(Forbidden):
        reviews.may_decide(project, made.pk, approving=True, by=owner)
    assert told("owner") == [(events.OPENED, False)]
    assert told(reviewer.username) == [(events.OPENED, True)]
    assert review_queue.waiting(project, by=owner) == 0
    assert review_queue.waiting(project, by=acting("reviewer")) == 1
    assert [row.own for row in review_queue.rows([made], by=owner)] == [True]
    email.send_due()
    assert [letter["To"] for letter in box.got] == ["reviewer@example.org"]


def test_token_for_the_author_in_another_project_does_not_matter(
    project: Project, other_project: Project, people: People, acting: Any, operator: Actor, skill: str
) -> None:
    owner, author = people("owner"), people("author")
    for user in (owner, author):
        members.set_role(other_project, user, roles.OWNER, by=operator)
    tokens.create_token(other_project, user=author, by=permissions.person(owner, other_project))
    propose(project, acting("author"))
    assert told("owner") == [(events.OPENED, True)]
    assert review_queue.waiting(project, by=acting("owner")) == 1


def test_joining_a_proposal_notifies_nobody(
    project: Project, people: People, acting: Any, bot: Actor, skill: str
) -> None:
    people("reviewer")
    propose(project, bot)
    before = Notification.objects.count()
    assert proposals.propose(project, suggested(), by=acting("author")).joined
    assert Notification.objects.count() == before


@pytest.mark.parametrize(
    ("decide", "event", "waits"),
    [
        (lambda p, m, by: reviews.reject(p, m.pk, comment="No.", by=by), events.REJECTED, False),
        (lambda p, m, by: reviews.request_changes(p, m.pk, comment="No.", by=by), events.CHANGES_REQUESTED, True),
        (lambda p, m, by: reviews.approve(p, m.pk, result_digest=m.result_digest, by=by), events.APPROVED, False),
    ],
)
def test_proposer_is_notified_about_the_decision(
    project: Project, acting: Any, people: People, skill: str, decide: Any, event: str, waits: bool
) -> None:
    made = propose(project, acting("author"))
    people("owner")
    Notification.objects.all().delete()
    decide(project, made, acting("reviewer"))
    assert told("author") == [(event, waits)]
    assert everybody() == {"author"}


def test_backer_is_notified_about_the_decision_but_it_does_not_wait_for_them(
    project: Project, acting: Any, bot: Actor, skill: str
) -> None:
    made = propose(project, bot)
    propose(project, acting("author"))
    reviews.request_changes(project, made.pk, comment="Shorter.", by=acting("reviewer"))
    assert told("author") == [(events.CHANGES_REQUESTED, False)]


def test_comment_notifies_the_proposer_and_other_commenters(
    project: Project, acting: Any, people: People, skill: str
) -> None:
    made = propose(project, acting("author"))
    people("silent")
    proposals.comment(project, made.pk, "Why so long?", by=acting("maja"))
    Notification.objects.all().delete()
    proposals.comment(project, made.pk, "I like it.", by=acting("noor"))
    assert everybody() == {"author", "maja"}


def test_reviewer_who_requested_changes_is_notified_about_the_agents_reply(
    project: Project, acting: Any, bot: Actor, skill: str
) -> None:
    made = propose(project, bot)
    reviews.request_changes(project, made.pk, comment="Shorter.", by=acting("reviewer"))
    Notification.objects.all().delete()
    proposals.comment(project, made.pk, "Shorter how?", by=bot)
    proposals.revise(project, made.pk, suggested("Uno\n"), by=bot)
    proposals.withdraw(project, made.pk, by=bot)
    assert [event for event, _ in told("reviewer")] == [events.COMMENTED, events.REVISED, events.WITHDRAWN]


def test_former_reviewer_is_not_notified_about_a_proposal_they_cannot_see(
    project: Project, acting: Any, people: People, operator: Actor, bot: Actor, skill: str
) -> None:
    made = propose(project, bot)
    proposals.comment(project, made.pk, "Hm.", by=acting("maja"))
    members.set_role(project, people("maja"), roles.AUTHOR, by=operator)
    Notification.objects.all().delete()
    proposals.comment(project, made.pk, "Well?", by=bot)
    assert everybody() == set()


def test_proposer_is_notified_when_the_proposal_becomes_outdated(
    project: Project, acting: Any, people: People, skill: str
) -> None:
    propose(project, acting("author"))
    people("owner")
    Notification.objects.all().delete()
    skills.save(project, "greeting", skill_bundle(body="Other"), base=skill, by=acting("maja"))
    assert told("author") == [(events.OUTDATED, True)]
    assert Notification.objects.get().title == "greeting changed, so the proposal for it is outdated"


def test_proposer_is_notified_when_a_reviewer_updates_the_proposal(
    project: Project, acting: Any, skill: str, operator: Actor
) -> None:
    made = propose(project, acting("author"), FIVE.replace("One", "Uno"))
    moved_on = skill_bundle(body=FIVE.replace("Five", "Cinque"))
    skills.save(project, "greeting", moved_on, base=skill, by=operator)
    rebasing.rebase(project, made.pk, by=acting("reviewer"))
    assert told("author") == [(events.OUTDATED, True), (events.REVISED, False)]


def test_author_is_notified_about_the_next_version_and_about_a_withdrawal(project: Project, acting: Any) -> None:
    made = skills.create(project, skill_bundle(), by=acting("author")).version
    assert everybody() == set()
    skills.save(project, "greeting", skill_bundle(body="New"), base=made.digest, note="Shorter.", by=acting("maja"))
    versions.yank(project, "greeting", "1", reason="It was wrong.", by=acting("reviewer"))
    page = "/projects/demo/skills/greeting/"
    notices = Notification.objects.select_related("project").order_by("pk")
    assert [(notice.title, notice.text, links.notification_path(notice)) for notice in notices] == [
        ("Maja Somebody published version 2 of greeting", "Shorter.", f"{page}version/2/"),
        ("Reviewer Somebody withdrew version 1 of greeting", "It was wrong.", f"{page}versions/"),
    ]
    assert everybody() == {"author"}


def test_refused_action_notifies_nobody(project: Project, acting: Any, people: People, bot: Actor, skill: str) -> None:
    made = propose(project, bot)
    people("owner")
    by = acting("reviewer")
    with nothing_left_behind(), pytest.raises(SkillsiteError):
        reviews.approve(project, made.pk, result_digest="sha256:" + "0" * 64, by=by)
    with nothing_left_behind(), pytest.raises(SkillsiteError):
        reviews.reject(project, made.pk, comment=" ", by=by)


def test_notifying_many_people_takes_no_more_queries_than_one(
    project: Project, people: People, acting: Any, bot: Actor, skill: str
) -> None:
    User.objects.filter(pk=people("one").pk).update(email="one@example.org")

    def queries(body: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            propose(project, bot, body)
        return len(captured)

    few = queries("A\n")
    for number in range(12):
        User.objects.filter(pk=people(f"r{number}").pk).update(email=f"r{number}@example.org")
    assert queries("B\n") == few
    assert Notification.objects.count() == 1 + 13


def test_notifying_about_many_outdated_proposals_takes_no_more_queries_than_one(
    project: Project, acting: Any, operator: Actor
) -> None:
    def queries(name: str, number: int) -> int:
        first = skills.create(project, skill_bundle(name), by=operator).version
        for one in range(number):
            text = skill_text(name, body=f"Try {one}")
            proposals.propose(project, Suggestion(name, edits.parse(skill_md=text), "Why."), by=acting("author"))
        with CaptureQueriesContext(connection) as captured:
            skills.save(project, name, skill_bundle(name, body="Saved"), base=first.digest, by=operator)
        return len([one for one in captured if "notice" in one["sql"] or "backer" in one["sql"]])

    assert queries("one-skill", 1) == queries("two-skill", 5)
    assert len([event for event, _ in told("author") if event == events.OUTDATED]) == 6


# -- The inbox -----------------------------------------------------------------------------------------------


def test_inbox_lists_notifications_newest_first(project: Project, people: People, bot: Actor, skill: str) -> None:
    user = people("reviewer")
    first, second = propose(project, bot, "A"), propose(project, bot, "B")
    assert [n.proposal_id for n in notifications.inbox(user, unread=True)] == [second.pk, first.pk]
    assert (notifications.unread(user), notifications.unread(people("author"))) == (2, 0)


def test_opening_a_notification_marks_all_about_the_same_proposal_as_read(
    project: Project, people: People, bot: Actor, skill: str
) -> None:
    user = people("reviewer")
    made, _ = propose(project, bot, "A"), propose(project, bot, "B")
    proposals.revise(project, made.pk, suggested("C"), by=bot)
    notifications.open_notification(user, Notification.objects.filter(proposal=made)[0].pk)
    assert notifications.unread(user) == 1
    assert notifications.inbox(user, unread=False).count() == 3


def test_notification_of_another_user_cannot_be_opened(
    project: Project, people: People, bot: Actor, skill: str
) -> None:
    people("reviewer")
    propose(project, bot)
    notice = Notification.objects.get()
    for user in (people("viewer"), people("maja")):
        with nothing_left_behind(), pytest.raises(NotFound):
            notifications.open_notification(user, notice.pk)
    assert notifications.mark_all_read(people("maja")) == 0
    assert Notification.objects.get().read_at is None


def test_inbox_hides_notifications_of_a_project_the_user_left(
    project: Project, people: People, operator: Actor, bot: Actor, skill: str
) -> None:
    user = people("reviewer")
    propose(project, bot)
    members.remove(project, user, by=operator)
    assert (notifications.unread(user), list(notifications.inbox(user, unread=False))) == (0, [])
    with pytest.raises(NotFound):
        notifications.open_notification(user, Notification.objects.get().pk)


# -- Email ---------------------------------------------------------------------------------------------------


@pytest.fixture
def box(settings: Any) -> Iterator[Mailbox]:
    with mailbox() as made:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", made.port, 5
        settings.PUBLIC_URL = "https://skills.example.org"
        settings.DEFAULT_FROM_EMAIL = "Skillsite <skills@example.org>"
        yield made


def gets_mail(user: User, address: str, wanted: str = WAITING) -> User:
    """Somebody who has confirmed where they get their email."""
    user.email = address
    user.save(update_fields=["email"])
    EmailPreference.objects.create(user=user, choice=wanted)
    return user


@pytest.fixture
def maja(people: People) -> User:
    return gets_mail(people("maja"), "maja@example.org")


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
    assert len(box.got) == len(arrive)
    assert all(part in letter["Subject"] for part, letter in zip(arrive, box.got, strict=True))


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


@pytest.mark.parametrize(
    ("address", "wanted"),
    [("nobody", WAITING), ("a@b", WAITING), ("a@example.org\nBcc: b@example.org", WAITING), ("a@example.org", "often"),
     (f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 63}.example.org", WAITING)],
)  # fmt: skip
def test_invalid_address_or_preference_is_refused(people: People, address: str, wanted: str) -> None:
    user = people("maja")
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        email_preferences.choose(user, address=address, wanted=wanted)


# -- Confirmation of an address ------------------------------------------------------------------------------------


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
