"""An author writes a skill in the browser and publishes it; the next agent gets it, and no work is lost."""

from collections.abc import Callable
from pathlib import Path

from django.test import Client

from registry.core import roles
from registry.models import Event, Project, Version
from registry.services.audit_log import verification
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from tests.conftest import Api, on_disk, skill_text
from tests.flows.conftest import visible_text, write


def test_a_skill_written_in_the_browser_reaches_the_next_agent(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    author = browser(roles.AUTHOR)
    assert write(author, skill_text(body="Half a thou"), "save").status_code == 302
    assert agent.get("/catalog").json()["skills"] == [], "nobody else sees a draft"

    assert write(author, skill_text(body="A whole thought."), "publish", note="First").status_code == 302
    skill = agent.get("/skills/greeting").json()
    assert (skill["instructions"], skill["version"]) == ("A whole thought.", "1")
    version = Version.objects.get()
    assert (version.by, version.note) == ("author", "First")
    event = Event.objects.get(verb="skill.created")
    assert (event.actor_name, event.after) == ("author", skill["digest"])
    assert verification.verify()[1] == []


def test_a_text_with_an_error_is_shown_again_and_not_published(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    text = "---\nname: greeting\nname: greeting\ndescription: x\n---\nHello.\n"
    response = write(browser(roles.AUTHOR), text, "publish")
    assert response.status_code == 422
    assert "appears twice" in response.content.decode()
    assert agent.get("/skills/greeting").status_code == 404
    assert not Version.objects.exists()


def test_an_author_customises_a_built_in_skill_and_undoes_it(
    library: Path, project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    on_disk(library, body="Built-in.", files={"a.txt": b"a"})
    built_in = agent.get("/skills/greeting").json()
    author = browser(roles.AUTHOR)
    ours = skill_text(body="Our way.")
    assert write(author, ours, "publish", name="greeting", base=built_in["digest"]).status_code == 302
    skill = agent.get("/skills/greeting").json()
    assert (skill["instructions"], skill["source"]) == ("Our way.", "project")
    assert [entry["path"] for entry in skill["files"]] == ["SKILL.md", "a.txt"]

    assert author.post("/projects/demo/skills/greeting/delete/").status_code in (302, 303)
    assert agent.get("/skills/greeting").json()["digest"] == built_in["digest"]


def test_two_authors_who_publish_at_once_both_keep_their_work(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    early, late = browser(roles.AUTHOR), browser(roles.REVIEWER)
    write(early, skill_text(body="One."), "publish")
    base = agent.get("/skills/greeting").json()["digest"]
    assert write(early, skill_text(body="From early."), "publish", name="greeting", base=base).status_code == 302

    response = write(late, skill_text(body="From late."), "publish", name="greeting", base=base)
    assert response["Location"].endswith("/edit/conflict/")
    assert agent.get("/skills/greeting").json()["instructions"] == "From early."
    page = visible_text(late.get(response["Location"]))
    assert "From early." in page
    assert "From late." in page


def test_a_viewer_cannot_publish(project: Project, browser: Callable[[str], Client], agent: Api) -> None:
    assert write(browser(roles.VIEWER), skill_text(), "publish").status_code == 403
    assert agent.get("/catalog").json()["skills"] == []


def test_a_person_from_another_project_gets_404(
    project: Project, other_project: Project, operator: Actor, agent: Api
) -> None:
    user = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, user, roles.OWNER, by=operator)
    client = Client()
    client.force_login(user)
    assert write(client, skill_text(), "publish").status_code == 404
    assert not Version.objects.exists()
