"""Agents over the API: their tokens, their instructions, and the skills that they may see."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.api.agent_answers import PartShape
from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Agent, Event, Project, Token, User
from registry.services import audit
from registry.services.agents import agents, tokens
from registry.services.catalog import usage
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill, ensure_agent


@pytest.fixture
def owner(project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    token = tokens.create_token(project, user=person(roles.OWNER), scopes=["read", "manage"], by=operator)
    return Api(project, token)


@pytest.fixture
def reader(project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    return Api(project, tokens.create_token(project, user=person(roles.VIEWER), by=operator))


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_an_agent_is_created_changed_listed_and_removed(owner: Api, project: Project) -> None:
    created = owner.send("POST", "/agents", {"name": "desk", "prompt": "You help.", "uses_skills": [" Greeting "]})
    assert created.status_code == 201
    assert created.json()["uses_skills"] == ["greeting"]
    assert created.json()["allowed_skills"] is None
    changed = owner.send("PATCH", "/agents/desk", {"allowed_skills": ["offers"], "trust": "elevated"})
    assert changed.status_code == 200
    body = owner.get("/agents/desk").json()
    assert (body["prompt"], body["allowed_skills"], body["trust"]) == ("You help.", ["offers"], "elevated")
    (row,) = [one for one in owner.get("/agents").json()["results"] if one["name"] == "desk"]
    assert (row["tokens"], row["loads"], row["last_seen_at"]) == (0, 0, None)
    assert owner.send("DELETE", "/agents/desk").status_code == 204
    assert code(owner.get("/agents/desk")) == (404, "not-found")
    verbs = list(Event.objects.filter(target="desk").order_by("sequence").values_list("verb", flat=True))
    assert verbs == ["agent.created", "agent.changed", "agent.removed"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "name"),
        ({"name": "Big Name"}, "lower-case"),
        ({"name": "x" * 65}, "64"),
        ({"name": "../x"}, "lower-case"),
        ({"name": "desk", "trust": "total"}, "trust"),
        ({"name": "desk", "uses_skills": "greeting"}, "uses_skills"),
        ({"name": "desk", "uses_skills": [""]}, "uses_skills"),
        ({"name": "desk", "uses_skills": ["x" * 129]}, "uses_skills"),
        ({"name": "desk", "allowed_skills": [f"s{n}" for n in range(501)]}, "500 are allowed"),
        ({"name": "desk", "prompt": "x" * 100_001}, "100,000 are allowed"),
        ({"name": "desk", "prompt": "x", "best_skills": 0}, "best_skills"),
        ({"name": "desk", "prompt": "x", "best_skills": 51}, "best_skills"),
        ({"name": "desk", "prompt": "x", "best_skills": True}, "best_skills"),
        ({"name": "desk", "best_skills": 5}, "this agent has none"),
        ({"name": "desk", "prompts": "x"}, "Unknown"),
        ([], ""),
    ],
)
def test_an_invalid_agent_definition_is_refused(owner: Api, body: Any, message: str) -> None:
    before = Agent.objects.count(), Event.objects.count()
    answer = owner.send("POST", "/agents", body)
    assert code(answer) == (400, "invalid-request")
    assert message in answer.json()["detail"]
    assert (Agent.objects.count(), Event.objects.count()) == before


def test_an_agent_name_is_unique(owner: Api) -> None:
    owner.send("POST", "/agents", {"name": "desk"})
    assert code(owner.send("POST", "/agents", {"name": "desk"})) == (409, "already-exists")


def test_an_empty_change_is_not_audited(owner: Api, project: Project) -> None:
    owner.send("POST", "/agents", {"name": "desk"})
    before = Project.objects.get(pk=project.pk).revision, Event.objects.count()
    assert owner.send("PATCH", "/agents/desk", {"prompt": ""}).status_code == 200
    assert (Project.objects.get(pk=project.pk).revision, Event.objects.count()) == before


REQUESTS = [
    ("GET", "/agents", None),
    ("POST", "/agents", {"name": "x"}),
    ("GET", "/agents/bot", None),
    ("PATCH", "/agents/bot", {"prompt": "x"}),
    ("DELETE", "/agents/bot", None),
    ("GET", "/agents/bot/tokens", None),
    ("POST", "/agents/bot/tokens", {}),
    ("DELETE", "/agents/bot/tokens/1", None),
]


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_only_the_token_of_an_owner_manages_agents(
    api: Callable[..., Api], reader: Api, method: str, path: str, body: Any
) -> None:
    for caller in (api("read", "propose", "write", "run"), reader):
        before = Agent.objects.count(), Token.objects.count()
        assert code(caller.send(method, path, body)) == (403, "forbidden")
        assert (Agent.objects.count(), Token.objects.count()) == before


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_agents_of_another_project_are_not_found(
    owner: Api, other_project: Project, operator: Actor, method: str, path: str, body: Any
) -> None:
    ensure_agent(other_project, "bot", by=operator)
    owner.base = "/api/v1/projects/other"
    assert code(owner.send(method, path, body)) == (404, "not-found")


def test_a_token_is_shown_once_and_stops_when_revoked(owner: Api, project: Project) -> None:
    owner.send("POST", "/agents", {"name": "desk"})
    created = owner.send("POST", "/agents/desk/tokens", {"scopes": ["read"], "expires": "90d"})
    assert created.status_code == 201
    secret, number = created.json()["token"], created.json()["id"]
    assert created["Cache-Control"] == "no-store"
    assert created.json()["expires_at"]
    listed = owner.get("/agents/desk/tokens")
    assert secret not in listed.content.decode()
    assert listed.json()["results"][0]["made_by"] == "owner"
    desk = Api(project, secret)
    assert desk.get("/catalog").status_code == 200
    assert owner.send("DELETE", f"/agents/desk/tokens/{number}").status_code == 204
    assert code(desk.get("/catalog")) == (401, "unauthenticated")
    assert code(owner.send("DELETE", f"/agents/desk/tokens/{number}")) == (404, "not-found")


@pytest.mark.parametrize(
    "body",
    [{"scopes": ["review"]}, {"scopes": ["manage"]}, {"scopes": ["fly"]}, {"expires": "soon"}, {"expires": "0d"}],
)
def test_an_invalid_token_request_is_refused(owner: Api, body: Any) -> None:
    owner.send("POST", "/agents", {"name": "desk"})
    before = Token.objects.count()
    assert code(owner.send("POST", "/agents/desk/tokens", body)) == (400, "invalid-request")
    assert Token.objects.count() == before


def test_a_token_is_only_revoked_under_its_own_agent(owner: Api, api: Callable[..., Api], project: Project) -> None:
    api()
    owner.send("POST", "/agents", {"name": "desk"})
    of_bot = Token.objects.get(agent__name="bot").pk
    assert code(owner.send("DELETE", f"/agents/desk/tokens/{of_bot}")) == (404, "not-found")
    assert Token.objects.get(pk=of_bot).revoked_at is None


def test_tokens_of_a_removed_agent_stay_revoked(owner: Api, api: Callable[..., Api]) -> None:
    bot = api("read", "write")
    assert owner.send("DELETE", "/agents/bot").status_code == 204
    assert code(bot.get("/catalog")) == (401, "unauthenticated")
    assert owner.send("POST", "/agents", {"name": "bot"}).status_code == 201
    assert code(bot.get("/catalog")) == (401, "unauthenticated")


def test_an_agent_created_again_has_no_old_definition(owner: Api) -> None:
    owner.send("POST", "/agents", {"name": "desk", "prompt": "Old.", "allowed_skills": ["x"]})
    owner.send("DELETE", "/agents/desk")
    created = owner.send("POST", "/agents", {"name": "desk"}).json()
    assert (created["prompt"], created["allowed_skills"]) == ("", None)


def test_the_list_shows_loads_and_when_an_agent_was_last_seen(
    owner: Api, api: Callable[..., Api], project: Project, operator: Actor
) -> None:
    create_skill(project, skill_bundle(), by=operator)
    etag = owner.get("/agents")["ETag"]
    api().get("/skills/greeting")
    usage.flush()
    answer = owner.get("/agents", headers={"If-None-Match": etag})
    assert answer.status_code == 200
    (row,) = answer.json()["results"]
    assert (row["tokens"], row["loads"]) == (1, 1)
    assert row["last_seen_at"]
    assert owner.get("/agents", headers={"If-None-Match": answer["ETag"]}).status_code == 304


# -- Instructions --------------------------------------------------------------------------------------------------


def test_concurrent_changes_of_different_fields_are_both_saved(
    project: Project, owner: Api, operator: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of the prompt must not undo a concurrent change of the allowed skills."""
    agents.create(project, "desk", Definition(prompt="Old."), by=operator)
    begin = audit.change

    def change_concurrently(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(audit, "change", begin)
        agents.update(project, "desk", Definition(prompt="Old.", allowed_skills=("greeting",)), by=operator)
        return begin(*args, **kwargs)

    monkeypatch.setattr(audit, "change", change_concurrently)
    assert owner.send("PATCH", "/agents/desk", {"prompt": "New."}).status_code == 200
    changed = agents.definition_of(agents.get(project, "desk"))
    assert (changed.prompt, changed.allowed_skills) == ("New.", ("greeting",))


@pytest.fixture
def desk(project: Project, api: Callable[..., Api], operator: Actor) -> Api:
    """Return an agent that uses two skills."""
    for name in ("greeting", "offers"):
        create_skill(project, skill_bundle(name, body=f"Body of {name}."), by=operator)
    caller = api(agent="desk")
    definition = Definition("You help.\n", "Be brief.", ("offers", "greeting"))
    agents.update(project, "desk", definition, by=operator)
    return caller


def test_instructions_list_their_parts_in_order_with_token_counts(desk: Api) -> None:
    body = desk.get("/agents/desk/instructions").json()
    assert body["text"] == "You help.\n\nBody of offers.\n\nBody of greeting.\n\nBe brief."
    assert [(part["kind"], part.get("name")) for part in body["parts"]] == [
        ("prompt", None), ("skill", "offers"), ("skill", "greeting"), ("instructions", None),
    ]  # fmt: skip
    assert body["tokens"] == sum(part["tokens"] for part in body["parts"])
    assert all(part["tokens"] > 0 for part in body["parts"])
    loaded = desk.get("/skills/offers").json()
    named = ("source", "version", "digest")
    assert [body["parts"][1][key] for key in named] == [loaded[key] for key in named]
    assert body["parts"][1].keys() == PartShape.__annotations__.keys()
    assert desk.get("/agents/desk/instructions", format="text").content.decode() == body["text"]


def test_reading_instructions_counts_as_loading_their_skills(desk: Api) -> None:
    desk.get("/agents/desk/instructions")
    desk.get("/agents/desk/instructions")
    assert {(load.skill, load.caller): n for load, n in usage._buffer.loads.items()} == {
        ("offers", "desk"): 2,
        ("greeting", "desk"): 2,
    }


@pytest.mark.parametrize(("change", "reason"), [("disable", "is switched off"), ("delete", "is not in this project")])
def test_a_missing_skill_is_named_and_the_others_still_load(
    desk: Api, api: Callable[..., Api], project: Project, operator: Actor, change: str, reason: str
) -> None:
    other = api(agent="other")
    agents.update(project, "other", Definition("Hello.", "", ("greeting",)), by=operator)
    getattr(skills, change)(project, "offers", by=operator)
    answer = desk.get("/agents/desk/instructions")
    assert code(answer) == (409, "conflict")
    assert f"offers {reason}" in answer.json()["detail"]
    assert answer.json()["skills"] == ["offers"]
    assert other.get("/agents/other/instructions").json()["text"] == "Hello.\n\nBody of greeting."


def test_an_agent_reads_only_its_own_instructions_and_people_read_any(
    desk: Api, api: Callable[..., Api], reader: Api
) -> None:
    assert desk.get("/agents/desk/instructions").status_code == 200
    assert reader.get("/agents/desk/instructions").status_code == 200
    for _ in range(2):
        assert code(api(agent="nosy").get("/agents/desk/instructions")) == (404, "not-found")
    assert code(reader.get("/agents/absent/instructions")) == (404, "not-found")
    assert code(desk.get("/agents/desk/instructions", format="yaml")) == (400, "invalid-request")


def test_an_agent_without_instructions_gets_an_empty_text(api: Callable[..., Api]) -> None:
    body = api().get("/agents/bot/instructions").json()
    assert (body["text"], body["tokens"], body["parts"]) == ("", 0, [])
