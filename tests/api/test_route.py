"""The route of a question: matches that can be loaded, refusals with their field, and no skill that is hidden."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.models import Project
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.skills import quarantine
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill, yank_version

POD = "Find out why a Kubernetes pod keeps restarting"


@pytest.fixture
def bot(project: Project, library: Path, operator: Actor, api: Callable[..., Api]) -> Api:
    on_disk(library, "pod-crash-triage", description=POD, tags=["k8s"])
    create_skill(project, skill_bundle("expense-report", description="Check a travel expense report"), by=operator)
    create_skill(project, skill_bundle("pod-names", description="Names of a pod.", kind="knowledge"), by=operator)
    return api("read")


def ask(bot: Api, query: str = "pod-crash-triage", **more: Any) -> Any:
    response = bot.send("POST", "/route", {"query": query, **more})
    assert response.status_code == 200, response.content
    return response.json()


def names(answer: Any) -> list[str]:
    return [match["name"] for match in answer["matches"]]


def test_a_match_can_be_loaded_with_the_version_and_digest_it_names(bot: Api) -> None:
    for match in ask(bot, "pod expense report", threshold=0)["matches"]:
        loaded = bot.get(f"/skills/{match['name']}", version=match["version"]).json()
        for key in ("name", "version", "digest", "source", "kind"):
            assert loaded[key] == match[key]


def test_the_answer_names_links_and_threshold(bot: Api) -> None:
    answer = ask(bot, threshold=0.2)
    assert names(answer)[0] == "pod-crash-triage"
    assert (answer["threshold"], answer["threshold_from"]) == (0.2, "request")
    assert answer["none_of_these"] is False
    assert {link["status"] for link in answer["links"]} <= {"ok", "skipped", "unavailable"}
    assert all(0 <= match["confidence"] <= 1 and match["reason"] for match in answer["matches"])


def test_a_missing_link_is_named_and_the_others_answer(bot: Api, settings: Any) -> None:
    settings.ROUTING_EMBEDDINGS = False
    answer = ask(bot, "why does my pod restart", threshold=0)
    assert names(answer)[0] == "pod-crash-triage"
    (link,) = (link for link in answer["links"] if link["status"] == "unavailable")
    assert link["name"] == "meaning"
    assert "ROUTING_EMBEDDINGS" in link["detail"]


def test_below_the_threshold_no_skill_is_named(bot: Api) -> None:
    answer = ask(bot, "report", threshold=1)
    assert (answer["matches"], answer["none_of_these"]) == ([], True)
    assert names(ask(bot, "report", threshold=0)) == ["expense-report"]


@pytest.mark.parametrize("query", ["", "  \n", "\0", "\ud800", "?!", "🦆", "مرحبا", "請求書", "x" * 20_000])
def test_any_text_is_answered(bot: Api, query: str) -> None:
    assert names(ask(bot, query)) == []


def test_limit_and_kind_narrow_the_ranking(bot: Api) -> None:
    assert len(names(ask(bot, "pod", threshold=0))) == 2
    assert len(names(ask(bot, "pod", threshold=0, limit=1))) == 1
    assert names(ask(bot, "pod", threshold=0, kind="host-knowledge")) == ["pod-names"]


def test_the_order_does_not_depend_on_the_request(bot: Api) -> None:
    assert ask(bot, "pod report", threshold=0)["matches"] == ask(bot, "pod report", threshold=0)["matches"]


BODIES = [
    (b"", "query"), (b"{}", "query"), (b'{"query": 1}', "query"), (b'{"query": "x", "limit": true}', "limit"),
    (b'{"query": "x", "limit": 1e999}', "limit"), (b'{"query": "x", "threshold": 1e999}', "threshold"),
    (b'{"query": "x", "threshold": true}', "threshold"), (b'{"query": "x", "kind": "agent"}', "kind"),
    (b'{"query": "x", "q": "y"}', "q"), (b'{"query": "x", "\\ud800": 1}', "?"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "field"), BODIES)
def test_a_wrong_body_is_refused_by_its_field(bot: Api, body: bytes, field: str) -> None:
    assert problem(bot.send("POST", "/route", body), 400, "invalid-request")["field"] == field


NO_OBJECTS = [
    b"[", b'{"query": NaN}', b'{"query": "x", "threshold": Infinity}', b"\xff", b"[]",
    b'{"query": "x", "limit": %b}' % (b"9" * 5_000),
]  # fmt: skip


@pytest.mark.parametrize("body", NO_OBJECTS, ids=lambda body: repr(body[:20]))
def test_a_body_that_is_no_json_object_is_refused(bot: Api, body: bytes) -> None:
    detail = problem(bot.send("POST", "/route", body), 400, "invalid-request")["detail"]
    assert "sys." not in detail  # advice to programmers of the site


def test_a_long_query_is_refused_with_its_length(bot: Api) -> None:
    body = problem(bot.send("POST", "/route", {"query": "x" * 20_001}), 400, "invalid-request")
    assert "20,001" in body["detail"]
    problem(bot.send("POST", "/route", {"query": "x" * 300_000}), 413, "too-large")


def test_a_query_of_the_greatest_length_fits_with_every_character_escaped(bot: Api) -> None:
    body = b'{"query": "%b"}' % (b"\\ud83e\\udd86" * 20_000)
    assert bot.send("POST", "/route", body).status_code == 200


def test_hidden_skills_are_never_named(bot: Api, project: Project, operator: Actor) -> None:
    disable_skill(project, "pod-crash-triage", by=operator)
    yank_version(project, "expense-report", "1", reason="wrong", by=operator)
    assert names(ask(bot, "pod expense report triage", threshold=0)) == ["pod-names"]
    quarantine.quarantine(project, "pod-names", "1", reason="Sends keys away.", by=operator)
    assert names(ask(bot, "pod-names", threshold=0)) == []


def test_a_deleted_skill_is_never_named(bot: Api, project: Project, operator: Actor) -> None:
    delete_skill(project, "pod-names", by=operator)
    assert names(ask(bot, "pod-names", threshold=0)) == ["pod-crash-triage"]


def test_an_agent_with_a_list_gets_only_those(
    project: Project, bot: Api, api: Callable[..., Api], operator: Actor
) -> None:
    limited = api("read", agent="limited")
    agents.amend(project, "limited", {"allowed_skills": ("pod-names",)}, by=operator)
    assert names(ask(limited, "pod crash triage", threshold=0)) == ["pod-names"]


def test_a_question_counts_as_a_read(bot: Api, settings: Any) -> None:
    settings.RATE_LIMIT_READ, settings.RATE_LIMIT_WRITE = 7, 3
    response = bot.send("POST", "/route", {"query": "x"})
    assert (response["RateLimit-Limit"], response["RateLimit-Remaining"]) == ("7", "6")


def test_the_scope_for_reading_is_needed(project: Project, api: Callable[..., Api]) -> None:
    problem(api("propose").send("POST", "/route", {"query": "x"}), 403, "forbidden")


def test_a_get_is_refused(bot: Api) -> None:
    problem(bot.get("/route"), 405, "method-not-allowed")
