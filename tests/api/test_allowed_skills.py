"""The skills that an agent may see: in lists and in every request for one skill."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.catalog.visibility import Definition
from registry.models import Project
from registry.services.agents import agents
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill


@pytest.fixture
def limited(project: Project, library: Path, api: Callable[..., Api], operator: Actor) -> Api:
    """Return an agent that may see `greeting` and uses `offers`, in a project with more skills."""
    on_disk(library, "bundled-one")
    on_disk(library, "broken")
    (library / "broken" / "SKILL.md").write_text("no header")
    built_in.index().refresh()
    for name in ("greeting", "offers", "secret-plan"):
        create_skill(project, skill_bundle(name, {"a.txt": b"a"}), by=operator)
    caller = api("read", "write", agent="limited")
    definition = Definition(uses_skills=("offers",), allowed_skills=("greeting",))
    agents.update(project, "limited", definition, by=operator)
    return caller


@pytest.mark.parametrize("path", ["/catalog", "/catalog?q=use", "/catalog?format=text", "/effective", "/diagnostics"])
def test_lists_contain_only_the_agents_allowed_skills(limited: Api, api: Callable[..., Api], path: str) -> None:
    every = api(agent="every").get(path).content.decode()
    few = limited.get(path).content.decode()
    for name in ("secret-plan", "bundled-one", "broken"):
        assert name not in few
    assert every != few
    if path.startswith("/catalog"):
        assert "greeting" in few
        assert "offers" in few


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/skills/secret-plan", None),
        ("GET", "/skills/ SECRET-PLAN ", None),
        ("GET", "/skills/secret-plan?version=1", None),
        ("GET", "/skills/secret-plan/files/a.txt", None),
        ("GET", "/skills/secret-plan/bundle.zip", None),
        ("GET", "/skills/bundled-one", None),
        ("GET", "/skills/secret-plan/versions", None),
        ("PUT", "/skills/secret-plan", {"description": "x", "instructions": "y"}),
        ("DELETE", "/skills/secret-plan", None),
        ("POST", "/skills/secret-plan/versions/1/restore", {}),
        ("POST", "/skills/secret-plan/versions/1/yank", {"reason": "x"}),
    ],
)
def test_a_skill_outside_the_allowed_list_is_not_found(limited: Api, method: str, path: str, body: Any) -> None:
    absent = limited.send(method, path.replace("secret-plan", "no-such-one"), body)
    answer = limited.send(method, path, body)
    problem(answer, 404, "not-found")
    assert answer.status_code == absent.status_code


def test_allowed_and_used_skills_are_found(limited: Api) -> None:
    for name in ("greeting", "offers"):
        assert limited.get(f"/skills/{name}").status_code == 200
    assert [skill["name"] for skill in limited.get("/catalog").json()["skills"]] == ["greeting", "offers"]


def test_an_empty_allowed_list_allows_nothing_and_null_allows_all(
    limited: Api, project: Project, operator: Actor
) -> None:
    agents.update(project, "limited", Definition(allowed_skills=()), by=operator)
    assert limited.get("/catalog").json()["skills"] == []
    agents.update(project, "limited", Definition(), by=operator)
    assert len(limited.get("/catalog").json()["skills"]) == 4


def test_cached_answers_are_not_shared_between_agents(limited: Api, api: Callable[..., Api]) -> None:
    every = api(agent="every")
    first = every.get("/catalog")
    assert "secret-plan" in first.content.decode()
    answer = limited.get("/catalog", headers={"If-None-Match": first["ETag"]})
    assert answer.status_code == 200
    assert "secret-plan" not in answer.content.decode()
