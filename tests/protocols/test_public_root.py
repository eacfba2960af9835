"""The root of the site: only projects that the operator listed, in the operator's order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import Tags, run_checks
from django.test import Client

from registry.core import roles
from registry.core.errors import AlreadyExists
from registry.models import Project, User
from registry.services import permissions
from registry.services.catalog import catalog
from registry.services.people import projects
from registry.services.permissions import Actor
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill
from tests.protocols.discovery import NEW, OLD, names

TEXT = b"Another text."


@pytest.fixture
def attacker(db: None, operator: Actor) -> Project:
    """A public project whose address sorts before every other, with a skill of a name that `public` has."""
    project = projects.create(slug="0-first", name="First", by=operator)
    create_skill(project, skill_bundle("greeting", body=TEXT.decode()), by=operator)
    projects.set_public(project, True, by=operator)
    return project


def reasons(client: Client) -> list[tuple[str, str]]:
    return [(one["name"], one["project"]) for one in client.get(f"{NEW}/index.json").json().get("x-left-out", [])]


@pytest.mark.parametrize("index", [NEW, OLD])
def test_a_public_project_that_nobody_listed_is_not_at_the_root(
    client: Client, public: Project, attacker: Project, index: str
) -> None:
    create_skill(attacker, skill_bundle("bait"), by=permissions.operator())
    assert names(client.get(f"{index}/index.json")) == ["greeting", "offers"]
    assert TEXT not in client.get(f"{index}/greeting/SKILL.md").content
    assert client.get(f"{index}/bait/SKILL.md").status_code == 404
    assert TEXT in client.get(f"/projects/0-first{index}/greeting/SKILL.md").content


def test_an_etag_of_the_index_from_before_an_upgrade_does_not_match(
    client: Client, public: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(catalog, "ANSWERS", catalog.ANSWERS - 1)
        etag = client.get(f"{NEW}/index.json")["ETag"]
    assert client.get(f"{NEW}/index.json", headers={"If-None-Match": etag}).status_code == 200


def test_the_project_that_is_listed_first_wins_a_name(
    client: Client, public: Project, attacker: Project, settings: Any
) -> None:
    settings.PUBLIC_ROOT_PROJECTS = ["demo", "0-first"]
    assert TEXT not in client.get(f"{NEW}/greeting/SKILL.md").content
    assert reasons(client) == [("greeting", "0-first")]
    settings.PUBLIC_ROOT_PROJECTS = ["0-first", "demo"]
    assert TEXT in client.get(f"{NEW}/greeting/SKILL.md").content
    assert reasons(client) == [("greeting", "demo")]


def test_a_built_in_skill_that_another_project_replaced_is_not_diagnosed(
    public: Project, attacker: Project, library: Path, settings: Any, api: Callable[..., Api], operator: Actor
) -> None:
    on_disk(library, "shared")
    create_skill(attacker, skill_bundle("shared", body=TEXT.decode()), by=operator)
    settings.PUBLIC_ROOT_PROJECTS = ["0-first", "demo"]
    assert [one["name"] for one in api().get("/diagnostics").json()["results"]] == ["greeting"]


def test_a_skill_that_lost_its_name_is_diagnosed_in_its_own_project(
    client: Client,
    public: Project,
    attacker: Project,
    settings: Any,
    api: Callable[..., Api],
    person: Callable[[str], User],
) -> None:
    reader = api()
    client.force_login(person(roles.VIEWER))
    settings.PUBLIC_ROOT_PROJECTS = ["0-first", "demo"]
    (found,) = reader.get("/diagnostics").json()["results"]
    assert (found["name"], found["code"], found["served"]) == ("greeting", "hidden-at-root", True)
    assert "from the project 0-first" in found["message"]
    page = client.get("/projects/demo/skills/").content.decode()
    assert "At the root of the site, a skill of this name is listed from the project 0-first." in page
    settings.PUBLIC_ROOT_PROJECTS = ["demo", "0-first"]
    assert reader.get("/diagnostics").json()["results"] == []


def test_a_built_in_copy_never_displaces_a_skill_of_a_project(
    client: Client, public: Project, other_project: Project, library: Path, operator: Actor, settings: Any
) -> None:
    on_disk(library, "greeting", body="Built-in text.")
    projects.set_public(other_project, True, by=operator)
    settings.PUBLIC_ROOT_PROJECTS = ["other", "demo"]
    assert b"Built-in text." in client.get(f"/projects/other{NEW}/greeting/SKILL.md").content
    assert b"Built-in text." not in client.get(f"{NEW}/greeting/SKILL.md").content
    assert reasons(client) == [("greeting", "other")]
    assert names(client.get(f"{NEW}/index.json")) == ["greeting", "offers"]


@pytest.mark.parametrize("index", [NEW, OLD])
def test_an_empty_root_explains_itself(client: Client, public: Project, settings: Any, index: str) -> None:
    settings.PUBLIC_ROOT_PROJECTS = []
    body = client.get(f"{index}/index.json").json()
    assert body["skills"] == []
    assert body["x-note"].startswith("No project is listed at the root of this site.")
    settings.PUBLIC_ROOT_PROJECTS = ["demo"]
    assert "x-note" not in client.get(f"{index}/index.json").json()


def test_the_address_of_a_listed_project_cannot_be_claimed(person: Callable[[str], User], settings: Any) -> None:
    settings.PUBLIC_ROOT_PROJECTS = ["handbook"]
    somebody = permissions.visitor(person(roles.VIEWER))
    with pytest.raises(AlreadyExists, match="is reserved for a project at the root of the site"):
        projects.create(slug="handbook", name="Mine", by=somebody)
    assert not Project.objects.filter(slug="handbook").exists()


def test_the_address_of_an_archived_project_cannot_be_claimed(
    public: Project, person: Callable[[str], User], operator: Actor
) -> None:
    projects.archive(public, by=operator)
    with pytest.raises(AlreadyExists):
        projects.create(slug=public.slug, name="Mine", by=permissions.visitor(person(roles.VIEWER)))


def test_listed_projects_that_cannot_be_read_are_reported(
    public: Project, other_project: Project, attacker: Project, operator: Actor, settings: Any
) -> None:
    settings.PUBLIC_ROOT_PROJECTS = ["demo", "absent", "other", "0-first"]
    projects.archive(attacker, by=operator)
    found = [one.msg for one in run_checks(tags=[Tags.database], databases=["default"]) if one.id == "skillsite.W005"]
    assert found == [
        "PUBLIC_ROOT_PROJECTS lists absent, but no project has this address.",
        "PUBLIC_ROOT_PROJECTS lists other, but this project is not public.",
        "PUBLIC_ROOT_PROJECTS lists 0-first, but this project is archived.",
    ]
