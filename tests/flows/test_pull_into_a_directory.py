"""A developer pulls the skills of a project into a directory, edits one by hand, and pulls again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from registry.client import exit_codes
from registry.client.command import main
from registry.core import roles
from tests.conftest import Api, on_disk, skill_text
from tests.flows.conftest import write

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(live_server: Any, agent: Api, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs our command against the site, and returns the exit code and the output."""
    token = tmp_path / "token"
    token.write_text(agent.headers["Authorization"].removeprefix("Bearer "))
    options = (
        "--url", live_server.url, "--project", "demo", "--token-file", str(token), "--cache", str(tmp_path / "cache"),
    )  # fmt: skip

    def command(*arguments: str) -> tuple[int, str]:
        code = main([*options, *arguments])
        return code, "".join(capfd.readouterr())

    return command


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "skills"


def instructions(directory: Path, name: str) -> str:
    return (directory / name / "SKILL.md").read_text().rpartition("---\n")[2].strip()


def test_a_developer_pulls_skills_and_later_their_changes(
    library: Path, run: Run, directory: Path, agent: Api, browser: Callable[[str], Client]
) -> None:
    on_disk(library, "brand-voice", {"references/tone.md": b"Kind.\n"}, body="Write as we speak.")
    author = browser(roles.AUTHOR)
    write(author, skill_text("greeting", body="Say hello."), "publish")

    code, output = run("pull", str(directory))
    assert code == exit_codes.DONE
    assert "+ greeting 1" in output
    assert instructions(directory, "greeting") == "Say hello."
    assert (directory / "brand-voice/references/tone.md").read_bytes() == b"Kind.\n"
    assert run("pull", str(directory), "--check")[0] == exit_codes.DONE

    base = agent.get("/skills/greeting").json()["digest"]
    write(author, skill_text("greeting", body="Say hi."), "publish", name="greeting", base=base)
    code, output = run("pull", str(directory), "--check")
    assert (code, instructions(directory, "greeting")) == (exit_codes.DIFFERS, "Say hello.")
    assert "~ greeting 1 → 2" in output

    assert run("pull", str(directory))[0] == exit_codes.DONE
    assert instructions(directory, "greeting") == "Say hi."

    author.post("/projects/demo/skills/greeting/delete/")
    code, output = run("pull", str(directory))
    assert code == exit_codes.DONE
    assert "- greeting" in output
    assert sorted(path.name for path in directory.iterdir() if path.is_dir()) == ["brand-voice"]


def test_a_pull_keeps_files_that_somebody_edited(
    run: Run, directory: Path, agent: Api, browser: Callable[[str], Client]
) -> None:
    author = browser(roles.AUTHOR)
    write(author, skill_text("greeting", body="Say hello."), "publish")
    run("pull", str(directory))
    (directory / "greeting/SKILL.md").write_text(skill_text("greeting", body="My own words."))
    (directory / "notes").mkdir()
    base = agent.get("/skills/greeting").json()["digest"]
    write(author, skill_text("greeting", body="Say hi."), "publish", name="greeting", base=base)

    code, output = run("pull", str(directory))
    assert code == exit_codes.DIFFERS
    assert "! greeting" in output
    assert instructions(directory, "greeting") == "My own words."

    assert run("pull", str(directory), "--force")[0] == exit_codes.DONE
    assert instructions(directory, "greeting") == "Say hi."
    assert (directory / "notes").is_dir(), "a pull never touches a directory that it did not create"


def test_a_pull_with_a_revoked_token_changes_nothing(
    run: Run, directory: Path, project: Any, browser: Callable[[str], Client]
) -> None:
    write(browser(roles.AUTHOR), skill_text("greeting", body="Say hello."), "publish")
    run("pull", str(directory))
    (token,) = project.tokens.all()
    browser(roles.OWNER).post(f"/projects/demo/agents/bot/tokens/{token.pk}/revoke/")

    assert run("pull", str(directory))[0] == exit_codes.REFUSED
    assert instructions(directory, "greeting") == "Say hello."
