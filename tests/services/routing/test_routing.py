"""Routing and search name only skills that agents get, with the version and the digest that they can load."""

from typing import Any

import numpy as np
import pytest

from registry.core.errors import InvalidRequest
from registry.core.routing import chain
from registry.core.routing.link import Matches, Rows
from registry.core.routing.question import Question
from registry.models import Project
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.routing import link_runs, ranking, routing
from registry.services.routing.changes import ChangedSkill
from registry.services.routing.ranking import Ranked
from tests.conftest import skill_bundle, skill_text
from tests.prepared import create_skill, disable_skill


@pytest.fixture
def skills(project: Project, author: Actor) -> Project:
    for name, description in (
        ("refunds", "Handles refunds of customers. Use when somebody wants their money back."),
        ("deploy", "Deploys a service. Use when a release is ready."),
    ):
        create_skill(project, skill_bundle(name, description=description), by=author)
    project.refresh_from_db()
    return project


def names(project: Project, query: str, **more: object) -> list[str]:
    routed = routing.route(project.pk, project.revision, query, **{"threshold": 0.0, **more})  # type: ignore[arg-type]
    return [skill.candidate.name for skill in routed.matches]


def test_a_match_can_be_loaded_with_its_version_and_digest(skills: Project) -> None:
    first = routing.route(skills.pk, skills.revision, "money back from a refund", threshold=0.0).matches[0]
    loaded = catalog.load(skills.pk, first.candidate.name, version=first.candidate.version)
    assert (loaded.name, loaded.candidate.digest) == ("refunds", first.candidate.digest)


def test_a_skill_that_is_switched_off_or_not_allowed_is_never_named(skills: Project, author: Actor) -> None:
    assert "refunds" not in names(skills, "refunds", allowed=frozenset({"deploy"}))
    assert names(skills, "refunds", kind="knowledge") == []
    disable_skill(skills, "refunds", by=author)
    skills.refresh_from_db()
    assert "refunds" not in names(skills, "refunds")
    assert "refunds" not in [found.name for found in routing.search(skills.pk, skills.revision, "refunds")]


def test_a_skill_that_is_asked_for_by_name_leaves_no_probability_for_others(skills: Project, author: Actor) -> None:
    create_skill(skills, skill_bundle("deploy-guide"), by=author)
    skills.refresh_from_db()
    ranking = routing.route(skills.pk, skills.revision, "deploy", threshold=0.0).ranking
    assert [(skill.candidate.name, skill.confidence) for skill in ranking] == [("deploy", 1.0), ("deploy-guide", 0.0)]


def test_a_change_is_ranked_as_if_it_was_published(skills: Project) -> None:
    other = ChangedSkill("cheques", skill_text("cheques", description="Prints cheques for the bank.").encode())
    gone = ChangedSkill("refunds", None)
    before, after = (
        ranking.rank_each(skills.pk, skills.revision, ["cheques", "refunds"], change=change, threshold=0.0)
        for change in ((), (other, gone))
    )
    assert "cheques" not in before[0].names
    assert (before[1].names[0], after[0].names[0]) == ("refunds", "cheques")
    assert all("refunds" not in ranked.names for ranked in after)


@pytest.mark.parametrize("embeddings", [True, False])
@pytest.mark.parametrize("threshold", [0.0, 0.3, None])
def test_an_evaluation_ranks_as_a_question_is_routed(
    skills: Project, settings: Any, embeddings: bool, threshold: float | None
) -> None:
    settings.ROUTING_EMBEDDINGS = embeddings
    queries = [
        "money back from a refund", "We are a shop. How do we release a service?", "Deploy", "refunds", "poems", "the",
        "release " * 2_000, "Rückzahlung für Kunden", "退款",
    ]  # fmt: skip
    ranked = ranking.rank_each(skills.pk, skills.revision, queries, threshold=threshold)
    routed = [
        routing.route(skills.pk, skills.revision, query, threshold=threshold, limit=ranking.RANKED_EACH)
        for query in queries
    ]
    assert ranked == [
        Ranked(
            tuple(skill.candidate.name for skill in each.ranking),
            tuple(skill.score for skill in each.ranking),
            each.ranking[0].confidence if each.ranking else 0.0,
            bool(each.matches),
            each.answered_by,
            each.signals,
        )
        for each in routed
    ]
    assert len({each.found for each in ranked}) == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"threshold": 1.1}, "threshold"),
        ({"threshold": -0.1}, "thr"),
    ],
)
def test_values_out_of_range_are_refused(skills: Project, more: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        routing.route(skills.pk, skills.revision, "refunds", **more)  # type: ignore[arg-type]


def test_a_query_that_is_too_long_is_refused(skills: Project) -> None:
    with pytest.raises(InvalidRequest, match="20,001 characters"):
        routing.route(skills.pk, skills.revision, "a" * 20_001)


class Added:
    """A link as another file would define it."""

    name, cost = "added", 10_000

    def __init__(self, score: float = 100.0) -> None:
        self.score = score

    def rank(self, question: Question, rows: Rows) -> Matches:
        found = [row for row in rows.tolist() if question.index.names[row] == "deploy"]
        return Matches(np.array(found, np.intp), np.full(len(found), self.score), lambda row: "It was added.")


def test_a_new_link_is_one_line(skills: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "LINKS", (*chain.LINKS, Added()))
    routed = routing.route(skills.pk, skills.revision, "money back from a refund", threshold=0.0)
    first = routed.ranking[0]
    assert (first.candidate.name, first.link, first.reason) == ("deploy", "added", "It was added.")
    assert [link.name for link in routed.links][-1] == "added"


def test_a_link_that_fails_is_reported_counted_and_logged_once(
    skills: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = names(skills, "money back from a refund")
    monkeypatch.setattr(chain, "LINKS", (Added(float("nan")), *chain.LINKS))
    counted = link_runs.counts().get(("added", "invalid"), 0)
    with caplog.at_level("WARNING"):
        for _ in range(3):
            routed = routing.route(skills.pk, skills.revision, "money back from a refund", threshold=0.0)
    assert [skill.candidate.name for skill in routed.matches] == before
    assert (routed.links[0].status, routed.links[0].detail) == ("invalid", "A score is infinite or not a number.")
    assert link_runs.counts()[("added", "invalid")] == counted + 3
    (logged,) = [message for message in caplog.messages if "added" in message]
    assert f"number {counted + 1} since the start" in logged


@pytest.mark.parametrize(
    ("words", "name"),
    [("refund", "refunds"), ("refnuds", "refunds"), ("mon", "refunds"), ("deploys services", "deploy")],
)
def test_a_search_finds_other_forms_errors_and_beginnings(skills: Project, words: str, name: str) -> None:
    found = routing.search(skills.pk, skills.revision, words)
    assert found[0].name == name
    assert found[0].terms
