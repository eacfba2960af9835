"""The stream of events of a run, as the web server drives it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.api import run_events
from registry.core import roles
from registry.lib.places import Places
from registry.models import Run
from skillsite.server.answers import Answer
from tests.api.contract import problem
from tests.api.runs.requests import decide, read, started, waiting
from tests.api.runs.served import Clock, content, serve
from tests.conftest import Api

Work = Callable[[], None]


@pytest.fixture(autouse=True)
def places(monkeypatch: pytest.MonkeyPatch) -> Places:
    places = Places(3, 2)
    monkeypatch.setattr(run_events, "_streams", places)
    return places


def follow(caller: Api, run: dict[str, Any], last: object = "") -> Answer:
    """Open a stream, and keep it open as the web server does."""
    headers = {"Last-Event-ID": str(last)} if last else {}
    answer = serve(caller, "GET", f"/runs/{run['id']}/events", **headers)
    assert (answer.status, dict(answer.headers)["Content-Type"]) == (200, "text/event-stream")
    return answer


def events(text: bytes | None) -> list[dict[str, Any]]:
    found = []
    for block in (text or b"").decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if lines.get("event") == "run":
            found.append({**json.loads(lines["data"]), "event_id": int(lines["id"])})
    return found


def test_a_stream_tells_each_change_until_the_run_ends(bot: Api, reviewer: Api, work: Work) -> None:
    run = started(bot, "letter")
    stream = follow(bot, run)
    [first] = events(content(stream))
    assert (first["state"], first["steps"], first["id"]) == ("queued", {}, run["id"])
    assert stream.follow.look() == b""
    work()
    [second] = events(stream.follow.look())
    assert (second["state"], second["steps"], second["open_questions"]) == ("waiting", {"waiting": 1}, 1)
    assert second["event_id"] == second["changes"] > first["changes"]
    decide(reviewer, read(bot, run), "approve")
    work()
    [last] = events(stream.follow.look())
    assert (last["state"], last["steps"], last["open_questions"]) == ("completed", {"completed": 2}, 0)
    assert stream.follow.look() is None


def test_a_client_that_connects_again_gets_only_what_is_new(bot: Api, work: Work) -> None:
    run = waiting(bot, work)
    assert events(content(follow(bot, run, last=run["changes"]))) == []
    assert [each["state"] for each in events(content(follow(bot, run, last=1)))] == ["waiting"]


def test_a_finished_run_has_one_event_and_then_nothing(bot: Api, work: Work, places: Places) -> None:
    run = started(bot)
    work()
    stream = follow(bot, run)
    [event] = events(content(stream))
    assert (event["state"], stream.follow) == ("completed", None)
    again = bot.get(f"/runs/{run['id']}/events", headers={"Last-Event-ID": str(event["event_id"])})
    assert (again.status_code, again.content) == (204, b"")


def test_a_quiet_stream_sends_a_sign_of_life_and_ends_after_a_minute(bot: Api, clock: Clock) -> None:
    stream = follow(bot, started(bot))
    said = []
    for now in range(70):
        clock.now = float(now)
        part = stream.follow.look()
        said.append((now, part))
        if part is None:
            break
    assert [now for now, part in said if part] == [15, 30, 45]
    assert all(part.startswith(b":") for _, part in said if part)
    assert said[-1] == (60, None)


def test_a_stream_looks_more_often_after_a_change_and_ends_at_once_with_its_run(bot: Api, work: Work) -> None:
    run = started(bot)
    stream = follow(bot, run).follow
    pauses = []
    for _ in range(8):
        assert stream.look() == b""
        pauses.append(stream.seconds)
    assert pauses == sorted(pauses) and pauses[-1] == run_events.LOOK_SECONDS
    work()
    assert stream.look()
    assert stream.seconds == 0
    assert stream.look() is None


def test_a_look_costs_one_query(bot: Api, django_assert_num_queries: Any) -> None:
    stream = follow(bot, started(bot))
    with django_assert_num_queries(1):
        assert stream.follow.look() == b""


def test_too_many_streams_of_one_token_are_refused(bot: Api, work: Work) -> None:
    run = waiting(bot, work)
    streams = [follow(bot, run) for _ in range(2)]
    refused = bot.get(f"/runs/{run['id']}/events")
    assert problem(refused, 429, "rate-limited")["retry_after"] == int(refused["Retry-After"])
    streams[0].follow.close()
    follow(bot, run)


def test_too_many_streams_of_all_are_refused_but_nothing_else_is(
    bot: Api, people: Callable[..., Api], work: Work
) -> None:
    run, owner = waiting(bot, work), people(roles.OWNER)
    streams = [follow(bot, run), follow(bot, run), follow(owner, run)]
    refused = owner.get(f"/runs/{run['id']}/events")
    assert problem(refused, 503, "busy")["retry_after"] == int(refused["Retry-After"])
    assert read(owner, run)["state"] == "waiting"
    for stream in streams:
        stream.follow.close()
    follow(owner, run)


def test_a_stream_that_could_not_start_takes_no_place(bot: Api, api: Callable[..., Api], work: Work) -> None:
    run = waiting(bot, work)
    other = api(roles.READ, roles.RUN, agent="other")
    for caller, number, status in ((other, run["id"], 404), (bot, 999_999, 404), (bot, "x", 404)):
        assert caller.get(f"/runs/{number}/events").status_code == status
    head = bot.client.head(f"{bot.base}/runs/{run['id']}/events", headers=bot.headers)
    assert head.status_code == 200
    for _ in range(2):
        follow(bot, run)


def test_a_stream_ends_if_its_run_is_deleted(bot: Api) -> None:
    stream = follow(bot, started(bot))
    Run.objects.all().delete()
    assert stream.follow.look() is None
