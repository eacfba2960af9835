"""Switching skills off and on over the API."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.models import Event, Project
from registry.services.people import projects
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bot(project: Project, library: Path, operator: Actor, api: Callable[..., Api]) -> Api:
    """Return a caller in a project with its own skill greeting and the built-in skill farewell."""
    on_disk(library, "farewell")
    create_skill(project, skill_bundle(), by=operator)
    return api("read", "write")


def verbs() -> list[str]:
    return list(Event.objects.filter(verb__in=["skill.disabled", "skill.enabled"]).values_list("verb", flat=True))


@pytest.mark.parametrize(("name", "source"), [("greeting", "project"), ("farewell", "bundled")])
def test_a_skill_is_switched_off_and_on(bot: Api, name: str, source: str) -> None:
    off = bot.send("POST", f"/skills/{name}/disable")
    assert (off.status_code, off.json()["enabled"], off.json()["source"]) == (200, False, source)
    problem(bot.get(f"/skills/{name}"), 404, "not-found")
    assert name not in [skill["name"] for skill in bot.get("/catalog").json()["skills"]]
    on = bot.send("POST", f"/skills/{name}/enable", {})
    assert (on.status_code, on.json()["enabled"]) == (200, True)
    assert bot.get(f"/skills/{name}").status_code == 200
    assert verbs() == ["skill.disabled", "skill.enabled"]


def test_switching_twice_changes_nothing(bot: Api) -> None:
    bot.send("POST", "/skills/Greeting/disable")
    with nothing_left_behind():
        assert bot.send("POST", "/skills/greeting/disable").json()["enabled"] is False


@pytest.mark.parametrize("act", ["disable", "enable"])
def test_an_unknown_skill_cannot_be_switched(bot: Api, act: str) -> None:
    with nothing_left_behind():
        problem(bot.send("POST", f"/skills/nothing/{act}"), 404, "not-found")


@pytest.mark.parametrize("act", ["disable", "enable"])
def test_switching_needs_the_scope_for_writing(bot: Api, api: Callable[..., Api], act: str) -> None:
    reader = api("read", "propose", agent="reader")
    with nothing_left_behind():
        problem(reader.send("POST", f"/skills/greeting/{act}"), 403, "forbidden")


@pytest.mark.parametrize("act", ["disable", "enable"])
def test_an_unknown_field_is_refused(bot: Api, act: str) -> None:
    with nothing_left_behind():
        problem(bot.send("POST", f"/skills/greeting/{act}", {"reason": "Wrong."}), 400, "invalid-request")


def test_in_a_protected_project_only_a_reviewer_switches_skills_off(
    project: Project, bot: Api, operator: Actor
) -> None:
    projects.set_protected(project, True, by=operator)
    with nothing_left_behind():
        problem(bot.send("POST", "/skills/greeting/disable"), 403, "forbidden")
