"""Zips with several skills. An error in one does not affect the others."""

import stat

import pytest

from registry.core.archive import zip_bundle
from registry.core.bundle import Bundle
from registry.core.errors import InvalidArchive, SkillsiteError, TooLarge, UnsafePath
from registry.core.limits import Limits
from tests.core import hostile
from tests.core.hostile import DEFLATED, MIB, SKILL, Entry, archive, tree

OF_ONE = {"empty zip", "no SKILL.md", "only junk", "two candidates", "two levels deep", "file beside the wrapper",
          "lower-case skill.md", "too many files"}  # fmt: skip


def bundles(data: bytes, limits: Limits = zip_bundle.DEFAULT) -> dict[str, Bundle]:
    found = zip_bundle.read_skills(data, limits=limits)
    return {name: one for name, one in found.items() if isinstance(one, Bundle)}


def faults(data: bytes, limits: Limits = zip_bundle.DEFAULT) -> dict[str, SkillsiteError]:
    found = zip_bundle.read_skills(data, limits=limits)
    return {name: one for name, one in found.items() if isinstance(one, SkillsiteError)}


def test_each_directory_with_a_skill_md_is_a_skill_and_other_files_are_ignored() -> None:
    data = tree("repo/", "repo/README.md", "repo/skills/a/SKILL.md", "repo/skills/a/x/y.md", "repo/skills/b/SKILL.md",
                "repo/skills/ab/notes.md", "__MACOSX/repo/SKILL.md")  # fmt: skip
    found = bundles(data)
    assert {name: list(one) for name, one in found.items()} == {
        "repo/skills/a": ["SKILL.md", "x/y.md"],
        "repo/skills/b": ["SKILL.md"],
    }


def test_a_zip_with_one_skill_gives_the_same_bundle_as_an_upload() -> None:
    data = tree("SKILL.md", "a/b.md")
    assert bundles(data)[""].digest == zip_bundle.read_zip(data).digest


def test_everything_below_a_skill_is_part_of_it() -> None:
    found = bundles(tree("a/SKILL.md", "a/template/SKILL.md", "a-b/SKILL.md", "a/template/deep/SKILL.md"))
    assert sorted(found) == ["a", "a-b"]
    assert "template/SKILL.md" in found["a"]


def test_a_skill_at_the_top_does_not_hide_the_others() -> None:
    found = bundles(tree("SKILL.md", "skills/a/SKILL.md", "skills/a/t/SKILL.md"))
    assert sorted(found) == ["", "skills/a"]
    assert "skills/a/SKILL.md" in found[""]


def test_an_empty_zip_has_no_skills() -> None:
    assert zip_bundle.read_skills(tree("README.md", "skill.md")) == {}


def test_names_that_are_not_ascii_are_read() -> None:
    assert list(bundles(archive(Entry("größe/SKILL.md".encode(), SKILL, flags=hostile.UTF8)))) == ["größe"]


@pytest.mark.parametrize("bad", ["../x", "a/../../x", "C:/x", "con", "a//b", "a\\b", "x."])
def test_an_unsafe_directory_does_not_affect_the_others(bad: str) -> None:
    data = tree(f"{bad}/SKILL.md", "good/SKILL.md")
    assert list(bundles(data)) == ["good"]
    assert [type(error) for error in faults(data).values()] == [UnsafePath]


def test_an_absolute_path_is_not_the_top_level() -> None:
    data = tree("/SKILL.md", "a/SKILL.md")
    assert list(bundles(data)) == ["a"] and list(faults(data)) == ["/"]


def test_a_directory_that_is_not_utf8_is_not_confused_with_another() -> None:
    data = archive(Entry(b"\xff/SKILL.md", SKILL), Entry("\ufffd/SKILL.md".encode(), SKILL))
    assert list(bundles(data)) == ["\ufffd"] and list(faults(data)) == ["\\xff"]


@pytest.mark.parametrize(
    "entry",
    [
        Entry(b"bad/link", b"/etc/passwd", mode=stat.S_IFLNK | 0o777),
        Entry(b"bad/zeros", bytes(2 * MIB), DEFLATED),
        Entry(b"bad/../../x", b"x"),
        Entry(b"bad/a", b"x", central={"crc": 1}, local={"crc": 1}),
        Entry(b"bad/a", b"x", DEFLATED, central={"size": 9}, local={"size": 9}),
        Entry(b"bad/skill.MD", b"x"),
    ],
)
def test_an_error_in_one_skill_does_not_affect_the_other_skills(entry: Entry) -> None:
    data = archive(Entry(b"bad/SKILL.md", SKILL), entry, Entry(b"good/SKILL.md", SKILL))
    assert list(bundles(data)) == ["good"] and list(faults(data)) == ["bad"]


def test_links_outside_of_skills_are_ignored() -> None:
    data = archive(Entry(b"LINK", b"x", mode=stat.S_IFLNK | 0o777), Entry(b"a/SKILL.md", SKILL))
    assert list(bundles(data)) == ["a"] and faults(data) == {}


@pytest.mark.parametrize("name", sorted(set(hostile.CORPUS) - OF_ONE))
def test_no_hostile_archive_is_read_as_several_skills(name: str) -> None:
    """Either the skill or the whole archive is refused."""
    try:
        found = zip_bundle.read_skills(hostile.CORPUS[name])
    except (InvalidArchive, TooLarge):
        return
    assert all(isinstance(one, SkillsiteError) for one in found.values())


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(archive_bytes=100), "100 are allowed"),
        (Limits(files=1), "4 are allowed"),
        (Limits(expanded_bytes=100), "The skills have"),
    ],
)
def test_the_limits_apply_to_the_whole_zip(limits: Limits, said: str) -> None:
    data = tree("a/SKILL.md", "b/SKILL.md", "c/SKILL.md", "d/SKILL.md", "e/SKILL.md")
    with pytest.raises(TooLarge, match=said):
        zip_bundle.read_skills(data, limits=limits)


def test_the_limit_of_files_applies_to_each_skill() -> None:
    data = tree("a/SKILL.md", "b/SKILL.md", "b/x", "b/y")
    assert list(bundles(data, Limits(files=2))) == ["a"]
