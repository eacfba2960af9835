"""Notifications and webhooks about runs."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.core import roles
from registry.core.errors import SkillsiteError
from registry.core.notifications import events
from registry.models import Delivery, EmailPreference, Notification, NotificationEmail, Project, RunQuestion, User
from registry.services import permissions
from registry.services.agents import tokens
from registry.services.notifications import links, notifications, webhooks
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from registry.services.workflows import questions, run_sweep, runs
from registry.services.workflows.run_worker import RunWorker
from tests.prepared import ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.workflows.conftest import CHAIN, INPUT, finish

People = Callable[[str], User]
SECRET = "correct-horse-battery"
MANY = """
id: many
version: 1.0.0
inputs: {texts: {type: array, required: true}}
steps:
  - id: each
    uses: human.approve
    input: {question: text}
    config: {foreach: {items: inputs.texts, as: text}}
"""
FAILS = """
id: fails
version: 1.0.0
steps:
  - {id: stop, uses: control.fail, input: {message: "The stock is empty."}}
"""


@pytest.fixture
def subscribed(project: Project, person: People) -> None:
    """Add a webhook for every event."""
    chosen = [event for event in events.TYPES if event != events.AUDIT_HEAD]
    webhooks.create(project, "https://1.1.1.1/", chosen, by=permissions.person(person(roles.OWNER), project))


def inbox(user: User) -> list[tuple[str, str, str, bool]]:
    shown = notifications.inbox(user, unread=True).order_by("pk")
    return [(one.event, one.title, one.text, one.still_waits) for one in shown]


def sent() -> list[dict[str, Any]]:
    return [json.loads(delivery.body) for delivery in Delivery.objects.order_by("pk")]


def acting(project: Project, user: User) -> Actor:
    return permissions.person(user, project)


def test_the_people_who_may_answer_are_notified_with_what_is_asked(
    project: Project, asking: Callable[..., RunQuestion], person: People
) -> None:
    reviewer, owner, viewer = person(roles.REVIEWER), person(roles.OWNER), person(roles.VIEWER)
    question = asking(by=acting(project, owner))
    told = [("run.waiting", "flow waits for an answer", "Publish the text?", True)]
    assert inbox(reviewer) == told
    assert inbox(owner) == []
    assert inbox(viewer) == []
    [notification] = Notification.objects.all()
    assert links.notification_path(notification) == f"/projects/demo/runs/{question.run_id}/questions/"


def test_a_question_for_one_person_is_sent_to_nobody_else(
    project: Project, asking: Callable[..., RunQuestion], person: People
) -> None:
    reviewer, owner = person(roles.REVIEWER), person(roles.OWNER)
    asking(INPUT, "{approvers: {people: [reviewer]}}")
    assert inbox(reviewer) == [("run.waiting", "flow waits for an answer", "How many?", True)]
    assert inbox(owner) == []


def test_the_maker_of_the_agents_token_is_not_asked(
    project: Project, asking: Callable[..., RunQuestion], person: People, operator: Actor
) -> None:
    reviewer, owner = person(roles.REVIEWER), person(roles.OWNER)
    agent = ensure_agent(project, "bot", by=operator)
    tokens.issue_token(project, agent=agent, scopes=("read", "run"), by=acting(project, owner))
    asking(by=permissions.agent(agent, frozenset({roles.READ, roles.RUN})))
    assert inbox(owner) == []
    assert len(inbox(reviewer)) == 1


def test_an_answer_takes_the_run_out_of_every_inbox(
    project: Project, asking: Callable[..., RunQuestion], person: People, author: Actor, worker: RunWorker
) -> None:
    reviewer, owner = person(roles.REVIEWER), person(roles.OWNER)
    question = asking()
    questions.approve(project, question.run_id, question.pk, digest=question.digest, by=acting(project, reviewer))
    assert inbox(reviewer) == inbox(owner) == []
    finish(worker)
    assert inbox(User.objects.get(pk=author.user_id)) == [("run.completed", "The run of flow completed", "", False)]


def test_a_notification_no_longer_waits_after_the_answer(
    project: Project, asking: Callable[..., RunQuestion], person: People, worker: RunWorker
) -> None:
    reviewer = person(roles.REVIEWER)
    question = asking(config="{expires_seconds: 60}")
    RunQuestion.objects.filter(pk=question.pk).update(state="denied")
    assert [waits for *_, waits in inbox(reviewer)] == [False]


def test_many_questions_of_a_run_are_one_notification_and_one_email(
    project: Project, workflow: Callable[..., str], person: People, author: Actor, worker: RunWorker
) -> None:
    reviewer = person(roles.REVIEWER)
    User.objects.filter(pk=reviewer.pk).update(email="reviewer@example.org")
    run = runs.start(project, workflow(MANY), inputs={"texts": [f"Text {n}?" for n in range(40)]}, by=author)
    finish(worker)
    assert RunQuestion.objects.filter(run=run, state="open").count() == 40
    assert inbox(reviewer) == [("run.waiting", "flow waits for an answer", "40 questions. The first: Text 0?", True)]
    assert NotificationEmail.objects.count() == 1
    first = RunQuestion.objects.filter(run=run).order_by("pk").first()
    assert first is not None
    questions.approve(project, run.pk, first.pk, digest=first.digest, by=acting(project, reviewer))
    finish(worker)
    assert len(inbox(reviewer)) == 1
    assert NotificationEmail.objects.count() == 1


def test_a_read_notification_is_followed_by_a_new_one(
    project: Project, workflow: Callable[..., str], person: People, author: Actor, worker: RunWorker
) -> None:
    reviewer = person(roles.REVIEWER)
    twice = "id: twice\nversion: 1.0.0\nsteps:\n" + "".join(
        f"  - {{id: {name}, uses: human.approve, input: {{question: '{name}?'}}}}\n" for name in ("one", "two")
    )
    run = runs.start(project, workflow(twice), by=author)
    finish(worker)
    assert [text for _, _, text, _ in inbox(reviewer)] == ["one?"]
    question = RunQuestion.objects.get(run=run)
    questions.approve(project, run.pk, question.pk, digest=question.digest, by=acting(project, reviewer))
    finish(worker)
    assert [text for _, _, text, _ in inbox(reviewer)] == ["two?"]


def test_people_choose_which_runs_they_get_by_email(
    project: Project, asking: Callable[..., RunQuestion], person: People, worker: RunWorker
) -> None:
    for role, choice in ((roles.REVIEWER, "waiting"), (roles.OWNER, "nothing"), (roles.AUTHOR, "everything")):
        user = person(role)
        User.objects.filter(pk=user.pk).update(email=f"{role}@example.org")
        EmailPreference.objects.create(user=user, choice=choice)
    question = asking()
    questions.approve(
        project, question.run_id, question.pk, digest=question.digest, by=acting(project, person(roles.REVIEWER))
    )
    finish(worker)
    mails = NotificationEmail.objects.values_list("notification__user__username", "notification__event")
    assert set(mails) == {("reviewer", "run.waiting"), ("author", "run.completed")}


def test_a_failed_run_tells_its_starter_why(
    project: Project, workflow: Callable[..., str], person: People, worker: RunWorker
) -> None:
    author = person(roles.AUTHOR)
    person(roles.OWNER)
    runs.start(project, workflow(FAILS), by=acting(project, author))
    finish(worker)
    [(event, title, text, waits)] = inbox(author)
    assert (event, title, waits) == ("run.failed", "The run of flow failed", False)
    assert "The stock is empty." in text
    assert Notification.objects.count() == 1


def test_a_failed_run_of_an_agent_tells_the_makers_of_its_tokens(
    project: Project, workflow: Callable[..., str], person: People, operator: Actor, worker: RunWorker
) -> None:
    owner = person(roles.OWNER)
    agent = ensure_agent(project, "bot", by=operator)
    tokens.issue_token(project, agent=agent, scopes=("read", "run"), by=acting(project, owner))
    bot = permissions.agent(agent, frozenset({roles.READ, roles.RUN}))
    runs.start(project, workflow(CHAIN, "chain"), inputs={"name": "Ada"}, by=bot)
    runs.start(project, workflow(FAILS), by=bot)
    finish(worker)
    assert [event for event, *_ in inbox(owner)] == ["run.failed"]


def test_a_cancelled_run_tells_its_starter_unless_they_cancelled_it(
    project: Project, asking: Callable[..., RunQuestion], person: People, worker: RunWorker
) -> None:
    author, owner = person(roles.AUTHOR), person(roles.OWNER)
    mine, theirs = asking(by=acting(project, author)), asking(by=acting(project, author))
    runs.cancel(project, mine.run_id, by=acting(project, author))
    runs.cancel(project, theirs.run_id, by=acting(project, owner))
    finish(worker)
    told = Notification.objects.filter(user=author).values_list("event", "run")
    assert list(told) == [("run.cancelled", theirs.run_id)]
    assert inbox(owner) == []


def test_a_question_that_expires_tells_the_people_who_were_asked(
    project: Project, asking: Callable[..., RunQuestion], person: People, worker: RunWorker
) -> None:
    reviewer, author = person(roles.REVIEWER), person(roles.AUTHOR)
    question = asking()
    RunQuestion.objects.filter(pk=question.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    run_sweep.wake_overdue(now=timezone.now())
    finish(worker)
    assert inbox(reviewer) == [("question.expired", "Nobody answered flow in time", "Publish the text?", False)]
    assert [event for event, *_ in inbox(author)] == ["run.expired"]


def test_webhooks_get_ids_and_states_and_neither_inputs_nor_questions(
    project: Project, subscribed: None, workflow: Callable[..., str], author: Actor, person: People, worker: RunWorker
) -> None:
    text = MANY.replace("uses: human.approve", "uses: human.input").replace(
        "{question: text}", "{question: text, fields: {value: {type: string}}}"
    )
    reviewer = acting(project, person(roles.REVIEWER))
    run = runs.start(project, workflow(text), inputs={"texts": [SECRET]}, by=author)
    finish(worker)
    question = RunQuestion.objects.get(run=run)
    questions.answer(project, run.pk, question.pk, digest=question.digest, value={"value": SECRET}, by=reviewer)
    finish(worker)
    bodies = [body for body in sent() if "run" in body["data"]]
    assert [(body["type"], body["data"]["run"]["state"]) for body in bodies] == [
        ("run.started", "queued"), ("run.waiting", "waiting"), ("run.completed", "completed"),
    ]  # fmt: skip
    assert bodies[1]["data"]["run"] == {
        "id": run.pk, "version": run.version, "state": "waiting", "code": "", "asked": 1,
        "questions": [{"id": question.pk, "step": "each[0]", "kind": "input"}],
    }  # fmt: skip
    assert bodies[1]["data"]["text"] == "flow waits for an answer"
    assert bodies[1]["data"]["url"].endswith(f"/projects/demo/runs/{run.pk}/questions/")
    assert SECRET not in json.dumps(sent())


def test_a_webhook_about_many_questions_names_the_first_ones(
    project: Project, subscribed: None, workflow: Callable[..., str], author: Actor, worker: RunWorker
) -> None:
    runs.start(project, workflow(MANY), inputs={"texts": [f"{n}?" for n in range(50)]}, by=author)
    finish(worker)
    waiting = [body["data"]["run"] for body in sent() if body["type"] == "run.waiting"]
    assert waiting[-1]["asked"] == 50
    assert len(waiting[-1]["questions"]) == 20


def test_a_refused_start_tells_nobody(
    project: Project, subscribed: None, workflow: Callable[..., str], viewer: Actor, author: Actor
) -> None:
    name = workflow(CHAIN)
    for by, inputs in ((viewer, {"name": "Ada"}), (author, {})):
        with nothing_left_behind(), pytest.raises(SkillsiteError):
            runs.start(project, name, inputs=inputs, by=by)


def test_notifying_many_people_takes_no_more_queries_than_one(
    project: Project, asking: Callable[..., RunQuestion], person: People, operator: Actor
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            asking()
        return len([one for one in captured if "registry_notification" in one["sql"] or "membership" in one["sql"]])

    person(roles.REVIEWER)
    asking()
    few = queries()
    for number in range(12):
        user = accounts.create_user(f"r{number}", by=operator)
        members.set_role(project, user, roles.REVIEWER, by=operator)
    assert queries() == few
