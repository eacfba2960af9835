"""Versions over the API: list, restore, yank."""

from collections.abc import Callable

import pytest

from registry.models import Project
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill, save_skill
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bot(project: Project, operator: Actor, api: Callable[..., Api]) -> Api:
    """Return a caller in a project with versions 1 and 2 of greeting."""
    first = create_skill(project, skill_bundle(body="One."), note="First", by=operator).version
    save_skill(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=operator)
    return api("read", "write")


def test_history_is_listed_newest_first(bot: Api) -> None:
    newest, oldest = bot.get("/skills/Greeting/versions").json()["results"]
    assert set(newest) == {
        "version", "digest", "source", "current", "note", "by", "agent", "created_at", "size", "tokens", "yanked_at",
        "yank_reason", "deleted_at", "scan", "quarantine", "provenance",
    }  # fmt: skip
    assert [(row["version"], row["current"]) for row in (newest, oldest)] == [("2", True), ("1", False)]
    assert (oldest["note"], oldest["by"], oldest["agent"]) == ("First", "command line", False)


def test_a_deleted_skill_has_history_and_no_current_version(bot: Api) -> None:
    bot.send("DELETE", "/skills/greeting")
    assert [row["current"] for row in bot.get("/skills/greeting/versions").json()["results"]] == [False, False]


def test_a_skill_without_versions_has_no_history(bot: Api) -> None:
    problem(bot.get("/skills/nothing/versions"), 404, "not-found")


def test_a_restore_is_a_new_version(bot: Api) -> None:
    response = bot.send("POST", "/skills/greeting/versions/1/restore", {"note": "Back"})
    assert response.status_code == 201
    assert (response.json()["version"], response.json()["note"], response.json()["current"]) == ("3", "Back", True)
    assert bot.get("/skills/greeting").json()["instructions"] == "One."


def test_a_restore_needs_no_body(bot: Api) -> None:
    assert bot.send("POST", "/skills/greeting/versions/1/restore").status_code == 201


@pytest.mark.parametrize(
    "path", ["greeting/versions/9", "greeting/versions/%20", "nothing/versions/1", "a/versions/.."]
)
@pytest.mark.parametrize("act", ["restore", "yank"])
def test_an_unknown_version_is_not_found(bot: Api, path: str, act: str) -> None:
    with nothing_left_behind():
        response = bot.send("POST", f"/skills/{path}/{act}", {"reason": "Wrong."} if act == "yank" else {})
        problem(response, 404, "not-found")


@pytest.mark.parametrize(
    "body",
    [{"reason": ""}, {"reason": "  "}, {"reason": "x" * 301}, {"reason": None}, {"why": "x"}, {"reason": "\0"}],
)
def test_an_invalid_reason_is_refused(bot: Api, body: dict[str, str]) -> None:
    with nothing_left_behind():
        problem(bot.send("POST", "/skills/greeting/versions/2/yank", body), 400, "invalid-request")


@pytest.mark.parametrize("body", [{"note": "x" * 301}, {"reason": "x"}, {"note": ["x"]}, []])
def test_a_restore_accepts_only_a_note(bot: Api, body: object) -> None:
    with nothing_left_behind():
        problem(bot.send("POST", "/skills/greeting/versions/1/restore", body), 400, "invalid-request")


def test_a_yank_without_a_reason_stores_a_default_reason(bot: Api) -> None:
    response = bot.send("POST", "/skills/greeting/versions/2/yank")
    assert (response.status_code, response.json()["yank_reason"]) == (200, "No reason was given over the API.")


def test_a_yanked_version_shows_when_and_why(bot: Api) -> None:
    response = bot.send("POST", "/skills/greeting/versions/2/yank", {"reason": "Wrong price."})
    assert response.status_code == 200
    assert (response.json()["yank_reason"], response.json()["current"]) == ("Wrong price.", False)
    assert response.json()["yanked_at"]
    assert bot.get("/skills/greeting").json()["version"] == "1"


def test_a_yanked_version_cannot_be_yanked_again_or_restored(bot: Api) -> None:
    bot.send("POST", "/skills/greeting/versions/2/yank", {"reason": "Wrong price."})
    with nothing_left_behind():
        problem(bot.send("POST", "/skills/greeting/versions/2/yank", {"reason": "Again."}), 409, "conflict")
        body = problem(bot.send("POST", "/skills/greeting/versions/2/restore"), 404, "not-found")
    assert "Wrong price." in body["detail"]


def test_a_skill_with_only_yanked_versions_is_in_the_diagnostics(bot: Api) -> None:
    for version in ("1", "2"):
        bot.send("POST", f"/skills/greeting/versions/{version}/yank", {"reason": "Wrong."})
    problem(bot.get("/skills/greeting"), 404, "not-found")
    assert [row["code"] for row in bot.get("/diagnostics").json()["results"]] == ["every-version-yanked"]
    assert bot.get("/catalog").json()["skills"] == []
