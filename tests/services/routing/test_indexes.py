"""The index follows the skills that agents get, and is never needed for more than speed."""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.core.catalog.precedence import Candidate
from registry.core.routing import analysis
from registry.core.routing.analysis import Analysed
from registry.core.routing.vectors import Encoder
from registry.lib import lru
from registry.models import Project
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from registry.services.routing import analysed_skills, encoder, index_store, indexes, routing
from registry.services.routing.indexes import Indexes
from registry.services.skills import skills, versions
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill

REFUNDS = "Pays money back to customers. Use when somebody wants a refund."
DEPLOY = "Releases a service to production. Use when a deployment is due."


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Any) -> Path:
    settings.SKILLSITE_DATA, settings.DATABASE_URL = tmp_path / "data", ""
    return tmp_path / "data" / "routing" / "index.sqlite3"


@pytest.fixture
def filled(project: Project, author: Actor) -> Project:
    create_skill(project, skill_bundle("refunds", description=REFUNDS), by=author)
    create_skill(project, skill_bundle("deploy", description=DEPLOY), by=author)
    return project


def best(project: Project, query: str, **more: Any) -> str:
    project.refresh_from_db()
    ranking = routing.route(project.pk, project.revision, query, threshold=0.0, **more).ranking
    return ranking[0].candidate.name if ranking else ""


def test_a_new_skill_is_found_right_after_it_is_saved(filled: Project, author: Actor) -> None:
    assert best(filled, "penguin care") != "penguins"
    skills.create(filled, skill_bundle("penguins", description="Takes care of a penguin."), by=author)
    assert best(filled, "penguin care") == "penguins"
    new = skill_bundle("penguins", description="Takes care of a walrus.")
    skills.save(filled, "penguins", new, base=skill_digest(filled, "penguins"), by=author)
    assert best(filled, "walrus care") == "penguins"
    assert "penguins" not in ranked(filled, "refund of money", least=1.0)


def skill_digest(project: Project, name: str) -> str:
    project.refresh_from_db()
    return indexes.of(project.pk, project.revision).candidates[name].digest


def ranked(project: Project, query: str, *, least: float = 0.0) -> list[str]:
    project.refresh_from_db()
    ranking = routing.route(project.pk, project.revision, query, threshold=0.0).ranking
    return [skill.candidate.name for skill in ranking if skill.score >= least]


def test_a_built_in_skill_is_found_after_a_hot_reload(filled: Project, library: Path) -> None:
    best(filled, "walrus")
    on_disk(library, "walrus-care", description="Takes care of a walrus.")
    built_in.index().refresh()
    assert best(filled, "walrus food") == "walrus-care"
    (library / "walrus-care" / "SKILL.md").unlink()
    (library / "walrus-care").rmdir()
    built_in.index().refresh()
    assert "walrus-care" not in ranked(filled, "walrus food")


def test_a_withdrawn_version_is_never_named(filled: Project, author: Actor, owner: Actor) -> None:
    assert best(filled, "refund of money") == "refunds"
    versions.yank(filled, "refunds", "1", reason="Wrong.", by=owner)
    assert "refunds" not in ranked(filled, "refund of money")
    assert [found.name for found in search(filled, "refunds")] != ["refunds"]


def search(project: Project, words: str) -> list[routing.Found]:
    project.refresh_from_db()
    return list(routing.search(project.pk, project.revision, words))


def test_a_warm_question_costs_no_query(filled: Project) -> None:
    best(filled, "refund of money")
    with CaptureQueriesContext(connection) as captured:
        routing.route(filled.pk, filled.revision, "another question about money")
        routing.search(filled.pk, filled.revision, "mony refnd")
    assert len(captured) == 0


def test_an_update_reads_only_the_changed_skill(filled: Project, author: Actor) -> None:
    read: list[str] = []

    def analyse(project_id: int, candidates: Sequence[Candidate], used: Encoder | None) -> Mapping[str, Analysed]:
        read.extend(candidate.name for candidate in candidates)
        return analysed_skills.of(project_id, candidates, used)

    own = Indexes(analyse=analyse)
    filled.refresh_from_db()
    assert own.of(filled.pk, filled.revision).missing == 0
    assert sorted(read) == ["deploy", "refunds"]
    read.clear()
    skills.create(filled, skill_bundle("penguins", description="Takes care of a penguin."), by=author)
    filled.refresh_from_db()
    assert sorted(own.of(filled.pk, filled.revision).candidates) == ["deploy", "penguins", "refunds"]
    assert read == ["penguins"]


def test_a_new_process_reads_no_skill_again(filled: Project) -> None:
    found = ranked(filled, "refund of money")
    lru.clear_all()
    with CaptureQueriesContext(connection) as captured:
        assert ranked(filled, "refund of money") == found
    assert not any("manifest" in query["sql"] for query in captured)


@pytest.mark.parametrize("damage", ["not a database", "a wrong value", "another version", "no directory"])
def test_a_damaged_store_changes_no_answer(filled: Project, data: Path, damage: str) -> None:
    found = ranked(filled, "refund of money")
    assert data.exists()
    if damage == "not a database":
        data.write_bytes(b"damaged" * 2_000)
    elif damage == "no directory":
        for file in data.parent.iterdir():
            file.unlink()
        data.parent.rmdir()
        data.parent.write_bytes(b"")
    else:
        with closing(sqlite3.connect(data, isolation_level=None)) as database:
            change = "value = x'00'" if damage == "a wrong value" else "key = randomblob(16)"
            database.execute(f"UPDATE derived SET {change}")  # noqa: S608 - one of two constants
    lru.clear_all()
    assert ranked(filled, "refund of money") == found


def test_machines_that_share_a_database_do_not_share_the_file(filled: Project, data: Path, settings: Any) -> None:
    ranked(filled, "refund of money")
    settings.DATABASE_URL = "postgresql://example"
    lru.clear_all()
    ranked(filled, "refund of money")
    (other,) = data.parent.glob("index-*.sqlite3")
    os.utime(data, (0, 0))
    assert index_store.sweep() == 0
    assert (data.exists(), other.exists()) == (False, True)


def test_an_analysis_of_another_version_is_made_anew(filled: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ranked(filled, "refund of money")
    monkeypatch.setattr(analysis, "FORMAT", "another")
    lru.clear_all()
    assert index_store.load([(skill_digest(filled, "refunds"), "refunds")], "1") == {}
    assert ranked(filled, "refund of money") == found


def test_without_an_encoder_words_still_find_skills(filled: Project, settings: Any) -> None:
    settings.ROUTING_EMBEDDINGS = False
    filled.refresh_from_db()
    routed = routing.route(filled.pk, filled.revision, "refund of money", threshold=0.0)
    assert routed.ranking[0].candidate.name == "refunds"
    (meaning,) = [link for link in routed.links if link.name == "meaning"]
    assert (meaning.status, meaning.detail) == ("unavailable", encoder.SWITCHED_OFF)


def test_a_blob_that_is_missing_leaves_the_description(filled: Project, blob_directory: Path) -> None:
    for file in blob_directory.rglob("*"):
        if file.is_file():
            file.unlink()
    lru.clear_all()
    assert best(filled, "refund of money") == "refunds"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "the of and",
        "\0",
        "\0refund\0",
        "🙂🙂",
        "مرحبا بالعالم",
        "שלום",
        "退款",
        "refund " * 2_800,
        "a" * 20_000,
        "\ud800",
    ],
    ids=[
        "empty",
        "spaces",
        "stop words",
        "NUL",
        "NUL in it",
        "emoji",
        "Arabic",
        "Hebrew",
        "Chinese",
        "long",
        "one word",
        "half",
    ],
)
def test_any_query_has_an_answer(filled: Project, query: str) -> None:
    filled.refresh_from_db()
    routed = routing.route(filled.pk, filled.revision, query, threshold=0.0)
    assert {link.status for link in routed.links} <= {"ok", "skipped", "unavailable"}
    routing.search(filled.pk, filled.revision, query)
    if not query.strip() or query == "the of and":
        assert routed.ranking == ()


def test_a_whole_document_as_a_question_finds_its_skill(filled: Project) -> None:
    document = f"# Ticket\n\n{REFUNDS}\n\n" + "We waited for an answer and nobody wrote. " * 300
    assert best(filled, document[:20_000]) == "refunds"
