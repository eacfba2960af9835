"""Calls of tools that wait, as the web server carries them: no thread waits, and the answer comes later."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from registry.models import Project, Run
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import run_watch
from registry.services.workflows.run_worker import RunWorker
from skillsite.server import answers
from skillsite.server.answers import Answer
from tests.conftest import keep_connection, skill_bundle
from tests.protocols.mcp_client import LEGACY, Mcp
from tests.services.workflows.conftest import CHAIN, finish


@pytest.fixture
def runner(mcp: Callable[..., Mcp], project: Project, operator: Actor) -> Mcp:
    skills.create(project, skill_bundle("flow", {"workflow.yaml": CHAIN.encode()}), by=operator)
    return mcp("read", "run")


@pytest.fixture
def number(runner: Mcp) -> int:
    started = runner.call("start_run", skill="flow", inputs={"name": "Ada"})
    return int(started["structuredContent"]["id"])


@pytest.fixture
def worker(db: None) -> RunWorker:
    return RunWorker(poll_seconds=0)


@pytest.fixture
def serve(runner: Mcp) -> Any:
    """Return a function that calls a tool like the web server does. All waits are closed at the end."""
    handler, served = WSGIHandler(), []

    def call(tool: str, *, client: Mcp = runner, **arguments: Any) -> Answer:
        body = {"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {**client.headers, "MCP-Protocol-Version": LEGACY}
        request = RequestFactory().post("/mcp", json.dumps(body), "application/json", headers=headers)
        with keep_connection():
            served.append(answers.produce(handler, request.environ))
        return served[-1]

    yield call
    for answer in served:
        answer.close()


def content(answer: Answer) -> Any:
    message = json.loads(b"".join(answer.blocks()))
    assert message["id"] == "x"
    return message["result"]["structuredContent"]


def test_an_answer_comes_when_the_run_has_ended(serve: Callable[..., Answer], number: int, worker: RunWorker) -> None:
    first = serve("wait_for_run", id=number)
    assert first.follow.look() is None and not first.follow.is_late
    finish(worker)
    later = answers.merged(first, first.follow.look())
    assert content(later)["outputs"] == {"text": "Hello Ada"}
    headers = dict(later.headers)
    assert (later.status, headers["Cache-Control"]) == (200, "private, no-store")
    assert headers["Content-Type"] == "application/json"


def test_a_run_with_news_is_answered_at_once(serve: Callable[..., Answer], number: int, worker: RunWorker) -> None:
    finish(worker)
    answer = serve("wait_for_run", id=number)
    assert answer.follow is None and content(answer)["state"] == "completed"


def test_the_state_at_the_end_of_the_time_is_the_answer(
    serve: Callable[..., Answer], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = serve("wait_for_run", id=number, seconds=3)
    wait = answer.follow.later.wait
    end = wait.until
    wait.clock = lambda: end
    Run.objects.update(state="running")
    assert not answer.follow.is_late, "the server looks once more"
    assert content(answers.merged(answer, answer.follow.look()))["state"] == "running"
    wait.clock = lambda: end + 60
    assert answer.follow.is_late
    assert content(answer)["state"] == "queued", "what a server sends that had no time to look"


def test_places_are_given_back(serve: Callable[..., Answer], number: int) -> None:
    waiting = [serve("wait_for_run", id=number) for _ in range(run_watch.PER_TOKEN)]
    refused = serve("wait_for_run", id=number)
    assert refused.follow is None and "in 5 seconds" in content(refused)["next"]
    waiting[0].close()
    assert serve("wait_for_run", id=number).follow is not None


def test_a_server_that_cannot_wait_answers_at_once_and_keeps_no_place(runner: Mcp, number: int) -> None:
    for _ in range(run_watch.PER_TOKEN + 1):
        answer = runner.call("wait_for_run", id=number)["structuredContent"]
        assert answer["state"] == "queued" and "in 5 seconds" not in answer["next"]


def test_a_call_waits_for_its_result(serve: Callable[..., Answer], worker: RunWorker) -> None:
    first = serve("call_capability", capability="text.trim", inputs={"text": " a "})
    assert content(first)["state"] == "queued"
    finish(worker)
    assert content(answers.merged(first, first.follow.look()))["outputs"] == {"text": "a"}


def test_a_run_that_is_gone_ends_the_wait(serve: Callable[..., Answer], number: int) -> None:
    answer = serve("wait_for_run", id=number)
    Run.objects.all().delete()
    with pytest.raises(Exception, match="no such run"):
        answer.follow.look()
    assert content(answer)["state"] == "queued"


@pytest.mark.parametrize("arguments", [{"seconds": 26}, {"seconds": -1}, {"id": 10**9}, {"id": "x"}])
def test_a_wrong_wait_takes_no_place(serve: Callable[..., Answer], number: int, arguments: dict[str, Any]) -> None:
    for _ in range(run_watch.PER_TOKEN + 1):
        assert serve("wait_for_run", **{"id": number, **arguments}).follow is None
    assert serve("wait_for_run", id=number).follow is not None
