"""Builds of more skills than a request waits for: real threads complete them on a real database."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from registry.core.catalog.precedence import Candidate
from registry.core.routing.analysis import Analysed
from registry.core.routing.vectors import Encoder
from registry.lib import lru
from registry.models import Project
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from registry.services.routing import analysed_skills, index_build, indexes, ranking, routing
from registry.services.routing.indexes import Indexes
from registry.services.skills import skills
from tests.conftest import on_disk, skill_bundle

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 60.0
MANY = index_build.FEW + 20


@pytest.fixture(autouse=True)
def impatient(tmp_path: Path, settings: Any) -> Iterator[None]:
    """Let a request do the least work, so that the thread has to do the rest."""
    settings.SKILLSITE_DATA, settings.ROUTING_WAIT_SECONDS = tmp_path / "data", 0
    yield
    assert indexes.wait_until_idle(PATIENCE)


@pytest.fixture
def many(library: Path, project: Project) -> Project:
    """A project with as many built-in skills as two batches. The text of each says a word that its header does not."""
    for number in range(MANY):
        on_disk(library, f"skill-{number:03}", description=f"Does task {number}.", body=f"Feed walrus{number}x.")
    built_in.index().refresh()
    project.refresh_from_db()
    return project


class Watched:
    """An analysis that waits for `go` and remembers its skills. `entered` tells that a thread is inside."""

    def __init__(self) -> None:
        self.go, self.entered = threading.Event(), threading.Event()
        self.names: list[str] = []

    def __call__(
        self, project_id: int, candidates: Sequence[Candidate], encoder: Encoder | None
    ) -> Mapping[str, Analysed]:
        self.entered.set()
        assert self.go.wait(PATIENCE)
        self.names += [candidate.name for candidate in candidates]
        return analysed_skills.of(project_id, candidates, encoder)


def test_the_thread_completes_what_a_request_leaves(many: Project) -> None:
    own = Indexes()
    first = own.of(many.pk, many.revision)
    assert (first.missing, first.absent, len(first.candidates)) == (MANY, MANY - index_build.FEW, index_build.FEW)
    assert first.progress == (
        f"The index is being built: 0 of {MANY} skills are in it, and {index_build.FEW} more without their text."
    )
    assert own.wait_until_idle(PATIENCE)
    last = own.of(many.pk, many.revision)
    assert (last.missing, last.absent, last.progress, len(last.candidates)) == (0, 0, "", MANY)


def test_answers_get_better_while_an_index_is_built(many: Project) -> None:
    """First from names and descriptions by their words, then by the whole chain, then with the text."""
    first = routing.route(many.pk, many.revision, "task 41", threshold=0.0)
    assert first.ranking[0].candidate.name == "skill-041"
    assert {link.status for link in first.links if link.name != "summary"} == {"unavailable"}
    assert {link.detail[:25] for link in first.links} == {"The index is being built:"}
    assert routing.search(many.pk, many.revision, "task 41")[0].name == "skill-041"
    assert indexes.wait_until_idle(PATIENCE)
    last = routing.route(many.pk, many.revision, "walrus17x", threshold=0.0)
    assert last.ranking[0].candidate.name == "skill-017"
    assert {(link.status, link.detail) for link in last.links} == {("ok", "")}


def test_skills_without_their_text_are_ranked_by_the_whole_chain(many: Project) -> None:
    watched = Watched()
    own = Indexes(analyse=watched)
    own.of(many.pk, many.revision)
    assert watched.entered.wait(PATIENCE), "the thread has the headers and begins with the texts"
    with_headers = own.of(many.pk, many.revision)
    watched.go.set()
    assert (with_headers.missing, with_headers.absent, with_headers.half_built) == (MANY, 0, False)
    assert with_headers.progress == (
        f"The index is being built: 0 of {MANY} skills are in it, and {MANY} more without their text."
    )
    assert own.wait_until_idle(PATIENCE)
    assert own.of(many.pk, many.revision).missing == 0


def test_a_new_process_reads_stored_analyses_in_its_first_request(many: Project) -> None:
    indexes.of(many.pk, many.revision, complete=True)
    complete = routing.route(many.pk, many.revision, "task 41", threshold=0.0)
    lru.clear_all()
    assert routing.route(many.pk, many.revision, "task 41", threshold=0.0).ranking == complete.ranking


def test_a_change_during_a_build_is_found_at_once_and_completed_too(many: Project, author: Actor) -> None:
    watched = Watched()
    own = Indexes(analyse=watched)
    own.of(many.pk, many.revision)
    assert watched.entered.wait(PATIENCE)
    skills.create(many, skill_bundle("penguins", description="Takes care of a penguin."), by=author)
    many.refresh_from_db()
    meanwhile = own.of(many.pk, many.revision)
    assert (len(meanwhile.candidates) + meanwhile.absent, "penguins" in meanwhile.candidates) == (MANY + 1, False)
    watched.go.set()
    assert own.wait_until_idle(PATIENCE)
    last = own.of(many.pk, many.revision)
    assert (last.missing, "penguins" in last.candidates) == (0, True)


def test_a_request_that_cannot_wait_uses_what_is_still_true(project: Project, author: Actor) -> None:
    """While another thread builds, skills that changed since are left out, and the others are found."""
    for name in ("refunds", "deploy"):
        skills.create(project, skill_bundle(name), by=author)
    watched = Watched()
    watched.go.set()
    own = Indexes(analyse=watched)
    project.refresh_from_db()
    before = own.of(project.pk, project.revision)
    watched.go.clear()
    watched.entered.clear()
    new = skill_bundle("refunds", description="Takes care of a walrus.")
    skills.save(project, "refunds", new, base=before.candidates["refunds"].digest, by=author)
    project.refresh_from_db()

    def build() -> None:
        own.of(project.pk, project.revision)
        connections.close_all()

    builder = threading.Thread(target=build)
    builder.start()
    assert watched.entered.wait(PATIENCE)
    meanwhile = own.of(project.pk, project.revision)
    assert (list(meanwhile.candidates), meanwhile.missing) == (["deploy"], 1)
    watched.go.set()
    builder.join(PATIENCE)
    assert own.wait_until_idle(PATIENCE)
    assert own.of(project.pk, project.revision).missing == 0


def test_an_evaluation_waits_for_the_whole_index(many: Project) -> None:
    ranked = ranking.rank_each(many.pk, many.revision, ["walrus17x", "walrus45x"], threshold=0.0)
    assert [each.names[0] for each in ranked] == ["skill-017", "skill-045"]


def test_a_thread_that_fails_is_not_started_again_at_once(many: Project, caplog: pytest.LogCaptureFixture) -> None:
    tries: list[int] = []

    def fail(project_id: int, candidates: Sequence[Candidate], encoder: Encoder | None) -> Mapping[str, Analysed]:
        tries.append(len(candidates))
        raise RuntimeError("no memory")

    own = Indexes(analyse=fail)
    assert own.of(many.pk, many.revision).missing == MANY
    assert own.wait_until_idle(PATIENCE)
    assert len(tries) == 1
    assert own.of(many.pk, many.revision).missing == MANY
    assert own.wait_until_idle(PATIENCE)
    assert len(tries) == 1
    assert "could not be completed" in caplog.text
