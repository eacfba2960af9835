"""Pulling the skills of a real site into a directory: downloads, updates and removals."""

import shutil
from pathlib import Path

import pytest

from registry.client import SkillsiteClient, files
from registry.client.lock import NAME as LOCK
from registry.client.pull import pull
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.client.between import Between
from tests.client.conftest import Connect
from tests.client.pulls import Save, lock_of, names_in, said
from tests.conftest import on_disk
from tests.prepared import delete_skill, disable_skill

BINARY = bytes(range(256))


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


def test_offline_pulls_what_the_cache_has(connect: Connect, target: Path, save: Save, site: Between) -> None:
    save("own")
    pull(connect(), target)
    site.requests.clear()
    report = pull(connect(offline=True), target.with_name("other"))
    assert report.complete and report.from_cache and not site.requests
    assert files.read_tree(target / "own") == files.read_tree(target.with_name("other") / "own")
