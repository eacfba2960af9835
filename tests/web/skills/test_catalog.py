"""The page that shows the catalog as an agent gets it."""

from pathlib import Path

import pytest
from django.test import Client

from registry.models import Project
from registry.services.catalog import built_in
from tests.conftest import on_disk


@pytest.mark.parametrize("form", ["text", "xml", "json"])
def test_each_form_of_the_catalog_is_shown(shelf: None, viewer_page: Client, form: str) -> None:
    response = viewer_page.get(f"/projects/demo/catalog/?format={form}")
    assert response.status_code == 200
    assert "expense-report" in response.context["text"]
    assert "retired" not in response.context["text"]


def test_a_budget_shows_what_would_not_fit(shelf: None, viewer_page: Client) -> None:
    response = viewer_page.get("/projects/demo/catalog/?budget=60c")
    assert response.context["omitted"]
    assert "not fit." in response.content.decode()


def test_an_invalid_budget_is_refused(shelf: None, viewer_page: Client) -> None:
    response = viewer_page.get("/projects/demo/catalog/?budget=%3Cscript%3E")
    assert response.status_code == 422
    assert "is not a budget" in response.content.decode()
    assert "<script>" not in response.content.decode().replace("<script src", "")


def test_a_project_without_skills_has_no_list_for_agents(project: Project, viewer_page: Client) -> None:
    page = viewer_page.get("/projects/demo/catalog/").content.decode()
    assert "so agents get no list" in page


def test_a_description_longer_than_an_agent_reads_is_named(library: Path, viewer_page: Client) -> None:
    directory = on_disk(library, "wordy")
    content = (directory / "SKILL.md").read_text()
    (directory / "SKILL.md").write_text(content.replace("Does what", "Does what " + "word " * 400))
    built_in.index().refresh()
    limits = viewer_page.get("/projects/demo/catalog/").context["limits"]
    assert [row["fits"] for row in limits] == [True, True, False]
    assert "wordy" in limits[2]["size"]
