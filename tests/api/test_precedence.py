"""Precedence over the API: overrides, roots, deleted skills, and disabled skills."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.models import Project
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle, skill_text
from tests.prepared import disable_skill, import_bundle


@pytest.fixture
def bot(project: Project, api: Callable[..., Api]) -> Api:
    return api("read", "write")


def instructions(bot: Api, name: str = "greeting") -> str:
    response = bot.get(f"/skills/{name}")
    assert response.status_code == 200, response.content
    return str(response.json()["instructions"])


def catalog(bot: Api) -> list[str]:
    return [skill["name"] for skill in bot.get("/catalog").json()["skills"]]


@pytest.mark.parametrize("spelling", ["greeting", "GREETING", "Greeting", "%20greeting%20", "%09Greeting"])
def test_a_project_skill_wins_over_a_built_in_one_however_the_name_is_spelt(
    project: Project, library: Path, bot: Api, operator: Actor, spelling: str
) -> None:
    directory = on_disk(library, "greeting")
    (directory / "SKILL.md").write_text(
        skill_text("greeting", body="Bundled.").replace("name: greeting", "name: GREETING")
    )
    assert instructions(bot, spelling) == "Bundled."
    import_bundle(project, skill_bundle("Greeting", body="Ours."), by=operator)
    assert instructions(bot, spelling) == "Ours."
    assert catalog(bot) == ["greeting"]


def test_an_override_without_files_hides_the_built_in_files_too(project: Project, library: Path, bot: Api) -> None:
    on_disk(library, files={"references/a.md": b"bundled"})
    digest = bot.get("/skills/greeting").json()["digest"]
    assert bot.get("/skills/greeting/files/references/a.md").status_code == 200
    assert bot.send("POST", "/skills", {"skill_md": skill_text(body="Ours.")}).status_code == 201
    problem(bot.get("/skills/greeting/files/references/a.md"), 404, "not-found")
    assert bot.get("/skills/greeting").json()["digest"] != digest


def test_deleting_the_override_restores_the_built_in_skill(project: Project, library: Path, bot: Api) -> None:
    on_disk(library, body="Bundled.")
    bot.send("POST", "/skills", {"skill_md": skill_text(body="Ours.")})
    assert instructions(bot) == "Ours."
    assert bot.send("DELETE", "/skills/greeting").status_code == 204
    assert instructions(bot) == "Bundled."
    assert bot.get("/skills/greeting").json()["source"] == "bundled"


def test_deleting_a_skill_without_a_built_in_one_leaves_nothing(bot: Api) -> None:
    bot.send("POST", "/skills", {"skill_md": skill_text()})
    bot.send("DELETE", "/skills/greeting")
    problem(bot.get("/skills/greeting"), 404, "not-found")
    assert catalog(bot) == []


def test_the_first_root_wins(project: Project, settings: Any, tmp_path: Path, bot: Api) -> None:
    roots = [tmp_path / "team", tmp_path / "shared"]
    for root in roots:
        on_disk(root, body=f"From {root.name}.")
    settings.AGENT_SKILLS_DIRS = roots
    assert instructions(bot) == "From team."
    (row,) = bot.get("/effective").json()["results"]
    assert [(hidden["root"], hidden["reason"]) for hidden in row["hides"]] == [
        ("shared", "The skill in “team” was found first.")
    ]
    settings.AGENT_SKILLS_DIRS = roots[::-1]
    assert instructions(bot) == "From shared."


def test_a_missing_root_does_not_affect_other_roots(project: Project, settings: Any, tmp_path: Path, bot: Api) -> None:
    on_disk(tmp_path / "team")
    settings.AGENT_SKILLS_DIRS = [tmp_path / "gone", tmp_path / "team"]
    assert catalog(bot) == ["greeting"]
    assert [row["directory"] for row in bot.get("/diagnostics").json()["results"]] == ["gone"]


def test_the_next_read_sees_a_write(project: Project, bot: Api) -> None:
    assert catalog(bot) == []
    digest = bot.send("POST", "/skills", {"skill_md": skill_text(body="One.")}).json()["digest"]
    assert (catalog(bot), instructions(bot)) == (["greeting"], "One.")
    bot.send("PUT", "/skills/greeting", {"skill_md": skill_text(body="Two.")}, {"If-Match": f'"{digest}"'})
    assert instructions(bot) == "Two."


def test_more_than_fifty_skills_are_all_listed_and_those_over_a_budget_are_counted(
    project: Project, library: Path, bot: Api
) -> None:
    for number in range(55):
        on_disk(library, f"skill-{number:02}")
    assert len(catalog(bot)) == 55
    body = bot.get("/catalog", budget="300").json()
    assert body["included"] + len(body["omitted"]) == 55
    assert body["omitted"]


def test_a_long_description_is_cut_in_the_catalog_and_complete_in_the_skill(
    project: Project, library: Path, bot: Api
) -> None:
    long = "Use when somebody asks for a greeting. " * 10
    on_disk(library, description=long)
    (line,) = bot.get("/catalog").json()["skills"]
    assert len(line["description"]) <= 200
    assert line["description"].endswith("…")
    assert bot.get("/skills/greeting").json()["description"] == long.strip()


def test_a_disabled_skill_is_absent_for_agents_and_listed_for_people(
    project: Project, library: Path, operator: Actor, bot: Api
) -> None:
    on_disk(library)
    disable_skill(project, "greeting", by=operator)
    assert catalog(bot) == []
    for path in ("", "/bundle.zip", "/files/SKILL.md"):
        problem(bot.get(f"/skills/greeting{path}"), 404, "not-found")
    assert [(row["name"], row["enabled"]) for row in bot.get("/effective").json()["results"]] == [("greeting", False)]


def test_an_invalid_override_is_refused_and_the_built_in_skill_stays(project: Project, library: Path, bot: Api) -> None:
    on_disk(library, body="Bundled.")
    problem(bot.send("POST", "/skills", {"skill_md": "---\nname: greeting\n---\n"}), 422, "invalid-skill")
    assert instructions(bot) == "Bundled."


def test_one_broken_skill_does_not_affect_the_others(project: Project, library: Path, bot: Api) -> None:
    on_disk(library, "honest")
    (on_disk(library, "broken") / "SKILL.md").write_bytes(b"\xff\xfe not text")
    assert catalog(bot) == ["honest"]
    problem(bot.get("/skills/broken"), 404, "not-found")
    assert [row["name"] for row in bot.get("/diagnostics").json()["results"]] == ["broken"]
