"""The log of questions: off by default, redacted, and only for people who change skills."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Forbidden, NotFound
from registry.models import Event, Project, RouteLog, User
from registry.services import housekeeping, permissions
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.routing import route_log, routing_settings
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill


@pytest.fixture
def bot(project: Project, operator: Actor, api: Callable[..., Api]) -> Api:
    create_skill(project, skill_bundle("invoice", description="Write an invoice"), by=operator)
    return api("read")


@pytest.fixture
def logging(project: Project, bot: Api, operator: Actor) -> Api:
    routing_settings.change(project, log_days=30, by=operator)
    return bot


def ask(bot: Api, query: str = "write an invoice", **more: Any) -> None:
    assert bot.send("POST", "/route", {"query": query, **more}).status_code == 200


def write(project: Project, days: int = 0, **more: Any) -> RouteLog:
    at = timezone.now() - timedelta(days=days)
    return RouteLog.objects.create(
        **{"project": project, "at": at, "caller": "bot", "query": "q", "found": True, "threshold": 0.5, **more}
    )


def test_without_a_setting_nothing_is_logged(bot: Api) -> None:
    ask(bot)
    assert not RouteLog.objects.exists()


def test_an_entry_has_the_ranking_also_of_an_answer_without_matches(logging: Api, project: Project) -> None:
    ask(logging, threshold=1)
    (entry,) = RouteLog.objects.filter(project=project)
    assert (entry.query, entry.caller, entry.found, entry.threshold) == ("write an invoice", "bot", False, 1)
    assert entry.matches[0][0] == "invoice"
    assert 0 <= entry.matches[0][1] <= 1
    assert entry.agent is not None


def test_a_question_is_redacted_and_cut(logging: Api) -> None:
    ask(logging, "mail anna@example.org\0 that password=hunter2 " + "is wrong " * 1_000)
    query = RouteLog.objects.get().query
    assert query.startswith("mail [email]  that password=[secret]")
    assert len(query) <= route_log.QUERY_CHARS


def test_an_empty_question_is_not_logged(logging: Api) -> None:
    ask(logging, " \0 ")
    assert not RouteLog.objects.exists()


@pytest.mark.parametrize(("share", "logged"), [(0.0, 0), (1.0, 5)])
def test_a_share_of_the_questions_is_logged(
    logging: Api, project: Project, operator: Actor, share: float, logged: int
) -> None:
    routing_settings.change(project, log_share=share, by=operator)
    for _ in range(5):
        ask(logging)
    assert RouteLog.objects.count() == logged


def test_an_entry_is_no_event_and_no_new_revision(logging: Api, project: Project) -> None:
    project.refresh_from_db()
    before = (project.revision, Event.objects.count())
    ask(logging)
    project.refresh_from_db()
    assert (project.revision, Event.objects.count()) == before


def test_a_failure_does_not_reach_the_caller(
    logging: Api, project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(**_: Any) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr(RouteLog.objects, "create", fails)
    ask(logging, "a private question")
    assert "could not be logged" in caplog.text
    assert "a private question" not in caplog.messages


def test_agents_cannot_read_or_delete_the_log(project: Project, operator: Actor) -> None:
    entry = write(project)
    agent = agents.ensure(project, "writer", by=operator)
    by = permissions.agent(agent, frozenset(roles.SCOPES))
    for call in (route_log.entries, route_log.delete, lambda where, by: route_log.find(where, entry.pk, by=by)):
        with pytest.raises(Forbidden):
            call(project, by=by)


@pytest.mark.parametrize(("role", "allowed"), [(roles.VIEWER, False), (roles.AUTHOR, True), (roles.OWNER, True)])
def test_people_who_change_skills_read_the_log(
    project: Project, person: Callable[[str], User], role: str, allowed: bool
) -> None:
    write(project)
    by = permissions.person(person(role), project)
    if allowed:
        assert len(route_log.entries(project, by=by)) == 1
    else:
        with pytest.raises(Forbidden):
            route_log.entries(project, by=by)


def test_entries_of_another_project_are_not_found(project: Project, other_project: Project, operator: Actor) -> None:
    entry = write(other_project)
    with pytest.raises(NotFound):
        route_log.find(project, entry.pk, by=operator)
    assert route_log.delete(project, [entry.pk], by=operator) == 0
    assert RouteLog.objects.count() == 1


def test_questions_without_an_answer_can_be_selected(project: Project, operator: Actor) -> None:
    write(project, query="answered")
    write(project, query="missed", found=False)
    assert [entry.query for entry in route_log.entries(project, by=operator, found=False)] == ["missed"]


def test_a_deletion_is_one_event_with_the_number(project: Project, operator: Actor) -> None:
    first, _, _ = write(project), write(project), write(project)
    assert route_log.delete(project, [first.pk], by=operator) == 1
    assert route_log.delete(project, by=operator) == 2
    assert route_log.delete(project, by=operator) == 0
    events = Event.objects.filter(verb="questions.deleted").order_by("sequence")
    assert [event.data["questions"] for event in events] == [1, 2]


def test_the_sweep_deletes_what_a_project_does_not_keep(
    project: Project, other_project: Project, operator: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    routing_settings.change(project, log_days=3, by=operator)
    for days in (0, 2, 4):
        write(project, days)
    write(other_project)  # its log is off
    assert housekeeping.sweep(now=timezone.now())["logged questions"] == 2
    assert {entry.project_id for entry in RouteLog.objects.all()} == {project.pk}
    monkeypatch.setattr(route_log, "MOST", 1)
    assert route_log.sweep(timezone.now()) == 1
    assert RouteLog.objects.count() == 1
