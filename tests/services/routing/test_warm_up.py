"""Indexes are prepared before somebody asks, within a limit."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from registry.models import Project, RouteLog
from registry.services.catalog import built_in
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.routing import index_build, indexes
from registry.services.routing.indexes import Indexes
from registry.services.routing.warm_up import WarmUp
from registry.services.skills import skills
from tests.conftest import on_disk, skill_bundle

MANY = index_build.FEW + 20


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Any) -> None:
    settings.SKILLSITE_DATA, settings.ROUTING_WAIT_SECONDS = tmp_path / "data", 30


@pytest.fixture
def others(operator: Actor, project: Project) -> list[Project]:
    return [projects.create(slug=slug, name=slug, by=operator) for slug in ("first", "second")]


def asked(project: Project) -> None:
    RouteLog.objects.create(project=project, at=timezone.now(), caller="bot", query="?", found=False, threshold=0.5)


def test_only_projects_that_changed_are_indexed_again(project: Project, others: list[Project], author: Actor) -> None:
    warm_up = WarmUp()
    assert sorted(warm_up.run_once()) == sorted([project.pk, *(other.pk for other in others)])
    assert warm_up.run_once() == []
    skills.create(project, skill_bundle("penguins"), by=author)
    assert warm_up.run_once() == [project.pk]
    assert warm_up.run_once() == []


def test_a_changed_built_in_skill_is_indexed_for_every_project(
    project: Project, others: list[Project], library: Path
) -> None:
    warm_up = WarmUp()
    warm_up.run_once()
    on_disk(library, "walrus-care")
    built_in.index().refresh()
    assert len(warm_up.run_once()) == 3


def test_an_archived_project_is_left_out(project: Project, others: list[Project]) -> None:
    Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    assert project.pk not in WarmUp().run_once()


def test_projects_that_were_asked_last_come_first(
    project: Project, others: list[Project], library: Path, settings: Any
) -> None:
    on_disk(library, "walrus-care")
    built_in.index().refresh()
    first, second = others
    asked(first)
    asked(second)
    settings.ROUTING_WARM_SKILLS = 2
    assert WarmUp().run_once() == [second.pk, first.pk]


def test_a_project_that_changes_takes_the_place_of_one_that_rests(
    project: Project, others: list[Project], library: Path, author: Actor, settings: Any
) -> None:
    on_disk(library, "walrus-care")
    built_in.index().refresh()
    asked(others[0])
    settings.ROUTING_WARM_SKILLS = 1
    warm_up = WarmUp()
    assert warm_up.run_once() == [others[0].pk]
    skills.create(project, skill_bundle("penguins"), by=author)
    assert warm_up.run_once() == [project.pk]


def test_an_error_in_one_project_does_not_stop_the_others(
    project: Project, others: list[Project], caplog: pytest.LogCaptureFixture
) -> None:
    class Faulty(Indexes):
        def of(self, project_id: int, revision: int, *, complete: bool = False) -> indexes.ProjectIndex:
            if project_id == others[0].pk:
                raise MemoryError
            return super().of(project_id, revision, complete=complete)

    assert len(WarmUp(Faulty()).run_once()) == 3
    assert "could not be prepared" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_the_next_question_finds_the_index_complete(project: Project, library: Path, settings: Any) -> None:
    for number in range(MANY):
        on_disk(library, f"skill-{number:03}")
    built_in.index().refresh()
    settings.ROUTING_WAIT_SECONDS = 0
    WarmUp().run_once()
    project.refresh_from_db()
    found = indexes.of(project.pk, project.revision)
    assert (found.missing, len(found.candidates)) == (0, MANY)
