"""Events that do not raise the revision of their project: the verification knows how many there are."""

import pytest

from registry.models import Project
from registry.services import audit
from registry.services.audit_log import verification
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle


@pytest.fixture
def revision(project: Project, operator: Actor) -> int:
    """Return the revision after a change of the project, between two events of runs."""
    for verb in ("run.started", "run.completed"):
        with audit.change(project, verb, by=operator, revises=False):
            pass
        if verb == "run.started":
            skills.create(project, skill_bundle(), by=operator)
    project.refresh_from_db()
    return project.revision


@pytest.mark.parametrize("newest", [None, 1, 2, 3])
def test_a_log_with_events_of_runs_is_intact(project: Project, revision: int, newest: int | None) -> None:
    assert revision == 2
    assert verification.verify(project, newest=newest)[1] == []


@pytest.mark.parametrize("newest", [None, 1, 2, 3])
def test_a_wrong_revision_is_found_beside_events_of_runs(project: Project, revision: int, newest: int | None) -> None:
    Project.objects.filter(pk=project.pk).update(revision=revision + 1)
    assert [fault.reason for fault in verification.verify(project, newest=newest)[1]] == [
        "the project has revision 3, which means 2 events that change it"
    ]


@pytest.mark.parametrize(("verb", "revises"), [("run.started", True), ("skill.created", False)])
def test_a_verb_decides_whether_it_raises_the_revision(
    project: Project, operator: Actor, verb: str, revises: bool
) -> None:
    with pytest.raises(ValueError, match=verb), audit.change(project, verb, by=operator, revises=revises):
        pass
