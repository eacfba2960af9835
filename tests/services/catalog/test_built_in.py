"""The index of built-in skills: skills it finds, skills it refuses, and when it notices changes."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from registry.core.bundle import SKILL_MD, FileEntry
from registry.core.catalog.precedence import LeftOut
from registry.core.errors import NotFound
from registry.core.limits import DEFAULT, Limits
from registry.services.catalog import built_in_files
from registry.services.catalog.built_in import BuiltInIndex, BuiltInSkill, Snapshot
from tests.conftest import on_disk, skill_bundle, skill_text


class Clock:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    root.mkdir()
    return root


@pytest.fixture
def index(clock: Clock) -> Callable[..., BuiltInIndex]:
    def make(*roots: Path, reload_seconds: float = 5, limits: Limits = DEFAULT) -> BuiltInIndex:
        return BuiltInIndex(roots, reload_seconds=reload_seconds, limits=limits, clock=clock)

    return make


def look(*roots: Path, limits: Limits = DEFAULT) -> Snapshot:
    return BuiltInIndex(roots, reload_seconds=5, limits=limits).snapshot()


def only_problem(snapshot: Snapshot) -> LeftOut:
    assert len(snapshot.left_out) == 1, snapshot.left_out
    return snapshot.left_out[0]


def entry(skill: BuiltInSkill, path: str) -> FileEntry:
    return next(entry for entry in skill.files if entry.path == path)


# -- What is found -----------------------------------------------------------------------------------------


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
    assert (dict(snapshot.skills), snapshot.left_out) == ({}, ())


def test_a_link_to_a_file_beside_the_skills_is_ignored(root: Path, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("About these skills.")
    (root / "README.md").symlink_to("../README.md")
    assert look(root).left_out == ()


def test_temporary_files_of_tools_are_not_part_of_a_skill(root: Path) -> None:
    directory = on_disk(root)
    for junk in (".DS_Store", "._SKILL.md", "__pycache__/run.pyc", "__MACOSX/x", ".git/config"):
        target = directory / junk
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(b"junk")
    assert [entry.path for entry in look(root).skills["greeting"][0].files] == [SKILL_MD]


# -- What cannot be reached --------------------------------------------------------------------------------


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
    assert disk.snapshot().left_out == ()


def test_no_report_reveals_the_path_of_a_directory(root: Path, tmp_path: Path) -> None:
    on_disk(root, "broken").joinpath(SKILL_MD).write_text("no header")
    on_disk(root, "linked").joinpath("out.txt").symlink_to("/etc/passwd")
    for problem in look(root, tmp_path / "gone").left_out:
        assert str(tmp_path) not in repr(problem)


# -- Links -------------------------------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    secret = tmp_path / "outside" / "secret.txt"
    secret.parent.mkdir()
    secret.write_text("root:x:0:0")
    on_disk(tmp_path / "outside", "stranger")
    return secret.parent


def test_a_file_that_links_out_of_the_root_is_refused(root: Path, outside: Path) -> None:
    on_disk(root, "honest")
    (on_disk(root, "sly") / "notes.txt").symlink_to(outside / "secret.txt")
    snapshot = look(root)
    assert list(snapshot.skills) == ["honest"]
    problem = only_problem(snapshot)
    assert (problem.name, problem.directory, problem.file) == ("sly", "library/sly", "notes.txt")
    assert "is a link to a place outside its folder" in problem.message


def test_a_skill_md_that_links_out_of_the_root_is_refused(root: Path, outside: Path) -> None:
    (root / "sly").mkdir()
    (root / "sly" / SKILL_MD).symlink_to(outside / "stranger" / SKILL_MD)
    snapshot = look(root)
    assert dict(snapshot.skills) == {}
    assert only_problem(snapshot).file == SKILL_MD


def test_a_directory_that_links_out_of_the_root_is_refused(root: Path, outside: Path) -> None:
    (on_disk(root, "sly") / "references").symlink_to(outside, target_is_directory=True)
    snapshot = look(root)
    assert dict(snapshot.skills) == {}
    problem = only_problem(snapshot)
    assert (problem.file, problem.code) == ("references", "unsafe-path")
    assert "link to a directory" in problem.message


def test_a_skill_that_is_itself_a_link_out_of_the_root_is_refused(root: Path, outside: Path) -> None:
    (root / "stranger").symlink_to(outside / "stranger", target_is_directory=True)
    snapshot = look(root)
    assert dict(snapshot.skills) == {}
    assert only_problem(snapshot).name == "stranger"


@pytest.mark.parametrize("target", ["missing.txt", "notes.txt", "../../../../../../../../etc/hostname"])
def test_a_link_to_nothing_to_itself_or_by_dots_is_refused(root: Path, target: str) -> None:
    (on_disk(root, "sly") / "notes.txt").symlink_to(target)
    snapshot = look(root)
    assert dict(snapshot.skills) == {}
    assert only_problem(snapshot).directory == "library/sly"


def test_a_link_to_a_file_inside_the_root_is_served(root: Path) -> None:
    (root / "common.md").write_text("Shared by several skills.")
    (on_disk(root) / "common.md").symlink_to("../common.md")
    disk = BuiltInIndex((root,), reload_seconds=0, limits=DEFAULT)
    (skill,) = disk.snapshot().skills["greeting"]
    assert disk.read(skill, entry(skill, "common.md")) == b"Shared by several skills."


def test_a_pipe_is_refused_without_blocking(root: Path) -> None:
    os.mkfifo(on_disk(root, "sly") / "pipe")
    problem = only_problem(look(root))
    assert (problem.file, problem.message) == ("pipe", "pipe is not a regular file.")


# -- Broken skills -----------------------------------------------------------------------------------------

BROKEN = {
    "no header": (b"Just text.\n", "frontmatter-missing", 1),
    "open header": (b"---\nname: broken\n", "frontmatter-unclosed", 1),
    "a key twice": (b"---\nname: broken\nname: broken\ndescription: x\n---\n", "yaml-duplicate-key", 3),
    "no description": (b"---\nname: broken\n---\nText.\n", "description-missing", None),
    "not UTF-8": (b"---\nname: broken\ndescription: caf\xe9\n---\n", "skill-md-encoding", 3),
    "half a character": (b'---\nname: broken\ndescription: "\\ud800"\n---\n', "yaml-character", 3),
    "a NUL": (b'---\nname: broken\ndescription: "a\\0b"\n---\n', "yaml-character", 3),
    "empty": (b"", "frontmatter-missing", 1),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_skill_is_reported_with_its_line_and_others_are_served(root: Path, case: str) -> None:
    content, code, line = BROKEN[case]
    on_disk(root, "honest")
    (on_disk(root, "broken") / SKILL_MD).write_bytes(content)
    snapshot = look(root)
    assert list(snapshot.skills) == ["honest"]
    problem = only_problem(snapshot)
    assert (problem.name, problem.directory, problem.file) == ("broken", "library/broken", SKILL_MD)
    assert (problem.code, problem.line) == (code, line)
    assert problem.message.endswith(".")


def _no_file(directory: Path) -> None:
    (directory / SKILL_MD).symlink_to("nowhere")


def _circle(directory: Path) -> None:
    (directory / SKILL_MD).symlink_to(SKILL_MD)


def _folder(directory: Path) -> None:
    (directory / SKILL_MD).mkdir()


def _pipe(directory: Path) -> None:
    os.mkfifo(directory / SKILL_MD)


def _misspelt(directory: Path) -> None:
    (directory / "skill.md").write_text(skill_text())


@pytest.mark.parametrize("put", [_no_file, _circle, _folder, _pipe, _misspelt])
def test_a_misspelt_skill_md_is_reported(root: Path, put: Callable[[Path], None]) -> None:
    (root / "meant").mkdir()
    put(root / "meant")
    problem = only_problem(look(root))
    assert (problem.name, problem.directory, problem.file.lower()) == ("meant", "library/meant", "skill.md")
    assert problem.message.endswith(("Replace it with the file itself.", "Rename it to SKILL.md."))


def test_a_report_can_be_encoded_for_any_file_name(root: Path) -> None:
    """A directory name in another encoding must not break the report."""
    directory = root / os.fsdecode(b"caf\xe9")
    directory.mkdir()
    (directory / SKILL_MD).write_text("no header")
    (on_disk(root, "odd") / os.fsdecode(b"\xe9.txt")).write_bytes(b"x")
    problems = look(root).left_out
    assert {(problem.name, problem.file) for problem in problems} == {("caf\\xe9", SKILL_MD), ("odd", "\\xe9.txt")}
    for problem in problems:
        repr(problem).encode()
        f"{problem.name}{problem.directory}{problem.file}{problem.message}".encode()


def test_a_root_may_have_any_name(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"\xe9")
    on_disk(root)
    assert look(root).skills["greeting"][0].candidate.root == "\\xe9"


def test_a_folder_that_cannot_be_listed_leaves_the_skill_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Serving the skill without that folder would serve a different skill."""
    closed = on_disk(root, files={"references/tone.md": b"# Tone"}) / "references"
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path == str(closed):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", refuse)  # tests may run as root, who may list any folder
        snapshot = look(root)
    assert dict(snapshot.skills) == {}
    assert (only_problem(snapshot).code, only_problem(snapshot).name) == ("unreadable", "greeting")


def test_every_limit_and_name_problem_has_a_file_and_a_fix(root: Path) -> None:
    many = "---\nname: many\ndescription: Many.\ntags: [" + "a, " * 6_000 + "]\n---\n"
    (on_disk(root, "many") / SKILL_MD).write_text(many)
    on_disk(root, "twins", {"a.md": b"1"}).joinpath("A.md").write_bytes(b"2")
    on_disk(root, "device").joinpath("con.txt").write_bytes(b"x")
    (on_disk(root, "sly") / "out.txt").symlink_to("/etc/hostname")
    on_disk(root, "odd").joinpath(SKILL_MD).write_text("---\nname: a/b\ndescription: Odd.\n---\nText.\n")
    found = {one.name: one for one in look(root).left_out}
    places = {name: (one.code, one.file, one.line) for name, one in found.items()}
    assert places == {
        "many": ("too-large", SKILL_MD, 4), "twins": ("unsafe-path", "a.md", None),
        "device": ("unsafe-path", "con.txt", None), "sly": ("unsafe-path", "out.txt", None),
        "odd": ("unsafe-path", SKILL_MD, None),
    }  # fmt: skip
    assert found["many"].message.endswith("Make it smaller.")
    assert found["twins"].message.endswith("Rename one of them.")
    assert found["sly"].message.endswith("Replace the link with the file itself.")


@pytest.mark.parametrize("name", ["../escape", "a/b", ".hidden", "con", "a\\b", "x" * 129])
def test_a_name_that_is_not_a_directory_name_leaves_the_skill_out(root: Path, name: str) -> None:
    on_disk(root, "odd").joinpath(SKILL_MD).write_text(f"---\nname: '{name}'\ndescription: Odd.\n---\nText.\n")
    snapshot = look(root)
    assert dict(snapshot.skills) == {}
    assert only_problem(snapshot).directory == "library/odd"


@pytest.mark.parametrize("version", ["1.0/2", "..", "x" * 129, "1\u202e0"])
def test_a_version_that_is_not_a_directory_name_leaves_the_skill_out(root: Path, version: str) -> None:
    on_disk(root, metadata={"version": version})
    snapshot = look(root)
    assert dict(snapshot.skills) == {}
    assert "version" in only_problem(snapshot).message


@pytest.mark.parametrize("file", ["a\\b.txt", "con.txt", "a:b", "trailing.", "bidi\u202e.txt"])
def test_a_file_name_that_other_systems_refuse_leaves_the_skill_out(root: Path, file: str) -> None:
    (on_disk(root, "odd") / file).write_bytes(b"x")
    assert dict(look(root).skills) == {}


def test_files_that_differ_in_case_only_leave_the_skill_out(root: Path) -> None:
    on_disk(root, "odd", {"a.md": b"1"}).joinpath("A.md").write_bytes(b"2")
    problem = only_problem(look(root))
    assert problem.name == "odd"
    assert "same on systems that ignore case" in problem.message


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (replace(DEFAULT, files=3), "4 files. At most 3 are allowed"),
        (replace(DEFAULT, file_bytes=300), "big.bin is larger than the 300 bytes allowed"),
        (replace(DEFAULT, expanded_bytes=600), "larger than the 600 bytes allowed"),
        (replace(DEFAULT, skill_md_bytes=100), "100"),
    ],
)
def test_a_skill_over_a_limit_is_left_out_with_the_number(root: Path, limits: Limits, said: str) -> None:
    on_disk(root, "large", {"a.txt": b"a", "b.txt": b"b", "big.bin": b"x" * 500})
    on_disk(root, "honest", body="x")
    problem = next(one for one in look(root, limits=limits).left_out if one.name == "large")
    assert said in problem.message


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
    assert mended.left_out == ()
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
    assert after.left_out == () and b"Checked out." in after.skills["greeting"][0].skill_md


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
    assert disk.snapshot().left_out == ()


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
    assert disk.snapshot().left_out == ()
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
