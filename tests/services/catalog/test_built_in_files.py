"""Files of built-in skills: links out of the root are refused, and broken skills are reported."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.limits import DEFAULT, Limits
from registry.services.catalog.built_in import BuiltInIndex
from tests.conftest import on_disk, skill_text
from tests.services.catalog.indexes import entry, look, only_problem


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
    problems = look(root).diagnostics
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
    found = {one.name: one for one in look(root).diagnostics}
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
    problem = next(one for one in look(root, limits=limits).diagnostics if one.name == "large")
    assert said in problem.message
