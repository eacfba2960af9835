"""Pages of a skill show what routing finds about its description."""

import pytest
from django.test import Client

from registry.models import Project
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.web.conftest import Browser
from tests.web.routing.pages import HTMX, words

ZITHERS = "Tune a zither. Use when a zither sounds off."
LUTES = "Repair a broken lute. Use when a lute fell down."
LOSES = "Its own description finds zither-a and not this skill."


@pytest.fixture
def browser(browser_client: Browser) -> Client:
    return browser_client("author")


@pytest.fixture
def zithers(project: Project, author: Actor) -> Project:
    create_skill(project, skill_bundle("zither-a", description=ZITHERS), by=author)
    return project


@pytest.mark.parametrize(("description", "shown"), [(ZITHERS, True), (LUTES, False)])
def test_the_page_of_a_skill_names_the_skill_that_wins(
    zithers: Project, author: Actor, browser: Client, description: str, shown: bool
) -> None:
    skills.create(zithers, skill_bundle("zither-b", description=description), by=author)
    assert (LOSES in words(browser.get("/projects/demo/skills/zither-b/source/"))) is shown


@pytest.mark.parametrize(("description", "shown"), [(ZITHERS, True), (LUTES, False)])
def test_the_editor_names_the_skill_that_wins(
    zithers: Project, author: Actor, browser: Client, description: str, shown: bool
) -> None:
    lutes = skill_bundle("zither-b", description=LUTES)
    skills.create(zithers, lutes, by=author)
    fields = {"mode": "form", "base": lutes.digest, "name": "zither-b", "kind": "tool", "do": "save"}
    typed = {**fields, "description": description, "instructions": "Follow these steps."}
    page = words(browser.post("/projects/demo/skills/zither-b/edit/", typed, headers=HTMX))
    assert (LOSES in page) is shown
