"""An agent reads the catalog, loads one skill when it needs it, reads a file, and gets short answers when it polls."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Usage
from registry.services.catalog import usage
from tests.conftest import Api, on_disk, skill_text
from tests.flows.conftest import write


@pytest.fixture
def built_in(library: Path) -> Path:
    """Two built-in skills; the second requires the first."""
    on_disk(library, "brand-voice", body="Write as we speak.")
    files = {"references/limits.md": b"# Limits\n\n25 a day.\n", "assets/form.bin": b"\0\1"}
    on_disk(library, "expense-report", files, body="Fill in the form.", requires=["brand-voice"])
    return library


def test_an_agent_finds_loads_and_reads_a_skill(built_in: Path, project: Project, api: Callable[..., Api]) -> None:
    agent = api("read", agent="support-desk")

    prompt = agent.get("/catalog", headers={"Accept": "text/plain"}).content.decode()
    assert prompt.startswith("[Available Skills]\n• `brand-voice` — ")
    assert "Fill in the form" not in prompt, "the catalog contains names and descriptions, not instructions"

    skill = agent.get("/skills/expense-report").json()
    assert skill["instructions"] == "Fill in the form."
    assert skill["summary"] == f"Skill loaded: expense-report (approx. {skill['tokens']} tokens)"
    assert skill["hint"].startswith("This skill requires: brand-voice.")
    assert agent.get(f"/skills/{skill['requires'][0]}").json()["instructions"] == "Write as we speak."

    paths = [entry["path"] for entry in skill["files"]]
    assert paths == ["SKILL.md", "assets/form.bin", "references/limits.md"]
    page = agent.get("/skills/expense-report/files/references/limits.md").json()
    assert (page["content"], page["digest"]) == ("# Limits\n\n25 a day.\n", skill["digest"])

    refused = agent.get("/skills/expense-report/files/assets/form.bin")
    assert refused.status_code == 415
    assert agent.client.get(refused.json()["download"], headers=agent.headers).content == b"\0\1"


def test_an_agent_that_polls_gets_304_and_every_load_is_counted(
    built_in: Path, project: Project, api: Callable[..., Api]
) -> None:
    agent = api("read", agent="support-desk")
    etag = agent.get("/skills/expense-report")["ETag"]
    for _ in range(4):
        assert agent.get("/skills/expense-report", headers={"If-None-Match": etag}).status_code == 304
    usage.flush()
    row = Usage.objects.get()
    assert (row.skill, row.caller, row.loads) == ("expense-report", "support-desk", 5)


def press(author: Client, name: str, button: str, **fields: str) -> None:
    """Press a button on the page of a skill."""
    assert author.post(f"/projects/demo/skills/{name}/{button}/", fields).status_code in (302, 303)


def test_an_agent_notices_every_change_with_its_next_request(
    built_in: Path, agent: Api, browser: Callable[[str], Client]
) -> None:
    author, name = browser(roles.AUTHOR), "expense-report"
    first = agent.get(f"/skills/{name}")
    etag = first["ETag"]

    def answer() -> str:
        """Poll once, and return the instructions or the error code."""
        nonlocal etag
        response = agent.get(f"/skills/{name}", headers={"If-None-Match": etag})
        etag = response.get("ETag", etag)
        return str(response.json().get("instructions", response.json().get("code")))

    write(author, skill_text(name, body="Our way."), "publish", name=name, base=first.json()["digest"])
    assert answer() == "Our way."
    base = agent.get(f"/skills/{name}").json()["digest"]
    write(author, skill_text(name, body="Better."), "publish", name=name, base=base)
    assert answer() == "Better."
    press(author, name, "version/2/yank", reason="Wrong limits.")
    assert answer() == "Our way."
    press(author, name, "disable")
    assert answer() == "not-found"
    press(author, name, "enable")
    press(author, name, "delete")
    assert answer() == "Fill in the form."


def test_the_catalog_lists_exactly_the_skills_that_load(
    built_in: Path, agent: Api, browser: Callable[[str], Client]
) -> None:
    author = browser(roles.AUTHOR)
    write(author, skill_text("own-one"), "publish")
    write(author, skill_text("gone"), "publish")
    press(author, "gone", "delete")
    press(author, "brand-voice", "disable")
    (on_disk(built_in, "broken") / "SKILL.md").write_text("no header")

    listed = {skill["name"] for skill in agent.get("/catalog").json()["skills"]}
    assert listed == {"expense-report", "own-one"}
    for name in ("expense-report", "own-one", "gone", "brand-voice", "broken", "unknown"):
        assert agent.get(f"/skills/{name}").status_code == (200 if name in listed else 404)
