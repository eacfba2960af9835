"""A platform names skills with its request: inline, and as a zip on a server that later goes away."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.models import Event, Project
from tests.conftest import Api, skill_text
from tests.remote.web import Web, zipped

LIMITS = b"# Limits\n\n25 a day.\n"


@pytest.fixture
def platform(project: Project, volume: Path, api: Callable[..., Api]) -> Api:
    return api("read", agent="platform")


def resolve(platform: Api, *definitions: dict[str, Any]) -> list[dict[str, Any]]:
    response = platform.send("POST", "/resolve", {"skills": definitions})
    assert response.status_code == 200, response.content
    skills: list[dict[str, Any]] = response.json()["skills"]
    return skills


def test_a_platform_gets_the_skills_that_it_names(platform: Api, web: Web) -> None:
    files = {"SKILL.md": skill_text("expense-report", body="Fill in the form."), "references/limits.md": LIMITS}
    package = {
        "name": "expense-report", "version": "1.0.0", "url": web.put("/expense-report.zip", zipped(files)),
    }  # fmt: skip
    inline = {"name": "greeting", "version": "3", "content": skill_text("greeting", body="Say hello.")}

    expense_report, greeting = resolve(platform, package, inline)
    assert (expense_report["status"], greeting["status"]) == ("loaded", "loaded")
    assert [file["path"] for file in expense_report["files"]] == ["SKILL.md", "references/limits.md"]

    page = platform.get("/resolved/expense-report/1.0.0/files/references/limits.md", digest=expense_report["digest"])
    assert page.json()["content"] == LIMITS.decode()
    page = platform.get("/resolved/greeting/3/files/SKILL.md", digest=greeting["digest"])
    assert "Say hello." in page.json()["content"]


def test_a_platform_gets_a_cached_skill_after_its_server_went_away(platform: Api, web: Web) -> None:
    url = web.put("/greeting.zip", zipped({"SKILL.md": skill_text("greeting", body="Say hello.")}))
    definition = {"name": "greeting", "version": "1.0.0", "url": url}
    (first,) = resolve(platform, definition)
    web.pages.clear()

    (second,) = resolve(platform, definition)
    assert (first["status"], second["status"]) == ("loaded", "cached")
    assert second["digest"] == first["digest"]
    assert web.asked == ["/greeting.zip"], "the second request did not reach the server"


def test_a_skill_that_cannot_be_fetched_does_not_affect_the_others(platform: Api, web: Web) -> None:
    missing, private, greeting = resolve(
        platform,
        {"name": "missing", "version": "1", "url": web.url("/missing.zip")},
        {"name": "private", "version": "1", "url": "http://127.0.0.1:1/private.zip"},
        {"name": "greeting", "version": "1", "content": skill_text("greeting")},
    )
    assert (missing["status"], private["status"], greeting["status"]) == ("skipped", "skipped", "loaded")
    assert "404" in missing["reason"]
    assert private["reason"]


def test_named_skills_change_nothing_in_the_project(platform: Api, project: Project) -> None:
    events = Event.objects.count()
    resolve(platform, {"name": "greeting", "version": "1", "content": skill_text("greeting")})

    assert platform.get("/catalog").json()["skills"] == []
    assert platform.get("/skills/greeting").status_code == 404
    assert Event.objects.count() == events


def test_another_project_cannot_read_the_cached_skill(
    platform: Api, other_project: Project, api: Callable[..., Api]
) -> None:
    (greeting,) = resolve(platform, {"name": "greeting", "version": "1", "content": skill_text("greeting")})
    stranger = api("read", where=other_project)

    assert platform.get("/resolved/greeting/1/files/SKILL.md", digest=greeting["digest"]).status_code == 200
    assert stranger.get("/resolved/greeting/1/files/SKILL.md", digest=greeting["digest"]).status_code == 404
