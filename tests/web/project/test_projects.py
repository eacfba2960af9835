"""Projects: listing, creating, describing, archiving and bringing back, for each role."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Event, Membership, Project, User
from registry.services.people import accounts, projects
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser

NOT_OWNERS = [roles.VIEWER, roles.AUTHOR, roles.REVIEWER]
SETTINGS, PUBLIC = "/projects/demo/settings/", "/projects/demo/public/"
ARCHIVE, BACK = "/projects/demo/archive/", "/projects/demo/bring-back/"


def stranger(operator: Actor) -> Client:
    client = Client()
    client.force_login(accounts.create_user("stranger", by=operator))
    client.get("/projects/")
    return client


# -- The list -----------------------------------------------------------------------------------------------


def test_my_projects_are_listed_with_role_and_own_skills(
    project: Project, other_project: Project, operator: Actor, browser_client: Browser
) -> None:
    create_skill(project, skill_bundle(), by=operator)
    page = browser_client(roles.AUTHOR).get("/projects/").content.decode()
    assert '<a href="/projects/demo/skills/">Demo</a>' in page
    assert "1 project skill</span><span>Author</span>" in page
    assert "Other" not in page


def test_a_person_without_projects_sees_an_empty_list(project: Project, operator: Actor) -> None:
    page = stranger(operator).get("/projects/").content.decode()
    assert "You have no projects yet" in page
    assert "Demo" not in page


def test_the_number_of_queries_does_not_grow_with_the_projects(
    project: Project, browser_client: Browser, person: Callable[[str], User], django_assert_num_queries: Any
) -> None:
    client = browser_client(roles.OWNER)
    client.get("/projects/")
    for number in range(12):
        more = projects.create(slug=f"more-{number}", name=f"More {number}", by=_owner(person))
        if number % 2:
            projects.archive(more, by=_member_of(more, person))
        if number in (0, 11):
            # session, user, projects, archived ones, the switcher's projects, unread entries of the inbox
            with django_assert_num_queries(7):
                client.get("/projects/")


def _owner(person: Callable[[str], User]) -> Actor:
    return Actor("person", "owner", user_id=person(roles.OWNER).pk)


def _member_of(project: Project, person: Callable[[str], User]) -> Actor:
    scopes = roles.SCOPES_OF_ROLE[roles.OWNER]
    return Actor("person", "owner", project.pk, scopes, user_id=person(roles.OWNER).pk)


# -- Creating -----------------------------------------------------------------------------------------------


def test_the_creator_of_a_project_is_its_owner(project: Project, operator: Actor) -> None:
    client = stranger(operator)
    made = client.post("/projects/", {"name": "Night shift", "slug": "night"})
    assert (made.status_code, made["Location"]) == (302, "/projects/night/skills/")
    assert Membership.objects.get(project__slug="night").role == roles.OWNER
    assert "Night shift created. You are its owner." in client.get("/projects/").content.decode()


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Zürich: Customer  operations", "zurich-customer-operations"),
        ("snake_case -_- name", "snake-case-name"),
        ("A" * 100, "a" * 64),
        ("x " * 40, "x-" * 31 + "x"),
    ],
)
def test_without_an_address_one_is_made_from_the_name(project: Project, operator: Actor, name: str, slug: str) -> None:
    response = stranger(operator).post("/projects/", {"name": name, "slug": ""})
    assert response.status_code == 302
    assert Project.objects.filter(slug=slug).exists()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": "", "slug": "x"}, "Enter a name"),
        ({"name": "   ", "slug": "x"}, "Enter a name"),
        ({"name": "x" * 101, "slug": "x"}, "at most 100 characters"),
        ({"name": "Demo again", "slug": "demo"}, "The address demo is taken."),
        ({"name": "Demo again", "slug": "Demo"}, "lower-case letters, digits and single hyphens"),
        ({"name": "N", "slug": "a--b"}, "lower-case letters"),
        ({"name": "N", "slug": "-a"}, "lower-case letters"),
        ({"name": "N", "slug": "a/b"}, "lower-case letters"),
        ({"name": "N", "slug": "ümlaut"}, "lower-case letters"),
        ({"name": "N", "slug": "a" * 65}, "lower-case letters"),
        ({"name": "日本", "slug": ""}, "lower-case letters"),
        ({"name": "N", "slug": "n", "description": "x" * 301}, "at most 300 characters"),
    ],
)
def test_an_invalid_project_is_refused_and_the_form_keeps_its_values(
    project: Project, operator: Actor, values: dict[str, str], said: str
) -> None:
    client = stranger(operator)
    with nothing_left_behind():
        response = client.post("/projects/", values)
    page = response.content.decode()
    assert response.status_code == 422
    assert said in page
    assert f'value="{values["slug"]}"' in page or not values["slug"]


def test_an_address_of_an_archived_project_stays_taken(project: Project, operator: Actor) -> None:
    projects.archive(project, by=operator)
    assert stranger(operator).post("/projects/", {"name": "D", "slug": "demo"}).status_code == 422


# -- Settings -----------------------------------------------------------------------------------------------


def test_an_owner_changes_name_and_description(project: Project, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER)
    response = client.post(SETTINGS, {"name": "New <b>name</b>", "description": "What it is for."})
    assert response.status_code == 302
    project.refresh_from_db()
    assert (project.name, project.description, project.slug) == ("New <b>name</b>", "What it is for.", "demo")
    page = client.get(SETTINGS).content.decode()
    assert "Name and description saved." in page
    assert "<b>name" not in page


@pytest.mark.parametrize("values", [{"name": ""}, {"name": "x" * 101}, {"name": "ok", "description": "x" * 301}])
def test_a_name_that_cannot_be_kept_is_refused(
    project: Project, browser_client: Browser, values: dict[str, str]
) -> None:
    client = browser_client(roles.OWNER)
    client.get(SETTINGS)
    with nothing_left_behind():
        assert client.post(SETTINGS, values).status_code == 422


@pytest.mark.parametrize("role", NOT_OWNERS)
def test_only_owners_see_and_change_the_settings(project: Project, browser_client: Browser, role: str) -> None:
    client = browser_client(role)
    assert "/settings/" not in client.get("/projects/demo/skills/").content.decode()
    with nothing_left_behind():
        assert client.get(SETTINGS).status_code == 403
        assert client.post(SETTINGS, {"name": "Mine"}).status_code == 403
        assert client.post(PUBLIC, {"public": "yes"}).status_code == 403
        assert client.post(ARCHIVE).status_code == 403
        assert client.post(BACK).status_code == 403


def test_the_owner_of_another_project_finds_nothing(project: Project, operator: Actor) -> None:
    client = stranger(operator)
    with nothing_left_behind():
        for address in (SETTINGS, PUBLIC, ARCHIVE, BACK):
            assert client.post(address, {"name": "Mine", "public": "yes"}).status_code == 404


@pytest.mark.parametrize("address", [SETTINGS, PUBLIC, ARCHIVE, BACK, "/projects/"])
def test_forms_of_another_site_are_refused(project: Project, browser_client: Browser, address: str) -> None:
    client = browser_client(roles.OWNER, strict=True)
    client.get("/projects/")
    with nothing_left_behind():
        assert client.post(address, {"name": "Mine", "slug": "mine", "public": "yes"}).status_code == 403


@pytest.mark.parametrize("address", [PUBLIC, ARCHIVE, BACK])
def test_looking_does_not_archive(project: Project, browser_client: Browser, address: str) -> None:
    client = browser_client(roles.OWNER)
    client.get("/projects/")
    with nothing_left_behind():
        assert client.get(address).status_code == 405


# -- Public reading -----------------------------------------------------------------------------------------


def test_an_owner_makes_the_project_public_and_private_again(project: Project, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER)
    assert "Make public" in client.get(SETTINGS).content.decode()
    client.post(PUBLIC, {"public": "yes"})
    assert Project.objects.get(pk=project.pk).public
    assert "This project is public" in client.get(SETTINGS).content.decode()
    client.post(PUBLIC, {"public": "no"})
    assert not Project.objects.get(pk=project.pk).public


@pytest.mark.parametrize("value", ["", "1", "true", "YES"])
def test_a_project_becomes_public_only_by_an_exact_yes(project: Project, browser_client: Browser, value: str) -> None:
    browser_client(roles.OWNER).post(PUBLIC, {"public": value})
    assert not Project.objects.get(pk=project.pk).public


# -- Archiving ----------------------------------------------------------------------------------------------


def test_an_archived_project_is_closed_until_it_is_restored(
    project: Project, operator: Actor, browser_client: Browser, api: Any
) -> None:
    create_skill(project, skill_bundle(), by=operator)
    agent, owner, viewer = api("read"), browser_client(roles.OWNER), browser_client(roles.VIEWER)
    assert agent.get("/catalog").status_code == 200
    assert owner.post(ARCHIVE)["Location"] == "/projects/"
    assert agent.get("/catalog").status_code == 401
    assert owner.get("/projects/demo/skills/").status_code == 404
    assert "Restore" in owner.get("/projects/").content.decode()
    assert "Demo" not in viewer.get("/projects/").content.decode()
    assert owner.post(BACK)["Location"] == "/projects/demo/skills/"
    assert agent.get("/catalog").status_code == 200
    assert list(Event.objects.filter(verb__startswith="project.").values_list("verb", flat=True)) == [
        "project.created", "project.archived", "project.brought-back",
    ]  # fmt: skip


@pytest.mark.parametrize("role", NOT_OWNERS)
def test_only_an_owner_brings_a_project_back(
    project: Project, operator: Actor, browser_client: Browser, role: str
) -> None:
    client = browser_client(role)
    projects.archive(project, by=operator)
    client.get("/projects/")
    with nothing_left_behind():
        assert client.post(BACK).status_code == 403


def test_a_project_that_is_not_archived_cannot_be_restored(project: Project, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER)
    client.get("/projects/")
    with nothing_left_behind():
        assert client.post(BACK).status_code == 409
