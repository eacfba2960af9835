"""Changes during a verification, which can take minutes: they are no faults."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from registry.models import Project
from registry.services.audit_log.verification import verify
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.prepared import create_skill

Change = Callable[[Project, Actor], object]
_READS_EVENTS = '"registry_event"."sequence" >= '


def create_project(project: Project, by: Actor) -> object:
    return projects.create(slug="new", name="New", by=by)


def create_project_with_skill(project: Project, by: Actor) -> object:
    return skills.create(projects.create(slug="new", name="New", by=by), skill_bundle(), by=by)


def add_first_event(project: Project, by: Actor) -> object:
    return skills.create(project, skill_bundle(), by=by)


@pytest.mark.parametrize("change", [create_project, create_project_with_skill, add_first_event])
def test_a_change_during_the_verification_is_no_fault(
    project: Project, other_project: Project, operator: Actor, change: Change
) -> None:
    create_skill(project, skill_bundle(), by=operator)
    done: list[object] = []

    def change_once(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        if _READS_EVENTS in sql and not done:
            done.append("started")
            done.append(change(other_project, operator))
        return execute(sql, *arguments)

    with connection.execute_wrapper(change_once):
        assert verify()[1] == []
    assert len(done) == 2
    assert verify()[1] == []
