"""Pulls with an unreachable site, invalid answers, unsafe names or a full disk."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors
from registry.client.lock import NAME as LOCK
from registry.client.pull import check, pull
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.client.pulls import Save, lock_of, names_in, said
from tests.conftest import on_disk


def test_an_unreachable_site_changes_nothing(connect: Connect, target: Path, save: Save, site: Between) -> None:
    save("own")
    pull(connect(), target)
    (target / "own/SKILL.md").unlink()
    site.fault = lambda *_: Reply(503)
    for act in (pull, check):
        with pytest.raises(errors.Unreachable, match="Nothing was changed"):
            act(connect(), target)
    assert not (target / "own/SKILL.md").exists()


def test_one_invalid_bundle_does_not_stop_the_others(
    client: SkillsiteClient, target: Path, save: Save, site: Between
) -> None:
    first = save("good"), save("lies", "first")
    pull(client, target)
    save("good", "second", base=first[0])
    save("lies", "second", base=first[1])
    site.fault = lambda between, path, forward: Reply(200, b"not a zip") if "/lies/bundle.zip" in path else None
    report = pull(client, target)
    assert [name for name, _ in report.failed] == ["lies"] and said(report.done) == ["~ good 1 → 2"]
    assert "first" in (target / "lies/SKILL.md").read_text()
    assert lock_of(target)["skills"]["lies"]["version"] == "1"
    site.fault = lambda *_: None
    assert said(pull(client, target).done) == ["~ lies 1 → 2"]


@pytest.mark.slow
def test_skills_installed_before_the_site_fails_stay_installed(
    connect: Connect, target: Path, library: Path, site: Between
) -> None:
    for number in range(15):
        on_disk(library, f"skill-{number:02}")

    def after_some(between: Between, path: str, forward: Any) -> Reply | None:
        return Reply(503) if len(between.transferred()) > 5 else None

    site.fault = after_some
    with pytest.raises(errors.Unreachable):
        pull(connect(attempts=1), target)
    placed = [name for name in names_in(target) if name != LOCK]
    assert 0 < len(placed) < 15
    site.fault = lambda *_: None
    report = pull(connect(), target)
    assert report.complete and len(report.done) == 15 - len(placed)


@pytest.mark.parametrize("name", ["../outside", "a/b", ".hidden", "con", LOCK, "esc\x1b[2J", ""])
def test_an_unsafe_skill_name_is_skipped(
    client: SkillsiteClient, target: Path, save: Save, site: Between, name: str
) -> None:
    save("own")

    def renamed(between: Between, path: str, forward: Any) -> Reply | None:
        if "/effective" not in path:
            return None
        said = json.loads(forward().body)
        said["results"].append({**said["results"][0], "name": name})
        return Reply(200, json.dumps(said).encode())

    site.fault = renamed
    report = pull(client, target)
    assert [step.name for step in report.kept] == [name] and said(report.done) == ["+ own 1"]
    assert names_in(target) == ["own", LOCK]
    assert set(names_in(target.parent)) <= {"skills", "cache", "library", "blobs"}


@pytest.mark.parametrize(("name", "reason"), [("OWN", "ignore case"), ("own", "appears twice")])
def test_names_that_need_the_same_directory_are_refused(
    client: SkillsiteClient, target: Path, save: Save, site: Between, name: str, reason: str
) -> None:
    save("own")

    def doubled(between: Between, path: str, forward: Any) -> Reply | None:
        if "/effective" not in path:
            return None
        said = json.loads(forward().body)
        said["results"].append({**said["results"][0], "name": name})
        return Reply(200, json.dumps(said).encode())

    site.fault = doubled
    with pytest.raises(errors.LocalProblem, match=reason):
        pull(client, target)


def test_a_file_at_the_path_of_the_directory_is_an_error(client: SkillsiteClient, target: Path, save: Save) -> None:
    save("own")
    target.write_text("")
    with pytest.raises(errors.LocalProblem, match="Could not use"):
        pull(client, target)


def test_a_full_disk_leaves_the_old_skill_intact(
    client: SkillsiteClient, target: Path, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = save("own", "first")
    pull(client, target)
    save("own", "second", base=digest)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(errors.LocalProblem, match="No space left"):
            pull(client, target)
    assert "first" in (target / "own/SKILL.md").read_text()
    assert names_in(target) == ["own", LOCK]
    assert said(pull(client, target).done) == ["~ own 1 → 2"]
