"""Directories that a pull must not touch: links out of the working directory, forged lock files, races."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors
from registry.client.directories import skills_directory
from registry.client.lock import NAME as LOCK
from registry.client.pull import check, pull
from registry.core.bundle import FileEntry, bundle_digest, content_digest
from tests import cpu
from tests.client.between import Between, Reply
from tests.client.pulls import Save, names_in, said


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a directory with somebody's documents and a lock file that lists them as skills."""
    documents = tmp_path / "home" / "documents"
    documents.mkdir(parents=True)
    (documents / "thesis.txt").write_text("Ten years of work.")
    return documents.parent


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory: a checked-out repository."""
    directory = tmp_path / "work"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


def digest_of(directory: Path) -> str:
    contents = {path.name: path.read_bytes() for path in directory.iterdir()}
    return bundle_digest(FileEntry(name, len(text), content_digest(text)) for name, text in contents.items())


def forge_lock(directory: Path, source: str, **digests: str) -> None:
    entries = {name: {"version": "1", "digest": digest, "source": "project"} for name, digest in digests.items()}
    (directory / LOCK).write_text(json.dumps({"lock": 1, "source": source, "skills": entries}))


@pytest.mark.parametrize("link", [".claude", ".claude/skills"])
@pytest.mark.parametrize("force", [False, True])
def test_a_skills_directory_that_is_a_link_out_of_the_working_directory_is_refused(
    client: SkillsiteClient, home: Path, work: Path, save: Save, link: str, force: bool
) -> None:
    save("own")
    forge_lock(home, client.source, documents="sha256:" + "0" * 64)
    (work / link).parent.mkdir(exist_ok=True)
    (work / link).symlink_to(home)
    with pytest.raises(errors.LocalProblem, match="is a link to"):
        skills_directory(".", "claude-code")
    with pytest.raises(errors.LocalProblem, match="is a link to"):
        pull(client, Path(".claude/skills"), force=force)
    with pytest.raises(errors.LocalProblem, match="is a link to"):
        check(client, Path(".claude/skills"))
    assert names_in(home) == ["documents", LOCK]
    assert (home / "documents/thesis.txt").read_text() == "Ten years of work."


def test_a_link_out_of_a_directory_elsewhere_is_refused(
    client: SkillsiteClient, home: Path, work: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/.claude").symlink_to(home)
    with pytest.raises(errors.LocalProblem, match="is a link to"):
        skills_directory(tmp_path / "elsewhere", "claude-code")
    with pytest.raises(errors.LocalProblem, match="is a link to"):
        pull(client, tmp_path / "elsewhere/.claude")
    assert names_in(home) == ["documents"]


def test_a_link_inside_the_working_directory_is_followed(client: SkillsiteClient, work: Path, save: Save) -> None:
    save("own")
    (work / ".agents/skills").mkdir(parents=True)
    (work / ".claude").mkdir()
    (work / ".claude/skills").symlink_to("../.agents/skills")
    assert pull(client, skills_directory(".", "claude-code")).complete
    assert names_in(work / ".agents/skills") == ["own", LOCK]


def test_a_link_that_leads_to_itself_is_an_error(client: SkillsiteClient, work: Path) -> None:
    (work / "skills").symlink_to("skills")
    with pytest.raises(errors.LocalProblem):
        pull(client, Path("skills"))


@pytest.mark.parametrize("matching", [False, True])
def test_a_forged_lock_removes_no_directory_that_is_not_a_skill(
    client: SkillsiteClient, home: Path, matching: bool
) -> None:
    digest = digest_of(home / "documents") if matching else "sha256:" + "0" * 64
    forge_lock(home, client.source, documents=digest)
    report = pull(client, home, force=True)
    assert [step.name for step in report.kept] == ["documents"] and not report.done
    assert (home / "documents/thesis.txt").read_text() == "Ten years of work."


def test_a_forged_lock_removes_no_skill_with_another_digest(client: SkillsiteClient, home: Path) -> None:
    (home / "documents/SKILL.md").write_text("Mine.")
    forge_lock(home, client.source, documents="sha256:" + "0" * 64)
    assert "delete it yourself" in said(pull(client, home, force=True).kept)[0]
    assert (home / "documents/SKILL.md").read_text() == "Mine."


def test_force_replaces_no_directory_that_is_not_a_skill(client: SkillsiteClient, home: Path, save: Save) -> None:
    save("documents")
    (home / "linked").mkdir()
    save("linked")
    (home / "linked/SKILL.md").symlink_to(home / "documents/thesis.txt")
    (home / "plain").write_text("A file.")
    save("plain")
    report = pull(client, home, force=True)
    assert [step.name for step in report.kept] == ["documents", "linked", "plain"]
    assert all("it has no SKILL.md" in step.reason for step in report.kept)
    assert (home / "documents/thesis.txt").is_file() and (home / "plain").read_text() == "A file."


@pytest.mark.parametrize("name", ["..", "../documents", "/etc", "a/../../b", ".skillsite", ".git", "documents\\x"])
def test_unsafe_names_in_a_lock_are_not_used(client: SkillsiteClient, target: Path, home: Path, name: str) -> None:
    target.mkdir()
    forge_lock(target, client.source, **{name: digest_of(home / "documents")})
    assert [step.action for step in pull(client, target, force=True).kept] == ["refuse"]
    assert (home / "documents/thesis.txt").is_file() and target.is_dir()


def test_names_in_a_lock_that_collide_with_a_skill_are_refused(
    client: SkillsiteClient, target: Path, save: Save
) -> None:
    digest = save("own")
    target.mkdir()
    forge_lock(target, client.source, OWN=digest)
    with pytest.raises(errors.LocalProblem, match="ignore case"):
        pull(client, target, force=True)


def test_a_lock_with_a_very_deep_name_costs_little(client: SkillsiteClient, target: Path) -> None:
    target.mkdir()
    forge_lock(target, client.source, **{"a/" * 1_000_000: "sha256:" + "0" * 64})
    (step,) = cpu.within(2.0, lambda: check(client, target))
    assert step.action == "refuse"


@pytest.mark.parametrize("kind", ["link", "pipe", "large"])
def test_a_lock_that_is_no_ordinary_file_is_an_error(
    client: SkillsiteClient, target: Path, home: Path, kind: str
) -> None:
    target.mkdir()
    if kind == "link":
        (target / LOCK).symlink_to(home / "documents/thesis.txt")
    elif kind == "pipe":
        os.mkfifo(target / LOCK)
    else:
        with (target / LOCK).open("wb") as file:
            file.truncate(1 << 40)
    with pytest.raises(errors.LocalProblem, match="Could not read"):
        pull(client, target)


def test_files_that_no_pull_left_in_the_staging_directory_stay(
    client: SkillsiteClient, target: Path, save: Save
) -> None:
    save("own")
    (target / ".skillsite").mkdir(parents=True)
    (target / ".skillsite/notes.txt").write_text("Mine.")
    with pytest.raises(errors.LocalProblem, match="not from a pull"):
        pull(client, target, force=True)
    assert (target / ".skillsite/notes.txt").read_text() == "Mine."


@pytest.mark.parametrize("planned", ["update", "add"])
def test_files_that_change_between_the_plan_and_the_replacement_stay(
    client: SkillsiteClient, target: Path, save: Save, site: Between, planned: str
) -> None:
    digest = save("own", "first")
    if planned == "update":
        pull(client, target)
        save("own", "second", base=digest)

    def edit(between: Between, path: str, forward: Any) -> Reply | None:
        if "bundle.zip" in path:
            (target / "own").mkdir(exist_ok=True)
            (target / "own/SKILL.md").write_text("Mine.")
        return None

    site.fault = edit
    report = pull(client, target)
    assert not report.done and "changed during the pull" in dict(report.failed)["own"]
    assert (target / "own/SKILL.md").read_text() == "Mine."
    assert names_in(target) == ["own", LOCK]
