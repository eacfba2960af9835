"""The optional model reorders the best skills. If it fails, the order stays, and the answer says why."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from registry.lib.steps import StepRunner
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.routing import link_runs, reranking, routing
from registry.services.routing.routing import Routed
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.services.receivers import Behaviour, Receiver, answering, hanging, receiving

SECRET = "key-that-nobody-may-read"
SKILLS = {
    "invoices": "Writes invoices for customers. Use when somebody asks for a bill.",
    "customer-letters": "Writes letters to customers. Use when a customer is unhappy.",
}


@pytest.fixture
def model(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(reranking, "REST_SECONDS", 0.0)
    with receiving() as receiver:
        settings.ROUTING_RERANK_URL = receiver.url("/v1/chat/completions")
        settings.ROUTING_RERANK_MODEL, settings.ROUTING_RERANK_KEY = "small", SECRET
        yield receiver


@pytest.fixture
def skills(project: Project, author: Actor) -> Project:
    for name, description in SKILLS.items():
        create_skill(project, skill_bundle(name, description=description), by=author)
    project.refresh_from_db()
    return project


def completing(content: Any) -> Behaviour:
    return answering(200, json.dumps({"choices": [{"message": {"content": content}}]}).encode())


def ask(project: Project, query: str = "write to customers", **more: Any) -> Routed:
    return routing.route(project.pk, project.revision, query, threshold=0.0, **more)


def order(routed: Routed) -> list[str]:
    return [skill.candidate.name for skill in routed.ranking]


def report(routed: Routed) -> tuple[str, str]:
    (found,) = [link for link in routed.links if link.name == "rerank"]
    return found.status, found.detail


def test_the_model_reorders_the_best_skills(skills: Project, model: Receiver) -> None:
    before = order(ask(skills, rerank=False))
    model.behave = completing(json.dumps([{"name": before[-1], "confidence": 1.0}]))
    routed = ask(skills)
    assert order(routed) == before[::-1]
    assert report(routed) == ("ok", "")
    assert routed.ranking[0].by_link["rerank"] == 6.0
    (request,) = model.got
    assert (request.path, request.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {SECRET}")
    sent = json.loads(request.body)
    assert (sent["model"], sent["temperature"]) == ("small", 0)
    assert {skill["name"] for skill in json.loads(sent["messages"][1]["content"])["skills"]} == set(SKILLS)


def test_the_model_gets_only_skills_that_the_caller_may_see(skills: Project, model: Receiver) -> None:
    model.behave = completing('[{"name": "customer-letters", "confidence": 1}]')
    routed = ask(skills, allowed=frozenset({"invoices"}))
    assert (order(routed), report(routed)) == (
        ["invoices"],
        ("invalid", "The model named a skill that it was not given."),
    )
    assert b"customer-letters" not in model.got[0].body


FAILING: dict[str, tuple[Behaviour, str, str]] = {
    "an error": (answering(500, b"{}"), "unavailable", "The endpoint for re-ranking answered with status 500."),
    "a redirect": (answering(302, Location="http://127.0.0.1:1/"), "unavailable", "status 302"),
    "no JSON": (answering(200, b"<html>"), "invalid", "not a chat completion"),
    "no choices": (answering(200, b'{"choices": []}'), "invalid", "not a chat completion"),
    "no text": (completing(None), "invalid", "contains no text"),
    "too much": (answering(200, b" " * 300_000), "invalid", "too long"),
    "a name not given": (completing('[{"name": "deploy", "confidence": 1}]'), "invalid", "was not given"),
    "a boolean": (completing('[{"name": "invoices", "confidence": true}]'), "invalid", "not a number"),
}


@pytest.mark.parametrize(("behave", "status", "detail"), FAILING.values(), ids=FAILING)
def test_a_model_that_fails_changes_nothing(
    skills: Project, model: Receiver, behave: Behaviour, status: str, detail: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = ask(skills, rerank=False)
    model.behave = behave
    counted = link_runs.counts().get(("rerank", status), 0)
    with caplog.at_level(logging.DEBUG):
        routed = ask(skills)
    assert order(routed) == order(before)
    assert report(routed)[0] == status
    assert detail in report(routed)[1]
    assert link_runs.counts()[("rerank", status)] == counted + 1
    assert SECRET not in caplog.text


def test_a_model_that_hangs_is_left(skills: Project, model: Receiver, settings: Any) -> None:
    settings.ROUTING_RERANK_SECONDS = 0.05
    model.behave = hanging(model)
    routed = ask(skills)
    assert set(order(routed)) == set(SKILLS)
    assert report(routed)[0] in ("unavailable", "timeout")


def test_a_model_that_is_down_rests(skills: Project, model: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reranking, "REST_SECONDS", 60.0)
    model.behave = answering(503)
    monkeypatch.setattr(link_runs, "runner", StepRunner(2))
    details = [report(ask(skills))[1] for _ in range(3)]
    assert details[1:] == ["It failed a moment ago."] * 2
    assert len(model.got) == 1


def test_the_model_is_not_asked_when_a_name_was_asked_for(skills: Project, model: Receiver) -> None:
    routed = ask(skills, "Invoices")
    assert (routed.answered_by, report(routed)[0], model.got) == ("names", "skipped", [])


def test_without_an_address_no_model_is_asked(skills: Project, settings: Any) -> None:
    settings.ROUTING_RERANK_URL = ""
    assert all(link.name != "rerank" for link in ask(skills).links)
