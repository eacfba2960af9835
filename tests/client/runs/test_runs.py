"""Runs from a program: a real site, a real worker, and lost connections."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from registry.client import Retrying, SkillsiteClient, errors
from registry.client.run_watch import LOST_AFTER
from registry.models import Project, Run
from registry.services.permissions import Actor
from tests.client.between import Between, Reply, times
from tests.client.conftest import Connect
from tests.client.runs import carrying
from tests.conftest import agent_token

CUT = Reply(200, b'{"id": 1}', {"Content-Type": "application/json"}, cut=3)


def test_a_run_is_started_watched_and_read(connect: Connect, project: Project) -> None:
    client = carrying.working(connect, carrying.work)
    started = client.start_run("greet", {"name": "Ada"}, max_workers=2, deadline_seconds=60)
    assert (started.state, started.skill, started.started_by) == ("queued", "greet", "bot")
    updates = list(client.watch_run(started.id))
    assert [update.run.state for update in updates] == ["queued", "completed"]
    assert [(step.path, step.state) for step in updates[1].steps] == [("render", "completed"), ("copy", "completed")]
    run = client.get_run(started.id)
    assert (run.outputs, run.reason, run.is_finished) == ({"text": "Hello Ada 1"}, "", True)
    assert client.run_page(run.id) == f"{client.url}/projects/demo/runs/{run.id}/"
    assert Run.objects.get().options == {"max_workers": 2, "fail_fast": True, "deadline_seconds": 60.0}


def test_a_failed_run_says_why(connect: Connect) -> None:
    client = carrying.working(connect, carrying.work)
    run = client.wait_for_run(client.start_run("fails").id)
    assert (run.state, run.code) == ("failed", "call")
    assert "No stock." in run.reason and "No stock." in run.steps[0].reason


def test_a_wait_ends_at_a_question_or_goes_on_to_the_end(connect: Connect, project: Project, reviewer: Actor) -> None:
    client = carrying.working(connect, carrying.work, lambda: carrying.answer(project, reviewer), carrying.work)
    number = client.start_run("asks").id
    asking = client.wait_for_run(number)
    [question] = asking.questions
    assert (asking.state, question.text, question.step, question.kind) == ("waiting", "Send it?", "sure", "approve")
    done = client.wait_for_run(number, for_people=True)
    assert (done.state, done.outputs, done.questions) == ("completed", {"by": "reviewer"}, ())


def test_a_wait_has_an_end(connect: Connect) -> None:
    clock = [datetime(2026, 1, 1, tzinfo=UTC)]

    def sleep(seconds: float) -> None:
        clock[0] += timedelta(seconds=seconds)

    client = connect(retrying=Retrying(sleep=sleep, now=lambda: clock[0]))
    number = client.start_run("greet", {"name": "Ada"}).id
    assert client.wait_for_run(number, seconds=30).state == "queued"
    assert (clock[0] - datetime(2026, 1, 1, tzinfo=UTC)).total_seconds() == pytest.approx(30)


def test_polls_of_a_run_that_does_not_change_are_few_and_cheap(connect: Connect, site: Between) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 12:
            carrying.work()

    client = connect(retrying=Retrying(sleep=sleep))
    number = client.start_run("greet", {"name": "Ada"}).id
    answers: list[int] = []

    def note(between: Between, path: str, forward: Any) -> Reply:
        reply: Reply = forward()
        answers.append(reply.status)
        return reply

    site.fault = note
    assert [update.run.state for update in client.watch_run(number)] == ["queued", "completed"]
    assert answers == [200, *[304] * 11, 200]
    assert pauses == sorted(pauses) and pauses[-1] == 5.0


def test_large_runs_are_read_in_pages(connect: Connect, site: Between) -> None:
    client = carrying.working(connect, carrying.work)
    number = client.start_run("wide", {"items": [f"{number:03}" * 20 for number in range(250)]}).id
    seen = [step.path for update in client.watch_run(number) for step in update.steps]
    assert len(seen) == len(set(seen)) == 251
    run = client.get_run(number)
    assert (len(run.steps), run.total_steps) == (251, 251)
    assert len(run.outputs["all"]) == 250, "outputs that are too large for the run are read on their own"


def test_runs_are_listed_and_cancelled(connect: Connect) -> None:
    client = connect()
    numbers = [client.start_run("greet", {"name": name}).id for name in ("a", "b", "c")]
    page = client.list_runs(limit=2)
    assert ([run.id for run in page.runs], page.has_more) == ([numbers[2], numbers[1]], True)
    assert [run.id for run in client.list_runs(limit=2, offset=2).runs] == [numbers[0]]
    assert client.cancel_run(numbers[0]).id == numbers[0]
    carrying.work()
    assert [run.id for run in client.list_runs(state="cancelled", skill="greet").runs] == [numbers[0]]
    with pytest.raises(errors.Conflict, match="already cancelled"):
        client.cancel_run(numbers[0])


@pytest.mark.parametrize(
    ("skill", "inputs", "options", "words"),
    [
        ("absent", {}, {}, "absent"),
        ("greet", {}, {}, "name"),
        ("greet", {"name": 1}, {}, "name"),
        ("greet", {"name": "Ada", "other": 1}, {}, "other"),
        ("greet", {"name": "Ada"}, {"version": "9"}, "9"),
        ("greet", {"name": "Ada"}, {"max_workers": 0}, "max_workers"),
        ("greet", {"name": "Ada"}, {"deadline_seconds": 0}, "deadline_seconds"),
        ("greet", {"name": "Ada"}, {"frame": {"no-such-slot": 1}}, "no-such-slot"),
    ],
)
def test_a_wrong_start_starts_nothing(
    client: SkillsiteClient, skill: str, inputs: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(errors.Refused, match=words):
        client.start_run(skill, inputs, **options)
    assert Run.objects.count() == 0


@pytest.mark.parametrize("number", ["", "x", "-1", "1/cancel", "1?x", 1.5, "١"])
def test_a_wrong_id_is_refused_here(client: SkillsiteClient, site: Between, number: Any) -> None:
    for call in (client.get_run, client.cancel_run, client.wait_for_run):
        with pytest.raises(errors.Misconfigured, match="not the id of a run"):
            call(number)
    assert site.requests == []


def test_an_unknown_run_is_not_found(client: SkillsiteClient) -> None:
    for call in (client.get_run, client.cancel_run, client.wait_for_run):
        with pytest.raises(errors.NotFound):
            call(10**30)


def test_a_token_without_the_scope_starts_nothing(connect: Connect, project: Project, operator: Actor) -> None:
    with pytest.raises(errors.NotAllowed, match="run"):
        connect(token=agent_token(project, "reader", ("read",), operator)).start_run("greet", {"name": "Ada"})
    assert Run.objects.count() == 0


def test_offline_nothing_is_sent(connect: Connect, site: Between) -> None:
    client = connect(offline=True)
    calls: list[Callable[[], object]] = [
        lambda: client.start_run("greet"), lambda: client.get_run(1), lambda: client.list_runs(),
        lambda: client.cancel_run(1), lambda: client.watch_run(1),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(errors.NotCached, match="offline"):
            call()
    assert site.requests == []


# -- Lost connections ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", [CUT, Reply(502), Reply(504)])
def test_a_start_without_an_answer_is_not_repeated(client: SkillsiteClient, site: Between, lost: Reply) -> None:
    def lose(between: Between, path: str, forward: Any) -> Reply:
        forward()
        return lost

    site.fault = lose
    with pytest.raises(errors.Unanswered, match="Look at the list of runs"):
        client.start_run("greet", {"name": "Ada"})
    assert Run.objects.count() == 1
    site.fault = lambda *_: None
    assert len(client.list_runs(skill="greet", state="unfinished").runs) == 1


@pytest.mark.parametrize("refused", [Reply(503), Reply(429, headers={"Retry-After": "1"})])
def test_a_start_that_was_not_carried_out_is_repeated(client: SkillsiteClient, site: Between, refused: Reply) -> None:
    site.fault = times(2, refused)
    client.start_run("greet", {"name": "Ada"})
    assert (len(site.requests), Run.objects.count()) == (3, 1)


def test_a_watch_survives_a_site_that_is_away(connect: Connect, site: Between) -> None:
    lost: list[str] = []
    client = connect(retrying=Retrying(sleep=carrying.meanwhile(carrying.work), attempts=1))
    number = client.start_run("greet", {"name": "Ada"}).id
    site.fault = times(7, Reply(502))
    states = [update.run.state for update in client.watch_run(number, on_lost=lambda error: lost.append(str(error)))]
    assert states == ["completed"]
    assert len(lost) == 1 and "502" in lost[0], "one note for each time that the site was away"


def test_a_watch_gives_up_at_last(connect: Connect, site: Between) -> None:
    clock = [datetime(2026, 1, 1, tzinfo=UTC)]

    def sleep(seconds: float) -> None:
        clock[0] += timedelta(seconds=seconds)

    client = connect(retrying=Retrying(sleep=sleep, now=lambda: clock[0], attempts=1))
    number = client.start_run("greet", {"name": "Ada"}).id
    site.fault = lambda *_: CUT
    with pytest.raises(errors.Unreachable):
        list(client.watch_run(number))
    assert clock[0] - datetime(2026, 1, 1, tzinfo=UTC) == LOST_AFTER


@pytest.mark.parametrize(
    "body",
    [b"[]", b"{}", b'{"id": 1}', b'{"id": true, "changes": 1}', b"<html>", b'{"id": 1e999}'],
)
def test_a_wrong_answer_is_not_used(client: SkillsiteClient, site: Between, body: bytes) -> None:
    site.fault = lambda *_: Reply(200, body)
    for call in (lambda: client.get_run(1), lambda: client.list_runs(), lambda: list(client.watch_run(1))):
        with pytest.raises(errors.Untrustworthy):
            call()
