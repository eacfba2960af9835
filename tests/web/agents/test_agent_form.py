"""The form of an agent: its values are stored, and invalid ones are explained."""

import pytest

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Agent, Project
from registry.services.agents import agents
from tests.services.footprint import nothing_left_behind
from tests.web.agents.pages import DESK, FILLED, LIST, NEW, TOKENS
from tests.web.conftest import Browser, signed_in


def test_an_owner_creates_changes_and_removes_an_agent(project: Project, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER)
    assert client.post(NEW, FILLED)["Location"] == TOKENS
    made = agents.definition_of(Agent.objects.get())
    assert made == Definition(
        "You check reports.\nBe exact.", "Answer in German.", ("greeting", "letters"), ("other-one",), "elevated"
    )
    assert client.post(f"{DESK}change/", {**FILLED, "sees": "all", "prompt": "New."})["Location"] == DESK
    changed = agents.definition_of(Agent.objects.get())
    assert (changed.prompt, changed.allowed_skills) == ("New.", None)
    assert client.post(f"{DESK}remove/")["Location"] == LIST
    assert client.get(DESK).status_code == 404


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "Give the agent a name"),
        ({"name": "Two Words"}, "lower-case letters"),
        ({"name": "x" * 65}, "64"),
        ({"trust": "absolute"}, "absolute"),
        ({"trust": ""}, "required"),
        ({"sees": "some"}, "some is not one of the available choices"),
        ({"sees": ""}, "Choose which skills the agent can see."),
        ({"prompt": "a" * 100_001}, "100,001 characters. At most 100,000 are allowed. Nothing was saved."),
        ({"prompt": "a\0b"}, "Null characters"),
        ({"uses_skills": "x" * 200}, "not a valid skill name"),
        ({"best_skills": "0"}, "Enter a number from 1 to 50, or leave it empty."),
        ({"best_skills": "51"}, "Enter a number from 1 to 50, or leave it empty."),
        ({"best_skills": "many"}, "Enter a whole number, or leave it empty."),
    ],
)
def test_invalid_input_is_explained_and_kept_in_the_form(
    project: Project, browser_client: Browser, wrong: dict[str, str], said: str
) -> None:
    client = signed_in(browser_client(roles.OWNER))
    with nothing_left_behind():
        response = client.post(NEW, {**FILLED, **wrong})
    assert response.status_code == 422
    page = response.content.decode()
    assert said in page
    assert "Answer in German." in page
    assert "greeting, letters" in page or "uses_skills" in wrong


def test_the_best_skills_need_a_prompt_to_choose_by(project: Project, browser_client: Browser) -> None:
    response = browser_client(roles.OWNER).post(NEW, {**FILLED, "prompt": "", "instructions": "", "best_skills": "5"})
    assert response.status_code == 422
    assert "this agent has none" in response.context["form"].errors["best_skills"][0]


def test_the_limit_of_the_skill_list_is_stored_and_removed(desk: Agent, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER)
    client.post(f"{DESK}change/", {**FILLED, "best_skills": "7"})
    assert Agent.objects.get().best_skills == 7
    assert 'value="7"' in client.get(f"{DESK}change/").content.decode()
    page = client.get(DESK).content.decode()
    assert "The 7 skills that fit its role prompt best" in page
    client.post(f"{DESK}change/", {**FILLED, "best_skills": ""})
    assert Agent.objects.get().best_skills is None


def test_two_agents_cannot_have_the_same_name(desk: Agent, browser_client: Browser) -> None:
    client = signed_in(browser_client(roles.OWNER))
    with nothing_left_behind():
        response = client.post(NEW, FILLED)
    assert response.status_code == 422
    assert "An agent named desk already exists." in response.content.decode()
