"""Routing and search name only skills that agents get, with the version and the digest that they can load."""

import pytest

from registry.core.errors import InvalidRequest
from registry.models import Project
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.routing import routing
from registry.services.routing.routing import ChangedSkill
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


def test_a_change_is_ranked_as_if_it_was_published(skills: Project) -> None:
    other = ChangedSkill("cheques", skill_text("cheques", description="Prints cheques for the bank.").encode())
    gone = ChangedSkill("refunds", None)
    before, after = (
        routing.rank_each(skills.pk, skills.revision, ["cheques", "refunds"], change=change, threshold=0.0)
        for change in ((), (other, gone))
    )
    found = [[[skill.candidate.name for skill in routed.ranking] for routed in each] for each in (before, after)]
    assert "cheques" not in found[0][0]
    assert (found[0][1][0], found[1][0][0]) == ("refunds", "cheques")
    assert all("refunds" not in ranking for ranking in found[1])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 51}, "limit"),
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
