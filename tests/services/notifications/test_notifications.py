"""Recipients of notifications, and the inbox."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.core import roles
from registry.core.errors import Forbidden, NotFound, SkillsiteError
from registry.core.notifications import events
from registry.core.text import edits
from registry.models import Agent, Notification, Project, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.notifications import email, links, notifications
from registry.services.people import members
from registry.services.permissions import Actor
from registry.services.proposals import proposals, rebasing, review_queue, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills, versions
from tests.conftest import skill_bundle, skill_text
from tests.services.footprint import nothing_left_behind
from tests.services.mailboxes import Mailbox
from tests.services.notifications.recipients import FIVE, People, everybody, gets_mail, propose, suggested, told


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


# -- The inbox ---------------------------------------------------------------------------------------------


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
