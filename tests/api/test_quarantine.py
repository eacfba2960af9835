"""Quarantine over the API: who may set it, and what the doors for agents answer."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.models import Project, User
from registry.services.agents import tokens
from registry.services.permissions import Actor
from registry.services.skills import quarantine
from tests.api.contract import problem
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill, save_skill
from tests.services.footprint import nothing_left_behind

HOLD, RELEASE = "/skills/greeting/versions/2/quarantine", "/skills/greeting/versions/2/release"


@pytest.fixture
def two(project: Project, operator: Actor) -> tuple[str, str]:
    """Return the digests of versions 1 and 2 of greeting."""
    first = create_skill(project, skill_bundle(body="One.", files={"a.txt": b"1"}), by=operator).version
    bundle = skill_bundle(body="Two.", files={"a.txt": b"2"})
    return first.digest, save_skill(project, "greeting", bundle, base=first.digest, by=operator).version.digest


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    user = person(roles.REVIEWER)
    scopes = tuple(roles.SCOPES_OF_ROLE[roles.REVIEWER])
    return Api(project, tokens.create_token(project, user=user, scopes=scopes, by=operator))


def test_a_reviewer_takes_a_version_from_agents_and_gives_it_back(
    two: tuple[str, str], reviewer: Api, api: Callable[..., Api]
) -> None:
    bot = api("read")
    etag = bot.get("/skills/greeting")["ETag"]
    held = reviewer.send("POST", HOLD, {"reason": "Sends keys away."})
    assert (held.status_code, held.json()["current"]) == (200, False)
    assert held.json()["quarantine"]["reason"] == "Sends keys away."
    assert held.json()["quarantine"]["by"] == "reviewer"
    loaded = bot.get("/skills/greeting", headers={"If-None-Match": etag})
    assert (loaded.status_code, loaded.json()["digest"]) == (200, two[0])
    newest, _ = reviewer.get("/skills/greeting/versions").json()["results"]
    assert newest["quarantine"] == held.json()["quarantine"]
    released = reviewer.send("POST", RELEASE, {"reason": "Read it."})
    assert (released.status_code, released.json()["quarantine"], released.json()["current"]) == (200, None, True)
    assert bot.get("/skills/greeting").json()["digest"] == two[1]


@pytest.mark.parametrize(
    "path", ["/skills/greeting", "/skills/greeting/files/a.txt", "/skills/greeting/bundle.zip"]
)  # fmt: skip
def test_a_pinned_version_in_quarantine_is_refused_with_a_code(
    project: Project, two: tuple[str, str], operator: Actor, api: Callable[..., Api], path: str
) -> None:
    bot = api("read")
    etag = bot.get(path, version="2")["ETag"]
    quarantine.quarantine(project, "greeting", "2", reason="Sends keys away.", by=operator)
    answer = bot.get(path, version="2", headers={"If-None-Match": etag})
    assert "Sends keys" not in problem(answer, 404, "quarantined")["detail"]
    assert bot.get(path, version="1").status_code == 200


def test_no_door_for_agents_lists_a_skill_whose_only_version_is_in_quarantine(
    project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    create_skill(project, skill_bundle("alone"), by=operator)
    bot = api("read")
    quarantine.quarantine(project, "alone", "1", reason="Odd.", by=operator)
    assert bot.get("/catalog").json()["skills"] == []
    assert bot.get("/catalog", format="text").content.decode().count("alone") == 0
    problem(bot.get("/skills/alone"), 404, "quarantined")
    assert [each["name"] for each in bot.get("/diagnostics").json()["results"]] == ["alone"]


@pytest.mark.parametrize("path", [HOLD, RELEASE])
def test_agents_and_authors_may_not_set_or_lift_a_quarantine(
    project: Project,
    two: tuple[str, str],
    api: Callable[..., Api],
    person: Callable[[str], User],
    operator: Actor,
    path: str,
) -> None:
    scopes = tuple(roles.SCOPES_OF_ROLE[roles.AUTHOR])
    author = Api(project, tokens.create_token(project, user=person(roles.AUTHOR), scopes=scopes, by=operator))
    callers = [api("read", "write", "propose"), author]
    with nothing_left_behind():
        for caller in callers:
            problem(caller.send("POST", path, {"reason": "Odd."}), 403, "forbidden")


@pytest.mark.parametrize(
    "body", [None, {}, {"reason": ""}, {"reason": " "}, {"reason": "x" * 301}, {"reason": None}, {"why": "x"}, []]
)
def test_a_reason_is_needed(two: tuple[str, str], reviewer: Api, body: object) -> None:
    with nothing_left_behind():
        problem(reviewer.send("POST", HOLD, body), 400, "invalid-request")


def test_a_version_is_not_held_or_released_twice(two: tuple[str, str], reviewer: Api) -> None:
    problem(reviewer.send("POST", RELEASE, {}), 409, "conflict")
    reviewer.send("POST", HOLD, {"reason": "Odd."})
    problem(reviewer.send("POST", HOLD, {"reason": "Odd."}), 409, "conflict")


@pytest.mark.parametrize("path", ["greeting/versions/9", "nothing/versions/1"])
@pytest.mark.parametrize("act", ["quarantine", "release"])
def test_an_unknown_version_is_not_found(two: tuple[str, str], reviewer: Api, path: str, act: str) -> None:
    with nothing_left_behind():
        problem(reviewer.send("POST", f"/skills/{path}/{act}", {"reason": "Odd."}), 404, "not-found")


def test_a_restore_of_a_quarantined_version_is_refused(two: tuple[str, str], reviewer: Api) -> None:
    reviewer.send("POST", HOLD, {"reason": "Odd."})
    with nothing_left_behind():
        problem(reviewer.send("POST", "/skills/greeting/versions/2/restore", {}), 409, "conflict")
