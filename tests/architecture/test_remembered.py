"""Remembered rows: copies equal the originals, and a call in another state of the database runs as usual."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from registry.core.errors import AlreadyExists, InvalidSkill
from registry.models import Project, Skill
from registry.services.audit_log import verification
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import on_disk, skill_bundle
from tests.remembered import remembered, start_test
from tests.services.footprint import footprint
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]

Create = Callable[..., Skill]


@pytest.fixture
def runs() -> list[str]:
    """Return the names of the skills that the service itself created."""
    return []


@pytest.fixture
def create(project: Project, operator: Actor, runs: list[str]) -> Create:
    def make(name: str, body: str = "") -> Skill:
        runs.append(name)
        return skills.create(project, skill_bundle(name, body=body), by=operator).version.skill

    make.__qualname__ += str(id(runs))  # no other test knows this function
    return remembered(make)


@contextmanager
def one_test() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patches:
        start_test(patches)
        point = transaction.savepoint()
        yield patches
        transaction.savepoint_rollback(point)


def test_a_copy_equals_the_original(project: Project, create: Create, runs: list[str]) -> None:
    seen = []
    for _ in range(4):
        with one_test():
            keys = create("greeting").pk, create("other", body="Other.").pk
            seen.append((keys, footprint(), verification.verify(project)))
    first, recorded, *copies = seen
    assert runs == ["greeting", "other"] * 2
    assert copies == [recorded, recorded]
    assert recorded[2][1] == []
    assert {name: len(rows) for name, rows in recorded[1].items()} == {
        name: len(rows) for name, rows in first[1].items()
    }


def test_a_copied_result_belongs_to_one_test(create: Create) -> None:
    names = []
    for _ in range(4):
        with one_test():
            skill = create("greeting")
            names.append(skill.name)
            skill.name = "changed"
    assert names == ["greeting"] * 4


def test_other_arguments_run_the_service(create: Create, runs: list[str]) -> None:
    for number in range(4):
        with one_test():
            create("greeting", body=f"Text {number}.")
    assert len(runs) == 4


def test_another_write_runs_the_service(project: Project, create: Create, runs: list[str]) -> None:
    for number in range(4):
        with one_test():
            Project.objects.filter(pk=project.pk).update(name=f"Demo {number}")
            create("greeting")
            project.refresh_from_db()
            assert project.name == f"Demo {number}"
    assert len(runs) == 4


def test_another_built_in_skill_runs_the_service(create: Create, library: Path, runs: list[str]) -> None:
    for number in range(4):
        with one_test():
            on_disk(library, f"built-in-{number}")
            create("greeting")
    assert len(runs) == 4


def test_another_setting_runs_the_service(create: Create, settings: Any, runs: list[str]) -> None:
    for number in range(4):
        with one_test():
            settings.OPEN_PROPOSALS_PER_AGENT = number
            create("greeting")
    assert len(runs) == 4


def test_a_test_that_patches_code_runs_the_service(create: Create, runs: list[str]) -> None:
    for _ in range(4):
        with one_test() as patches:
            patches.setattr(os, "linesep", "\n")
            create("greeting")
    assert len(runs) == 4


def test_a_refusal_is_not_remembered(create: Create, runs: list[str]) -> None:
    for _ in range(4):
        with one_test(), pytest.raises(InvalidSkill):
            create("Not a name")
    assert len(runs) == 4


@pytest.mark.django_db(transaction=True)
def test_a_test_that_commits_runs_the_service(create: Create, runs: list[str]) -> None:
    create("greeting")
    for _ in range(3):
        start_test(pytest.MonkeyPatch())
        with pytest.raises(AlreadyExists):
            create("greeting")
    assert len(runs) == 4
