"""Instructions of an agent over the API: by its name, by its own token, and with the catalog at the end."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Project, User
from registry.services.agents import agents, tokens
from registry.services.catalog import usage
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill


@pytest.fixture
def desk(project: Project, api: Callable[..., Api], operator: Actor) -> Api:
    """Return an agent that uses one skill and may load another."""
    for name in ("greeting", "offers", "secret"):
        create_skill(project, skill_bundle(name, body=f"Body of {name}."), by=operator)
    caller = api(agent="desk")
    agents.update(project, "desk", Definition("You help.", "Be brief.", ("offers",), ("greeting",)), by=operator)
    return caller


@pytest.fixture
def reader(project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    return Api(project, tokens.create_token(project, user=person(roles.VIEWER), by=operator))


@pytest.mark.parametrize("path", ["/instructions", "/agents/desk/instructions"])
def test_the_catalog_follows_everything_else(desk: Api, path: str) -> None:
    plain = desk.get(path).json()
    assert plain["text"] == "You help.\n\nBody of offers.\n\nBe brief."
    for form in ("text", "xml"):
        body = desk.get(path, catalog=form).json()
        listed = desk.get("/catalog", format=form).content.decode()
        assert body["text"] == f"{plain['text']}\n\n{listed}" and "secret" not in body["text"]
        assert body["parts"][:-1] == plain["parts"]
        assert (body["parts"][-1]["kind"], body["parts"][-1]["text"]) == ("catalog", listed)
        assert body["tokens"] == sum(part["tokens"] for part in body["parts"])
        assert desk.get(path, catalog=form, format="text").content.decode() == body["text"]


def test_a_person_sees_the_catalog_of_the_agent_and_not_their_own(desk: Api, reader: Api) -> None:
    assert (
        reader.get("/agents/desk/instructions", catalog="text").content
        == desk.get("/agents/desk/instructions", catalog="text").content
    )


def test_the_catalog_can_be_limited(desk: Api) -> None:
    body = desk.get("/instructions", catalog="text", budget="90c").json()
    assert "more skill" in body["parts"][-1]["text"]
    problem(desk.get("/instructions", catalog="text", budget="much"), 400, "invalid-request")


def test_two_agents_that_see_the_same_skills_get_their_own_instructions(
    project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    """Cached answers must not be shared, although both agents request the same URL."""
    callers = {name: api(agent=name) for name in ("one", "two")}
    for name in callers:
        agents.update(project, name, Definition(f"You are {name}."), by=operator)
    for _ in range(2):
        for name, caller in callers.items():
            assert caller.get("/instructions").json()["text"] == f"You are {name}."
    tags = {caller.get("/instructions")["ETag"] for caller in callers.values()}
    assert len(tags) == 2


def test_own_instructions_count_as_loading_their_skills(desk: Api) -> None:
    desk.get("/instructions")
    desk.get("/instructions")
    assert {(load.skill, load.caller): n for load, n in usage._buffer.loads.items()} == {("offers", "desk"): 2}


def test_a_token_of_a_person_is_told_to_name_an_agent(reader: Api) -> None:
    for _ in range(2):
        body = problem(reader.get("/instructions"), 404, "not-found")
        assert "belongs to a person, not to an agent" in body["detail"]


@pytest.mark.parametrize("query", [{"format": "yaml"}, {"catalog": "json"}])
def test_unknown_forms_are_refused(desk: Api, query: dict[str, str]) -> None:
    problem(desk.get("/instructions", **query), 400, "invalid-request")
