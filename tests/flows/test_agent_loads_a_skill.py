"""The walk of an agent: a small catalog in the prompt, one skill when it is needed, one file, and little ever again."""

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.models import Project, Usage
from registry.services.catalog import usage
from registry.services.permissions import Actor
from registry.services.skills import skills, versions
from tests.conftest import Api, on_disk, skill_bundle
from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]


@pytest.fixture
def shelf(library: Path) -> Path:
    """Two bundled skills, one of which needs the other."""
    on_disk(library, "brand-voice", body="Write as we speak.")
    files = {"references/limits.md": b"# Limits\n\n25 a day.\n", "assets/form.bin": b"\0\1"}
    on_disk(library, "expense-report", files, body="Fill in the form.", requires=["brand-voice"])
    return library


def test_an_agent_finds_loads_and_reads_a_skill(shelf: Path, project: Project, api: Callable[..., Api]) -> None:
    agent = api("read", agent="support-desk")

    prompt = agent.get("/catalog", headers={"Accept": "text/plain"}).content.decode()
    assert prompt.startswith("[Available Skills]\n• `brand-voice` — ")
    assert "Fill in the form" not in prompt, "the catalog costs names and descriptions, no instructions"

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


def test_an_agent_that_asks_again_gets_little_and_is_counted(
    shelf: Path, project: Project, api: Callable[..., Api]
) -> None:
    agent = api("read", agent="support-desk")
    etag = agent.get("/skills/expense-report")["ETag"]
    for _ in range(4):
        assert agent.get("/skills/expense-report", headers={"If-None-Match": etag}).status_code == 304
    usage.flush()
    row = Usage.objects.get()
    assert (row.skill, row.caller, row.loads) == ("expense-report", "support-desk", 5)


def test_an_agent_notices_every_change_with_its_next_request(
    shelf: Path, project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    agent = api("read")
    etag = agent.get("/skills/expense-report")["ETag"]

    def says() -> str:
        nonlocal etag
        response = agent.get("/skills/expense-report", headers={"If-None-Match": etag})
        etag = response.get("ETag", etag)
        return str(response.json().get("instructions", response.json().get("code")))

    first = skills.create(project, skill_bundle("expense-report", body="Our way."), by=operator).version
    assert says() == "Our way."
    skills.save(
        project, "expense-report", skill_bundle("expense-report", body="Better."), base=first.digest, by=operator
    )
    assert says() == "Better."
    versions.yank(project, "expense-report", "2", reason="Wrong limits.", by=operator)
    assert says() == "Our way."
    skills.disable(project, "expense-report", by=operator)
    assert says() == "not-found"
    skills.enable(project, "expense-report", by=operator)
    skills.delete(project, "expense-report", by=operator)
    assert says() == "Fill in the form."


def test_what_the_catalog_lists_is_what_can_be_loaded(
    shelf: Path, project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    skills.create(project, skill_bundle("own-one"), by=operator)
    skills.create(project, skill_bundle("gone"), by=operator)
    skills.delete(project, "gone", by=operator)
    skills.disable(project, "brand-voice", by=operator)
    (on_disk(shelf, "broken") / "SKILL.md").write_text("no header")
    agent = api("read")
    listed = {skill["name"] for skill in agent.get("/catalog").json()["skills"]}
    assert listed == {"expense-report", "own-one"}
    for name in ("expense-report", "own-one", "gone", "brand-voice", "broken", "unknown"):
        assert agent.get(f"/skills/{name}").status_code == (200 if name in listed else 404)
