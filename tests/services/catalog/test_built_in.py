"""The index of built-in skills: the skills it finds, and when it notices changes."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.errors import NotFound
from registry.services.catalog import built_in_files
from registry.services.catalog.built_in import BuiltInIndex, BuiltInSkill
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.services.catalog.indexes import Clock, entry, look, only_problem


def test_a_directory_with_skill_md_is_a_skill_with_all_its_files(root: Path) -> None:
    on_disk(root, "greeting", {"references/tone.md": b"# Tone\n"}, tags=["letters"], requires=["brand-voice"])
    (skill,) = look(root).skills["greeting"]
    assert [entry.path for entry in skill.files] == [SKILL_MD, "references/tone.md"]
    found = skill.candidate
    assert (found.source, found.root, found.tags, found.requires) == (
        "bundled", "library", ("letters",), ("brand-voice",),
    )  # fmt: skip
    assert found.tokens > 0


def test_a_skill_that_names_no_version_gets_one_from_its_digest(root: Path) -> None:
    on_disk(root)
    (skill,) = look(root).skills["greeting"]
    assert skill.candidate.version == f"sha-{skill.candidate.digest.removeprefix('sha256:')[:12]}"


def test_a_version_in_the_frontmatter_is_kept_as_written(root: Path) -> None:
    on_disk(root, metadata={"version": "1.0"})
    assert look(root).skills["greeting"][0].candidate.version == "1.0"


def test_the_digest_is_that_of_the_bundle(root: Path) -> None:
    on_disk(root, files={"a.txt": b"a"})
    assert look(root).skills["greeting"][0].candidate.digest == skill_bundle(files={"a.txt": b"a"}).digest


def test_the_name_in_the_frontmatter_is_used_and_normalised(root: Path) -> None:
    directory = root / "some-directory"
    directory.mkdir()
    (directory / SKILL_MD).write_text("---\nname: '  Greeting '\ndescription: Says hello.\n---\nHello.\n")
    assert list(look(root).skills) == ["greeting"]


def test_the_first_root_wins_and_the_others_are_kept_in_order(tmp_path: Path) -> None:
    first, second = tmp_path / "team", tmp_path / "shared"
    on_disk(first, body="First.")
    on_disk(second, body="Second.")
    found = look(first, second).skills["greeting"]
    assert [skill.candidate.root for skill in found] == ["team", "shared"]
    assert [skill.candidate.root for skill in look(second, first).skills["greeting"]] == ["shared", "team"]


def test_roots_with_the_same_name_get_different_labels(tmp_path: Path) -> None:
    for place in ("a", "b"):
        on_disk(tmp_path / place / "skills")
    found = look(tmp_path / "a" / "skills", tmp_path / "b" / "skills").skills["greeting"]
    assert [skill.candidate.root for skill in found] == ["skills (1)", "skills (2)"]


def test_other_files_and_directories_are_ignored(root: Path) -> None:
    (root / "README.md").write_text("About these skills.")
    (root / "docs").mkdir()
    on_disk(root / ".git", "hidden")
    snapshot = look(root)
    assert (dict(snapshot.skills), snapshot.diagnostics) == ({}, ())


def test_a_link_to_a_file_beside_the_skills_is_ignored(root: Path, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("About these skills.")
    (root / "README.md").symlink_to("../README.md")
    assert look(root).diagnostics == ()


def test_temporary_files_of_tools_are_not_part_of_a_skill(root: Path) -> None:
    directory = on_disk(root)
    for junk in (".DS_Store", "._SKILL.md", "__pycache__/run.pyc", "__MACOSX/x", ".git/config"):
        target = directory / junk
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(b"junk")
    assert [entry.path for entry in look(root).skills["greeting"][0].files] == [SKILL_MD]


def test_the_git_file_of_a_submodule_is_not_part_of_a_skill(root: Path) -> None:
    (on_disk(root) / ".git").write_text("gitdir: ../.git/modules/greeting\n")
    assert [entry.path for entry in look(root).skills["greeting"][0].files] == [SKILL_MD]


# -- Unreachable directories -------------------------------------------------------------------------------


def test_a_missing_root_is_reported_and_the_others_are_served(root: Path, tmp_path: Path) -> None:
    on_disk(root)
    snapshot = look(tmp_path / "gone", root)
    assert list(snapshot.skills) == ["greeting"]
    problem = only_problem(snapshot)
    assert (problem.code, problem.directory) == ("directory-unreachable", "gone")
    assert "AGENT_SKILLS_DIRS" in problem.message


def test_a_root_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "skills").write_text("not a directory")
    assert only_problem(look(tmp_path / "skills")).code == "directory-unreachable"


def test_a_root_that_exists_again_is_no_longer_reported(
    tmp_path: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    disk = index(tmp_path / "late")
    assert only_problem(disk.snapshot()).code == "directory-unreachable"
    (tmp_path / "late").mkdir()
    clock.now += 5
    assert disk.snapshot().diagnostics == ()


def test_no_report_reveals_the_path_of_a_directory(root: Path, tmp_path: Path) -> None:
    on_disk(root, "broken").joinpath(SKILL_MD).write_text("no header")
    on_disk(root, "linked").joinpath("out.txt").symlink_to("/etc/passwd")
    for problem in look(root, tmp_path / "gone").diagnostics:
        assert str(tmp_path) not in repr(problem)


# -- Noticing changes --------------------------------------------------------------------------------------


def test_a_change_is_noticed_after_the_interval_and_not_before(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    on_disk(root)
    disk = index(root)
    before = disk.snapshot()
    on_disk(root, body="Longer instructions than before, in one more sentence.")
    on_disk(root, "second")
    clock.now += 4.9
    assert disk.snapshot() is before
    clock.now += 0.1
    after = disk.snapshot()
    assert set(after.skills) == {"greeting", "second"}
    assert after.skills["greeting"][0].candidate.digest != before.skills["greeting"][0].candidate.digest
    assert after.fingerprint != before.fingerprint


def test_the_snapshot_stays_the_same_without_changes(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    on_disk(root)
    disk = index(root)
    before = disk.snapshot()
    clock.now += 60
    assert disk.snapshot() is before


def test_a_removed_skill_disappears_after_the_interval(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    directory = on_disk(root)
    disk = index(root)
    disk.snapshot()
    shutil.rmtree(directory)
    clock.now += 5
    assert dict(disk.snapshot().skills) == {}


def test_with_zero_seconds_the_directories_are_read_only_once(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    disk = index(root, reload_seconds=0)
    before = disk.snapshot()
    on_disk(root)
    clock.now += 1_000_000
    assert disk.snapshot() is before
    assert list(disk.refresh().skills) == ["greeting"]


def test_a_half_written_file_keeps_the_last_good_skill_and_is_reported(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    directory = on_disk(root)
    disk = index(root)
    good = disk.snapshot().skills["greeting"]
    (directory / SKILL_MD).write_text("---\nname: greeting\ndescr")
    clock.now += 5
    snapshot = disk.snapshot()
    assert snapshot.skills["greeting"] == good
    assert only_problem(snapshot).directory == "library/greeting"
    (directory / SKILL_MD).write_text(skill_text(body="Whole again."))
    clock.now += 5
    mended = disk.snapshot()
    assert mended.diagnostics == ()
    assert b"Whole again." in mended.skills["greeting"][0].skill_md


def test_the_last_good_skill_survives_several_checks_of_the_broken_one(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    directory = on_disk(root)
    disk = index(root)
    disk.snapshot()
    (directory / SKILL_MD).write_text("half")
    for _ in range(3):
        clock.now += 5
        assert list(disk.snapshot().skills) == ["greeting"]


def test_a_file_that_is_replaced_by_removing_it_first_keeps_the_skill(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    directory = on_disk(root)
    disk = index(root)
    good = disk.snapshot().skills["greeting"]
    (directory / SKILL_MD).unlink()
    clock.now += 5
    between = disk.snapshot()
    assert between.skills["greeting"] == good
    assert (only_problem(between).code, only_problem(between).directory) == ("skill-md-gone", "library/greeting")
    (directory / SKILL_MD).write_text(skill_text(body="Checked out."))
    clock.now += 5
    after = disk.snapshot()
    assert after.diagnostics == () and b"Checked out." in after.skills["greeting"][0].skill_md


def test_a_skill_without_skill_md_disappears_at_the_second_check(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock
) -> None:
    directory = on_disk(root, files={"notes.md": b"x"})
    disk = index(root)
    disk.snapshot()
    (directory / SKILL_MD).unlink()
    for served in (["greeting"], [], []):
        clock.now += 5
        assert list(disk.snapshot().skills) == served
    assert disk.snapshot().diagnostics == ()


class Writing:
    """Change a file right after the index has read the previous one, a given number of times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, directory: Path, times: int) -> None:
        self.directory, self.left = directory, times
        self.read = built_in_files.read
        monkeypatch.setattr(built_in_files, "read", self)

    def __call__(self, root: Path, directory: Path, relative: str, most: int) -> bytes:
        content = self.read(root, directory, relative, most)
        if relative == "b.txt" and self.left:
            self.left -= 1
            for name in ("a.txt", "b.txt"):
                (self.directory / name).write_bytes(b"x" * (10 + self.left))
        return content


def test_files_that_are_saved_while_they_are_read_are_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = on_disk(root, files={"a.txt": b"old", "b.txt": b"old"})
    Writing(monkeypatch, directory, 1)
    (skill,) = look(root).skills["greeting"]
    assert entry(skill, "a.txt").digest == entry(skill, "b.txt").digest, "one moment, not two"


def test_while_files_are_being_written_the_last_good_skill_is_kept(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = on_disk(root, files={"a.txt": b"old", "b.txt": b"old"})
    disk = index(root)
    good = disk.snapshot().skills["greeting"]
    (directory / "a.txt").write_bytes(b"new")
    Writing(monkeypatch, directory, 3)
    clock.now += 5
    snapshot = disk.snapshot()
    assert snapshot.skills["greeting"] == good
    assert "are changing" in only_problem(snapshot).message
    clock.now += 5
    assert disk.snapshot().diagnostics == ()
    assert disk.snapshot().skills["greeting"] != good


# -- Reading -----------------------------------------------------------------------------------------------


@pytest.fixture
def indexed(root: Path, index: Callable[..., BuiltInIndex]) -> tuple[BuiltInIndex, BuiltInSkill, Path]:
    directory = on_disk(root, files={"data.txt": b"as indexed"})
    disk = index(root)
    return disk, disk.snapshot().skills["greeting"][0], directory / "data.txt"


def test_a_file_is_read_as_indexed(indexed: tuple[BuiltInIndex, BuiltInSkill, Path]) -> None:
    disk, skill, _ = indexed
    assert disk.read(skill, entry(skill, "data.txt")) == b"as indexed"


def _rewrite(file: Path) -> None:
    file.write_bytes(b"other text")


def _grow(file: Path) -> None:
    file.write_bytes(b"as indexed, and then some")


def _link(file: Path) -> None:
    file.unlink()
    file.symlink_to("/etc/hostname")


def _replace_directory(file: Path) -> None:
    target = file.parent.with_name("elsewhere")
    file.parent.rename(target)
    file.parent.symlink_to("/etc", target_is_directory=True)


@pytest.mark.parametrize("change", [_rewrite, _grow, Path.unlink, _link, _replace_directory])
def test_a_changed_file_is_never_served_under_the_old_digest(
    indexed: tuple[BuiltInIndex, BuiltInSkill, Path], change: Callable[[Path], None]
) -> None:
    disk, skill, file = indexed
    before = disk.snapshot()
    change(file)
    with pytest.raises(NotFound, match="changed on disk"):
        disk.read(skill, entry(skill, "data.txt"))
    assert disk.snapshot().fingerprint != before.fingerprint, "the index looks again at once"


def test_skill_md_is_served_from_memory(indexed: tuple[BuiltInIndex, BuiltInSkill, Path]) -> None:
    disk, skill, file = indexed
    shutil.rmtree(file.parent)
    assert disk.read(skill, entry(skill, SKILL_MD)) == skill.skill_md


# -- The fingerprint ---------------------------------------------------------------------------------------


def test_two_nodes_with_equal_copies_agree_despite_different_clocks(tmp_path: Path) -> None:
    one, two = tmp_path / "one" / "library", tmp_path / "two" / "library"
    on_disk(one, files={"a.txt": b"a"})
    (on_disk(one, "broken") / SKILL_MD).write_text("no header")
    shutil.copytree(one, two)
    for path in two.rglob("*"):
        os.utime(path, (1, 1))
    assert look(one).fingerprint == look(two).fingerprint


def test_the_fingerprint_differs_between_states(tmp_path: Path) -> None:
    first, second, empty = tmp_path / "first", tmp_path / "second", tmp_path / "empty"
    on_disk(first, body="First.")
    on_disk(second, body="Second.")
    empty.mkdir()
    states = [(first,), (second,), (first, second), (second, first), (empty,), (tmp_path / "gone",)]
    assert len({look(*roots).fingerprint for roots in states}) == len(states)


def test_instructions_over_the_loud_limit_are_diagnosed_and_logged_once_for_each_change(
    root: Path, index: Callable[..., BuiltInIndex], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    on_disk(root, body="word " * 9_000)
    caplog.set_level("WARNING")
    disk = index(root)
    problem = only_problem(disk.snapshot())
    assert (problem.code, problem.name, problem.directory, problem.served) == (
        "tokens-loud", "greeting", "library/greeting", True,
    )  # fmt: skip
    assert "8,000" in problem.message
    assert list(disk.snapshot().skills) == ["greeting"]
    clock.now += 60
    disk.snapshot()
    assert caplog.text.count("library/greeting/SKILL.md") == 1
    (root / "greeting" / "SKILL.md").write_text(skill_text(body="word " * 9_500))
    clock.now += 60
    disk.snapshot()
    assert caplog.text.count("library/greeting/SKILL.md") == 2


def test_instructions_up_to_the_loud_limit_are_not_diagnosed(root: Path) -> None:
    on_disk(root, body="word " * 7_000)
    assert look(root).diagnostics == ()
