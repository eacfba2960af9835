"""The skill list: costs, tags and suggestions for misspelt words."""

from pathlib import Path

import pytest

from registry.models import Project
from registry.services.catalog import built_in, catalog, skill_list
from registry.services.catalog.catalog import View
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, disable_skill


def seen(project: Project) -> View:
    project.refresh_from_db()
    return catalog.view(project.pk, project.revision)


@pytest.fixture
def shelf(project: Project, library: Path, operator: Actor) -> Project:
    on_disk(library, "expense-report", tags=["money"])
    on_disk(library, "sql-review", tags=["data"])
    built_in.index().refresh()
    create_skill(project, skill_bundle("brand-voice"), by=operator)
    return project


def test_the_shares_add_up_to_the_whole(shelf: Project) -> None:
    cost = skill_list.cost(seen(shelf))
    assert cost.skills == 3
    assert cost.own + cost.bundled == cost.tokens > 0
    assert cost.own > 0 < cost.bundled
    assert cost.per_skill * cost.skills >= cost.tokens


def test_a_project_without_own_skills_has_no_own_share(project: Project, library: Path) -> None:
    on_disk(library, "sql-review")
    built_in.index().refresh()
    cost = skill_list.cost(seen(project))
    assert (cost.own, cost.bundled) == (0, cost.tokens)


def test_a_project_of_own_skills_alone_has_no_bundled_share(project: Project, operator: Actor) -> None:
    create_skill(project, skill_bundle("own"), by=operator)
    cost = skill_list.cost(seen(project))
    assert (cost.own, cost.bundled) == (cost.tokens, 0)


def test_an_empty_catalog_costs_nothing(project: Project) -> None:
    cost = skill_list.cost(seen(project))
    assert (cost.skills, cost.tokens, cost.per_skill, cost.longest) == (0, 0, 0, "")


def test_a_skill_that_is_switched_off_costs_nothing(shelf: Project, operator: Actor) -> None:
    before = skill_list.cost(seen(shelf)).tokens
    disable_skill(shelf, "sql-review", by=operator)
    assert skill_list.cost(seen(shelf)).tokens < before


def test_the_cost_of_a_view_is_computed_once(shelf: Project) -> None:
    view = seen(shelf)
    assert skill_list.cost(view) is skill_list.cost(view)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("expence-report", "expense-report"),
        ("EXPENSE-REPROT", "expense-report"),
        ("sqlreview", "sql-review"),
        ("vioce", "voice"),
        ("mony", "money"),
        ("xyzzy", ""),
        ("", ""),
        ("a" * 10_000, ""),
    ],
)
def test_misspelt_words_suggest_a_name(shelf: Project, typed: str, meant: str) -> None:
    assert skill_list.did_you_mean(seen(shelf), typed) == meant


def test_tags_are_sorted_and_limited(project: Project, operator: Actor) -> None:
    many = [f"tag-{number:03d}" for number in range(150)]
    create_skill(project, skill_bundle("first", tags=many[:80]), by=operator)
    create_skill(project, skill_bundle("second", tags=[*many[80:], "tag-000"]), by=operator)
    offered = skill_list.tags(seen(project))
    assert len(offered) == skill_list.MOST_TAGS
    assert offered == sorted(offered)
    assert "tag-000" in offered
