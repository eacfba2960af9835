"""Changes of several selected skills at once."""

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Event, Project
from registry.services.catalog import catalog
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser
from tests.web.skills.lists import LIST, text, tick


@pytest.mark.parametrize("role", [roles.AUTHOR, roles.REVIEWER, roles.OWNER])
def test_selected_skills_are_switched_off_and_on_again(
    shelf: None, project: Project, browser_client: Browser, role: str
) -> None:
    client = browser_client(role)
    response = tick(client, "off", "invoice", "sql-review", query="?tag=data")
    assert (response.status_code, response["Location"]) == (302, f"{LIST}?tag=data")
    assert [catalog.get(project.pk, name).enabled for name in ("invoice", "sql-review")] == [False, False]
    assert f'Switched off 2 skills. Agents notice with their next request. <a href="{LIST}?state=off">' in text(client)
    tick(client, "on", "invoice", "sql-review")
    assert catalog.get(project.pk, "invoice").enabled


def test_each_selected_skill_has_its_own_event(shelf: None, browser_client: Browser) -> None:
    tick(browser_client(roles.AUTHOR), "off", "invoice", "expense-report", "invoice", "retired")
    events = Event.objects.filter(verb="skill.disabled", actor_name="author").values_list("target", flat=True)
    assert sorted(events) == ["expense-report", "invoice"]


def test_adding_a_tag_creates_a_version_and_changes_nothing_else(
    shelf: None, project: Project, browser_client: Browser
) -> None:
    before = catalog.load(project.pk, "invoice")
    tick(browser_client(roles.AUTHOR), "tag", "invoice", tag="  year  end ")
    after = catalog.load(project.pk, "invoice")
    assert after.candidate.tags == ("money", "data", "year end")
    assert after.candidate.version == "2"
    assert after.skill_md().instructions == before.skill_md().instructions
    tick(browser_client(roles.AUTHOR), "untag", "invoice", tag="year end")
    assert catalog.load(project.pk, "invoice").candidate.tags == ("money", "data")


def test_adding_an_existing_tag_creates_no_version(shelf: None, browser_client: Browser) -> None:
    client = browser_client(roles.AUTHOR)
    text(client)
    with nothing_left_behind():
        tick(client, "tag", "invoice", tag="money")


def test_a_selected_built_in_skill_is_reported_and_the_others_are_tagged(
    shelf: None, project: Project, browser_client: Browser
) -> None:
    response = tick(browser_client(roles.AUTHOR), "tag", "sql-review", "invoice", tag="new")
    page = response.content.decode()
    assert "1 skill was not changed." in page
    assert "it is built-in. Customise it first." in page
    assert 'value="sql-review" checked' in page
    assert 'value="invoice" checked' not in page
    assert catalog.load(project.pk, "invoice").candidate.tags == ("money", "data", "new")
    assert "new" not in catalog.load(project.pk, "sql-review").candidate.tags


@pytest.mark.parametrize(
    ("act", "ticked", "tag", "said"),
    [
        ("off", [], "", "No skills are selected"),
        ("tag", ["invoice"], "", "Type a tag first"),
        ("tag", ["invoice"], "a,b", "A tag cannot contain a comma"),
        ("tag", ["invoice"], "x" * 41, "The tag has 41 characters. 40 are allowed."),
        ("explode", ["invoice"], "", "Choose what to do with the selected skills"),
        ("", ["invoice"], "", "Choose what to do with the selected skills"),
        ("off", [f"skill-{number}" for number in range(201)], "", "201 skills are selected. 200 are allowed."),
    ],
)
def test_a_refused_bulk_change_keeps_the_selection(
    shelf: None, browser_client: Browser, act: str, ticked: list[str], tag: str, said: str
) -> None:
    client = browser_client(roles.AUTHOR)
    text(client)
    with nothing_left_behind():
        response = tick(client, act, *ticked, tag=tag)
    assert response.status_code == 422
    assert said in response.content.decode()
    if "invoice" in ticked:
        assert 'value="invoice" checked' in response.content.decode()


@pytest.mark.parametrize("name", ["nobody", "", "../etc", "a/b", "<b>x", "x" * 300, "a\nb"])
@pytest.mark.parametrize("act", ["off", "tag"])
def test_a_missing_name_is_reported(shelf: None, browser_client: Browser, act: str, name: str) -> None:
    client = browser_client(roles.AUTHOR)
    text(client)
    with nothing_left_behind():
        response = tick(client, act, name, tag="new")
    page = response.content.decode()
    assert response.status_code == 200
    assert "There is no skill" in page
    assert "<b>x" not in page


@pytest.mark.parametrize("act", ["on", "off", "tag", "untag"])
def test_a_viewer_cannot_select_skills(shelf: None, viewer_page: Client, act: str) -> None:
    page = text(viewer_page)
    assert 'type="checkbox"' not in page
    assert "Switch off" not in page
    with nothing_left_behind():
        assert tick(viewer_page, act, "retired", "invoice", tag="money").status_code == 403
