"""Pulling the skills of a real site into a directory."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors, files
from registry.client.lock import NAME as LOCK
from registry.client.pull import check, pull
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill, save_skill

BINARY = bytes(range(256))
Save = Callable[..., str]


@pytest.fixture
def save(project: Project, author: Actor) -> Save:
    """Save a project skill, as a new version if it exists, and return its digest."""

    def make(name: str, body: str = "", **given: Any) -> str:
        bundle = skill_bundle(name, given.pop("files", None), body=body)
        base = given.pop("base", None)
        if base is None:
            return create_skill(project, bundle, note="", by=author).version.digest
        return save_skill(project, name, bundle, base=base, note="", by=author).version.digest

    return make


def lock_of(target: Path) -> Any:
    return json.loads((target / LOCK).read_text())


def names_in(target: Path) -> list[str]:
    return sorted(path.name for path in target.iterdir())


def said(steps: Any) -> list[str]:
    return [str(step) for step in steps]


def test_a_pull_installs_every_effective_skill(
    client: SkillsiteClient, target: Path, library: Path, save: Save, site: Between
) -> None:
    on_disk(library, "greeting", {"assets/logo.png": BINARY, "references/größe/längen.md": "ß".encode()})
    digest = save("own", files={"scripts/run.py": b"print()\n"})
    report = pull(client, target)
    assert report.complete and said(report.done)[1:] == ["+ own 1"]
    assert names_in(target) == ["greeting", "own", LOCK]
    assert files.read_tree(target / "greeting") == files.read_tree(library / "greeting")
    assert (target / "own/scripts/run.py").read_bytes() == b"print()\n"
    assert lock_of(target)["skills"]["own"] == {"version": "1", "digest": digest, "source": "project"}
    assert lock_of(target)["source"] == f"{site.url}/projects/demo"


def test_installed_files_have_ordinary_permissions(client: SkillsiteClient, target: Path, save: Save) -> None:
    """The umask applies, although the temporary files are private."""
    save("own")
    (target.parent / "plain").write_text("")
    (target.parent / "plain-directory").mkdir()
    pull(client, target)
    assert (target / "own/SKILL.md").stat().st_mode == (target.parent / "plain").stat().st_mode
    assert (target / LOCK).stat().st_mode == (target.parent / "plain").stat().st_mode
    assert (target / "own").stat().st_mode == (target.parent / "plain-directory").stat().st_mode


def test_the_lock_is_sorted_and_free_of_secrets(client: SkillsiteClient, target: Path, save: Save, token: str) -> None:
    save("beta")
    save("alpha")
    pull(client, target)
    text = (target / LOCK).read_text()
    assert token not in text and text.index("alpha") < text.index("beta") and text.endswith("}\n")


def test_a_second_pull_downloads_and_writes_nothing(
    client: SkillsiteClient, target: Path, save: Save, site: Between
) -> None:
    save("own")
    pull(client, target)
    before = (target / LOCK).stat().st_mtime_ns, (target / "own").stat().st_ino, len(site.transferred())
    report = pull(client, target)
    assert report.complete and not report.done
    assert before == ((target / LOCK).stat().st_mtime_ns, (target / "own").stat().st_ino, len(site.transferred()))


@pytest.mark.slow
def test_only_the_changed_one_of_forty_skills_is_downloaded(
    connect: Connect, target: Path, library: Path, save: Save, site: Between
) -> None:
    for number in range(39):
        on_disk(library, f"skill-{number:02}")
    first = save("own", "first")
    pull(connect(), target)
    assert len(site.transferred()) == 40
    save("own", "second", base=first)
    site.requests.clear()
    sent = site.bytes_sent
    client = connect()
    report = pull(client, target)
    assert said(report.done) == ["~ own 1 → 2"]
    assert site.requests == [
        "/api/v1/projects/demo/effective?limit=1000",
        "/api/v1/projects/demo/skills/own/bundle.zip?version=2",
    ]
    listing = 39 * 160
    assert site.bytes_sent - sent < listing + 3_000
    assert client.stats.requests == 2


def test_a_second_directory_is_filled_from_the_cache(connect: Connect, target: Path, save: Save, site: Between) -> None:
    save("own")
    pull(connect(), target)
    pull(connect(), target.with_name("other"))
    assert len(site.transferred()) == 1
    assert files.read_tree(target / "own") == files.read_tree(target.with_name("other") / "own")


def test_a_deleted_skill_is_removed(
    client: SkillsiteClient, target: Path, save: Save, project: Project, author: Actor
) -> None:
    digest = save("own")
    save("stays")
    pull(client, target)
    delete_skill(project, "own", base=digest, by=author)
    assert said(pull(client, target).done) == ["- own"]
    assert names_in(target) == [LOCK, "stays"]
    assert list(lock_of(target)["skills"]) == ["stays"]


def test_a_disabled_skill_is_removed_and_restored(
    client: SkillsiteClient, target: Path, save: Save, project: Project, author: Actor
) -> None:
    save("own")
    pull(client, target)
    disable_skill(project, "own", by=author)
    pull(client, target)
    assert names_in(target) == [LOCK]
    skills.enable(project, "own", by=author)
    pull(client, target)
    assert names_in(target) == ["own", LOCK]


def test_a_customised_skill_replaces_the_built_in_one_and_its_files(
    client: SkillsiteClient, target: Path, library: Path, save: Save
) -> None:
    on_disk(library, "greeting", {"references/tone.md": b"Kind."})
    pull(client, target)
    bundled = lock_of(target)["skills"]["greeting"]["digest"]
    save("greeting", "Ours.", base=bundled)
    pull(client, target)
    assert not (target / "greeting/references").exists()
    assert lock_of(target)["skills"]["greeting"]["source"] == "project"


def test_a_locally_deleted_skill_is_installed_again(client: SkillsiteClient, target: Path, save: Save) -> None:
    save("own")
    pull(client, target)
    shutil.rmtree(target / "own")
    assert said(pull(client, target).done) == ["+ own 1"]
    assert (target / "own/SKILL.md").is_file()


# -- What is somebody else's -------------------------------------------------------------------------------


def test_a_local_edit_is_kept_and_named(client: SkillsiteClient, target: Path, save: Save) -> None:
    digest = save("own", "first")
    pull(client, target)
    (target / "own/SKILL.md").write_text("Mine.")
    save("own", "second", base=digest)
    report = pull(client, target)
    assert said(report.kept) == ["! own: its files were edited here"]
    assert (target / "own/SKILL.md").read_text() == "Mine."
    assert lock_of(target)["skills"]["own"]["version"] == "1"


@pytest.mark.parametrize("edit", ["added", "deleted", "link", "linked-directory"])
def test_every_kind_of_local_edit_is_detected(client: SkillsiteClient, target: Path, save: Save, edit: str) -> None:
    save("own", files={"references/a.md": b"A"})
    pull(client, target)
    own = target / "own"
    if edit == "added":
        (own / "notes.md").write_text("")
    elif edit == "deleted":
        (own / "references/a.md").unlink()
    elif edit == "link":
        (own / "references/a.md").unlink()
        (own / "references/a.md").symlink_to("/etc/hostname")
    else:
        (own / "linked").symlink_to("/etc")
    assert said(check(client, target)) == ["! own: its files were edited here"]


def test_a_locally_edited_skill_that_was_deleted_on_the_site_stays(
    client: SkillsiteClient, target: Path, save: Save, project: Project, author: Actor
) -> None:
    digest = save("own")
    pull(client, target)
    (target / "own/SKILL.md").write_text("Mine.")
    delete_skill(project, "own", base=digest, by=author)
    for _ in range(2):
        report = pull(client, target)
        assert said(report.kept) == ["! own: removed from the project, but its files were edited here"]
    assert (target / "own/SKILL.md").read_text() == "Mine."
    assert said(pull(client, target, force=True).done) == ["- own"]
    assert names_in(target) == [LOCK]


def test_a_directory_that_no_pull_installed_is_never_changed(client: SkillsiteClient, target: Path, save: Save) -> None:
    save("own")
    (target / "own").mkdir(parents=True)
    (target / "own/SKILL.md").write_text("Mine.")
    (target / "private").mkdir()
    (target / "notes.txt").write_text("Mine too.")
    assert said(pull(client, target).kept) == ["! own: it was not installed by a pull"]
    assert (target / "own/SKILL.md").read_text() == "Mine."
    assert names_in(target) == ["notes.txt", "own", "private", LOCK]
    assert said(pull(client, target, force=True).done) == ["+ own 1"]
    assert (target / "own/SKILL.md").read_text() != "Mine."
    assert names_in(target) == ["notes.txt", "own", "private", LOCK]


def test_an_identical_directory_that_no_pull_installed_is_not_locked(
    client: SkillsiteClient, target: Path, save: Save, project: Project, author: Actor
) -> None:
    digest = save("own")
    pull(client, target)
    (target / LOCK).unlink()
    assert pull(client, target).complete
    delete_skill(project, "own", base=digest, by=author)
    pull(client, target)
    assert (target / "own/SKILL.md").is_file()


def test_a_link_at_the_path_of_a_skill_is_not_followed(client: SkillsiteClient, target: Path, save: Save) -> None:
    save("own")
    elsewhere = target.with_name("elsewhere")
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("1")
    target.mkdir()
    (target / "own").symlink_to(elsewhere)
    assert said(pull(client, target).kept) == ["! own: it was not installed by a pull"]
    assert pull(client, target, force=True).complete
    assert not (target / "own").is_symlink() and (target / "own/SKILL.md").is_file()
    assert [path.name for path in elsewhere.iterdir()] == ["precious"]


def test_by_products_of_scripts_are_not_local_edits(client: SkillsiteClient, target: Path, save: Save) -> None:
    digest = save("own", "first")
    pull(client, target)
    (target / "own/scripts/__pycache__").mkdir(parents=True)
    (target / "own/scripts/__pycache__/run.cpython-312.pyc").write_bytes(b"\0")
    (target / "own/.DS_Store").write_bytes(b"\0")
    assert not check(client, target)
    save("own", "second", base=digest)
    assert said(pull(client, target).done) == ["~ own 1 → 2"]


def test_the_directory_of_another_project_is_not_changed(
    connect: Connect, target: Path, save: Save, live_server: Any
) -> None:
    save("own")
    pull(connect(), target)
    with pytest.raises(errors.LocalProblem, match="has the skills of"):
        pull(connect(url=live_server.url), target)
    with pytest.raises(errors.LocalProblem, match="has the skills of"):
        check(connect(url=live_server.url), target)
    assert pull(connect(url=live_server.url), target, force=True).complete
    assert lock_of(target)["source"].startswith(live_server.url)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"lock": 1}', '{"lock": 1, "source": "x", "skills": [1]}', "\xff"])
def test_a_damaged_lock_stops_the_pull(client: SkillsiteClient, target: Path, save: Save, text: str) -> None:
    save("own")
    target.mkdir()
    (target / LOCK).write_bytes(text.encode("latin-1"))
    with pytest.raises(errors.LocalProblem, match="damaged"):
        pull(client, target)
    assert names_in(target) == [LOCK]


def test_a_lock_of_a_later_version_stops_the_pull(client: SkillsiteClient, target: Path) -> None:
    target.mkdir()
    (target / LOCK).write_text('{"lock": 2}')
    with pytest.raises(errors.LocalProblem, match="another version of the client"):
        pull(client, target)


# -- Check -------------------------------------------------------------------------------------------------


def test_check_reports_differences_and_changes_nothing(
    client: SkillsiteClient, target: Path, save: Save, project: Project, author: Actor
) -> None:
    first, gone = save("changes", "first"), save("goes")
    pull(client, target)
    assert not check(client, target)
    save("changes", "second", base=first)
    save("comes")
    delete_skill(project, "goes", base=gone, by=author)
    before = files.read_tree(target)
    assert said(check(client, target)) == ["~ changes 1 → 2", "+ comes 1", "- goes"]
    assert files.read_tree(target) == before


def test_check_does_not_create_a_missing_directory(client: SkillsiteClient, target: Path, save: Save) -> None:
    save("own")
    assert said(check(client, target)) == ["+ own 1"]
    assert not target.exists()


# -- When the site is away, lies, or the disk is in the way ------------------------------------------------


def test_an_unreachable_site_changes_nothing(connect: Connect, target: Path, save: Save, site: Between) -> None:
    save("own")
    pull(connect(), target)
    (target / "own/SKILL.md").unlink()
    site.fault = lambda *_: Reply(503)
    for act in (pull, check):
        with pytest.raises(errors.Unreachable, match="Nothing was changed"):
            act(connect(), target)
    assert not (target / "own/SKILL.md").exists()


def test_offline_pulls_what_the_cache_has(connect: Connect, target: Path, save: Save, site: Between) -> None:
    save("own")
    pull(connect(), target)
    site.requests.clear()
    report = pull(connect(offline=True), target.with_name("other"))
    assert report.complete and report.from_cache and not site.requests
    assert files.read_tree(target / "own") == files.read_tree(target.with_name("other") / "own")


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


def test_names_that_collide_on_some_file_systems_are_refused(
    client: SkillsiteClient, target: Path, save: Save, site: Between
) -> None:
    save("own")

    def doubled(between: Between, path: str, forward: Any) -> Reply | None:
        if "/effective" not in path:
            return None
        said = json.loads(forward().body)
        said["results"].append({**said["results"][0], "name": "OWN"})
        return Reply(200, json.dumps(said).encode())

    site.fault = doubled
    with pytest.raises(errors.LocalProblem, match="ignore case"):
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
