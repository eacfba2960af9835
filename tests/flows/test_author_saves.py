"""The walk of an author: write in the browser, publish, and the next agent has it; nobody's words are lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from registry.core import roles
from registry.models import Event, Project, User, Version
from registry.services import audit
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import Api, on_disk, skill_bundle, skill_text
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]


@pytest.fixture
def browser(person: Callable[[str], User]) -> Callable[[str], Client]:
    def make(role: str) -> Client:
        client = Client()
        client.force_login(person(role))
        return client

    return make


@pytest.fixture
def agent(project: Project, api: Callable[..., Api]) -> Api:
    return api("read")


def write(client: Client, text: str, do: str, *, name: str = "", base: str = "", note: str = "") -> Any:
    """The exact text typed into the editor, and one of its buttons."""
    address = f"/projects/demo/skills/{name}/edit/" if name else "/projects/demo/new/"
    return client.post(address, {"mode": "raw", "text": text, "do": do, "base": base, "note": note})


def test_a_skill_written_in_the_browser_reaches_the_next_agent(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    author = browser(roles.AUTHOR)
    assert write(author, skill_text(body="Half a thou"), "keep").status_code == 302
    assert agent.get("/catalog").json()["skills"] == [], "a draft is nobody else's"

    assert write(author, skill_text(body="A whole thought."), "publish", note="First").status_code == 302
    skill = agent.get("/skills/greeting").json()
    assert (skill["instructions"], skill["version"]) == ("A whole thought.", "1")
    version = Version.objects.get()
    assert (version.by, version.note) == ("author", "First")
    event = Event.objects.get(verb="skill.created")
    assert (event.actor_name, event.after) == ("author", skill["digest"])
    assert audit.verify()[1] == []


def test_a_text_that_breaks_a_rule_is_shown_again_and_reaches_nobody(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    text = "---\nname: greeting\nname: greeting\ndescription: x\n---\nHello.\n"
    response = write(browser(roles.AUTHOR), text, "publish")
    assert response.status_code == 422
    assert "appears twice" in response.content.decode()
    assert agent.get("/skills/greeting").status_code == 404
    assert not Version.objects.exists()


def test_a_bundled_skill_is_customised_and_given_back(
    library: Path, project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    on_disk(library, body="Bundled.", files={"a.txt": b"a"})
    bundled = agent.get("/skills/greeting").json()
    author = browser(roles.AUTHOR)
    ours = skill_text(body="Our way.")
    assert write(author, ours, "publish", name="greeting", base=bundled["digest"]).status_code == 302
    skill = agent.get("/skills/greeting").json()
    assert (skill["instructions"], skill["source"]) == ("Our way.", "project")
    assert [entry["path"] for entry in skill["files"]] == ["SKILL.md", "a.txt"]

    assert author.post("/projects/demo/skills/greeting/delete/").status_code in (302, 303)
    assert agent.get("/skills/greeting").json()["digest"] == bundled["digest"]


def test_two_people_who_save_at_once_both_keep_their_words(
    project: Project, operator: Actor, browser: Callable[[str], Client], agent: Api
) -> None:
    first = skills.create(project, skill_bundle(body="One."), by=operator).version
    early, late = browser(roles.AUTHOR), browser(roles.REVIEWER)
    assert (
        write(early, skill_text(body="From early."), "publish", name="greeting", base=first.digest).status_code == 302
    )
    response = write(late, skill_text(body="From late."), "publish", name="greeting", base=first.digest)
    assert response["Location"].endswith("/edit/conflict/")
    assert agent.get("/skills/greeting").json()["instructions"] == "From early."
    page = strip_tags(late.get(response["Location"]).content.decode())
    assert "From early." in page
    assert "From late." in page


def test_a_viewer_publishes_nothing(project: Project, browser: Callable[[str], Client], agent: Api) -> None:
    assert write(browser(roles.VIEWER), skill_text(), "publish").status_code == 403
    assert agent.get("/catalog").json()["skills"] == []


def test_a_stranger_does_not_even_find_the_project(
    project: Project, other_project: Project, operator: Actor, agent: Api
) -> None:
    from registry.services.people import accounts, members

    user = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, user, roles.OWNER, by=operator)
    client = Client()
    client.force_login(user)
    assert write(client, skill_text(), "publish").status_code == 404
    assert not Version.objects.exists()
