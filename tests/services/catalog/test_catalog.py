"""The catalog: list, find and load agree on the effective skill of every name."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone

from registry.core.errors import NotFound
from registry.models import Project, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill, yank_version

State = Callable[[Project, Actor], None]


def _nothing(project: Project, operator: Actor) -> None:
    pass


def _own(project: Project, operator: Actor) -> None:
    create_skill(project, skill_bundle(body="# Ours"), by=operator)


def _own_and_off(project: Project, operator: Actor) -> None:
    _own(project, operator)
    disable_skill(project, "greeting", by=operator)


def _deleted(project: Project, operator: Actor) -> None:
    _own(project, operator)
    delete_skill(project, "greeting", by=operator)


def _yanked(project: Project, operator: Actor) -> None:
    _own(project, operator)
    yank_version(project, "greeting", "1", reason="Wrong.", by=operator)


def _yanked_behind_our_back(project: Project, operator: Actor) -> None:
    """Yank the current version without choosing another, as a repair by hand might."""
    _own(project, operator)
    Version.objects.update(yanked_at=timezone.now())


def _load(project: Project) -> str:
    try:
        return catalog.load(project.pk, "greeting").candidate.digest
    except NotFound:
        return ""


@pytest.mark.parametrize("built_in", [False, True], ids=["no built-in", "built-in"])
@pytest.mark.parametrize("state", [_nothing, _own, _own_and_off, _deleted, _yanked, _yanked_behind_our_back])
def test_list_find_and_load_agree(
    project: Project, library: Path, operator: Actor, state: State, built_in: bool
) -> None:
    if built_in:
        on_disk(library, body="# Built in")
    state(project, operator)
    project.refresh_from_db()
    listed = {skill.name: skill.digest for skill in catalog.view(project.pk, project.revision).served}
    found = catalog.find(project.pk, "greeting")
    assert listed == ({"greeting": _load(project)} if _load(project) else {})
    assert listed == ({"greeting": found.digest} if found and found.served else {})
    assert catalog.served_among(project.pk, ["greeting"]) == frozenset(listed)


def test_a_name_that_is_off_is_found_but_neither_listed_nor_loaded(
    project: Project, library: Path, operator: Actor
) -> None:
    on_disk(library)
    disable_skill(project, "greeting", by=operator)
    project.refresh_from_db()
    assert catalog.get(project.pk, "greeting").digest
    assert not catalog.view(project.pk, project.revision).served
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting")


def test_several_names_are_found_with_one_query(
    project: Project, library: Path, operator: Actor, django_assert_num_queries: Callable[[int], object]
) -> None:
    on_disk(library, "parting")
    _own(project, operator)
    with django_assert_num_queries(1):  # type: ignore[attr-defined]
        found = catalog.find_each(project.pk, ["greeting", "parting", "unknown"])
    assert {name: skill.from_project for name, skill in found.items()} == {"greeting": True, "parting": False}
