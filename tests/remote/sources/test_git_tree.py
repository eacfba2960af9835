"""Trees of git repositories: files that cannot be fetched, and trees without end."""

from pathlib import Path

import pytest

from registry.core.errors import SkillsiteError
from registry.core.limits import Limits
from registry.remote.sources import Failure, ListingEntry, NotASource
from tests.remote.sources.packs import handing_out, unfolding
from tests.remote.sources.repositories import ONE, fetched, git, listed
from tests.remote.sources.servers import repository, skill
from tests.services.receivers import Receiver

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("work")]

BAD: dict[str, tuple[str, bytes, str]] = {
    "symbolic link": ("120000", b"/etc/passwd", "symbolic link"),
    "submodule": ("160000", b"0" * 39 + b"1", "submodule"),
    "large file": ("100644", b"x" * 5_000, "4,000 are allowed"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_skill_that_cannot_be_fetched_is_reported_and_does_not_stop_the_others(
    server: Receiver, root: Path, name: str
) -> None:
    mode, content, said = BAD[name]
    modules = b'[submodule "x"]\n\tpath = bad/thing\n\turl = ../other.git\n'
    files = {**ONE, "bad/SKILL.md": skill("bad"), "bad/thing": content, ".gitmodules": modules}
    repository(root / "x.git", files, modes={"bad/thing": mode})
    found = listed(server, limits=Limits(file_bytes=4_000))
    assert [entry.name for entry in found.entries] == ["a"]
    assert len(found.problems) == 1 and said in found.problems[0]
    with pytest.raises(NotASource, match=said):
        fetched(server, ListingEntry("bad", location="bad"), limits=Limits(file_bytes=4_000))
    assert not any("other.git" in got.path for got in server.got)


@pytest.mark.parametrize(
    ("limits", "said"),
    [(Limits(files=1), "It has 2 files"), (Limits(skill_md_bytes=20), "SKILL.md has")],
)
def test_a_skill_over_a_limit_is_reported(server: Receiver, root: Path, limits: Limits, said: str) -> None:
    repository(root / "x.git", ONE)
    found = listed(server, limits=limits)
    assert found.entries == () and said in found.problems[0]


def test_broken_and_repeated_skills_are_reported(server: Receiver, root: Path) -> None:
    broken = {"b": b"no header", "c": skill("A"), "d": skill("../d"), "con": skill("con"), "e": b"\xff"}
    repository(root / "x.git", {**ONE, **{f"{name}/SKILL.md": content for name, content in broken.items()}})
    found = listed(server)
    assert [entry.name for entry in found.entries] == ["A"]
    assert len(found.problems) == 5


@pytest.mark.parametrize("name", [b"..", b"a\\b", b"\xff\xfe", b"C:x"])
def test_a_tree_that_git_would_not_write_is_not_followed(server: Receiver, root: Path, name: bytes) -> None:
    """Written object by object, since git itself refuses some of these names."""
    path = root / "x.git"
    repository(path, ONE)
    inner = git(path, "rev-parse", "main:skills/a")
    raw = b"40000 " + name + b"\0" + bytes.fromhex(inner) + b"40000 ok\0" + bytes.fromhex(inner)
    tree = git(path, "hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=raw)
    author = b"author a <a@example.org> 0 +0000\ncommitter a <a@example.org> 0 +0000\n\nx\n"
    body = b"tree %s\n" % tree.encode() + author
    git(path, "update-ref", "refs/heads/main", git(path, "hash-object", "-t", "commit", "-w", "--stdin", given=body))
    try:
        found = listed(server)
    except NotASource:
        return
    assert [entry.location for entry in found.entries] == ["ok"]
    with pytest.raises((Failure, SkillsiteError)):
        fetched(server, ListingEntry("a", location=name.decode(errors="backslashreplace")))


def test_a_tree_that_unfolds_without_end_is_not_a_source(server: Receiver, root: Path) -> None:
    """Ten times ten times ten files that are all the same one: a few bytes on the wire."""
    path = root / "x.git"
    repository(path, {"SKILL.md": skill()})
    kind, what = "100644 blob", git(path, "rev-parse", "main:SKILL.md")
    for _ in range(9):
        what = git(path, "mktree", given="".join(f"{kind} {what}\td{n}\n" for n in range(10)).encode())
        kind = "040000 tree"
    commit = git(path, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", "-m", "x", what)
    git(path, "update-ref", "refs/heads/main", commit)
    with pytest.raises(NotASource, match="limit of 200,000 bytes"):
        listed(server, limits=Limits(archive_bytes=200_000))


def test_an_object_that_unfolds_in_memory_is_not_unfolded(server: Receiver) -> None:
    """A delta of a few hundred bytes that is many times the mebibyte it copies."""
    server.behave = handing_out(server, *unfolding(skill("small"), 2))
    assert [entry.name for entry in listed(server).entries] == ["small"]
    server.behave = handing_out(server, *unfolding(skill("small"), 300))
    with pytest.raises(NotASource, match="Git could not fetch"):
        listed(server)
