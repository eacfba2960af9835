"""Git repositories over smart HTTP: list skills of a commit, and fetch them."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from registry.core.errors import NotFound
from registry.core.limits import Limits
from registry.remote import sources
from registry.remote.sources import FetchedBundle, Listing, ListingEntry, NotASource, Unreachable
from tests.remote.sources.repositories import LFS, ONE, fetched, git, listed, place_of
from tests.remote.sources.servers import head, repository, serving, skill
from tests.services.receivers import Receiver, answering, dripping, hanging

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("work")]


def test_each_skill_of_the_newest_commit_is_listed_and_the_commit_is_the_pin(server: Receiver, root: Path) -> None:
    commit = repository(root / "x.git", {**ONE, "größe/SKILL.md": skill("größe")})
    found = listed(server)
    assert [(o.name, o.description, o.location) for o in found.entries] == [
        ("größe", "Shows things.", "größe"),
        ("a", "First.", "skills/a"),
    ]
    assert (found.pin, found.problems) == (commit, ())


def test_a_skill_is_fetched_unchanged_whatever_the_repository_says_of_its_files(server: Receiver, root: Path) -> None:
    files = {"SKILL.md": skill("a"), "docs/x.md": b"$Id$ $Format:%H$\nline\n", "w.txt": "ä\n".encode(),
             "e.bin": b"\r\n\0", "l.psd": b"plain", ".gitattributes": b"* export-ignore\n"}  # fmt: skip
    said = b"*.md ident text eol=crlf export-subst\ndocs export-ignore\n*.psd filter=lfs\n"
    said += b"w.txt working-tree-encoding=UTF-16LE\n"
    repository(root / "x.git", {"a/" + path: content for path, content in files.items()} | {".gitattributes": said})
    found = listed(server)
    got = fetched(server, found.entries[0], pin=found.pin)
    assert dict(got.bundle) == files
    assert (got.version, got.digest) == ("", found.entries[0].digest)


def test_a_digest_changes_with_its_own_skill_only_and_a_pin_stays_where_it_is(server: Receiver, root: Path) -> None:
    path = root / "x.git"
    repository(path, {**ONE, "b/SKILL.md": skill("b")})
    before = listed(server)
    repository(path, {**ONE, "b/SKILL.md": skill("b", body="Newer.")})
    after = listed(server)
    assert [old.digest == new.digest for old, new in zip(before.entries, after.entries, strict=True)] == [False, True]
    assert b"Newer." not in fetched(server, before.entries[0], pin=before.pin).bundle["SKILL.md"]
    assert b"Newer." in fetched(server, before.entries[0]).bundle["SKILL.md"]


def test_a_branch_a_tag_and_a_commit_can_be_named(server: Receiver, root: Path) -> None:
    path = root / "x.git"
    first = repository(path, ONE)
    git(path, "-c", "user.name=a", "-c", "user.email=a@example.org", "tag", "-a", "v1", "-m", "x", "main")
    git(path, "branch", "old/größe", "main")
    repository(path, {})
    for ref in ("v1", "refs/tags/v1", "old/größe", first):
        assert listed(server, ref).pin == first
    assert listed(server).pin == head(path) != first


def test_many_skills_are_one_clone_and_one_that_fails_does_not_stop_the_others(
    server: Receiver, root: Path, allowed: frozenset[str]
) -> None:
    files = {f"s{number}/SKILL.md": skill(f"s{number}") for number in range(4)}
    repository(root / "x.git", {**files, "s1/big.psd": LFS})
    found = listed(server)
    server.got.clear()
    wanted = [*found.entries, ListingEntry("gone", location="gone")]
    answers = list(sources.fetch_all(place_of(server), wanted, allowed=allowed, pin=found.pin))
    assert [(entry.name, type(answer)) for entry, answer in answers] == [
        ("s0", FetchedBundle), ("s1", NotASource), ("s2", FetchedBundle), ("s3", FetchedBundle), ("gone", NotFound),
    ]  # fmt: skip
    assert "Git LFS" in str(answers[1][1])
    assert [got.method for got in server.got].count("POST") == 1


def test_a_slow_consumer_gets_all_skills(
    server: Receiver, root: Path, allowed: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(root / "x.git", {f"s{number}/SKILL.md": skill(f"s{number}") for number in range(2)})
    answers = sources.fetch_all(place_of(server), listed(server).entries, allowed=allowed)
    assert isinstance(next(answers)[1], FetchedBundle)
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + 3_600)
    assert isinstance(next(answers)[1], FetchedBundle)
    assert list(answers) == []


def test_a_clone_that_fails_is_the_answer_to_each(server: Receiver, allowed: frozenset[str]) -> None:
    server.behave = answering(404)
    answers = list(sources.fetch_all(place_of(server), [ListingEntry("a"), ListingEntry("b")], allowed=allowed))
    assert [type(answer) for _, answer in answers] == [NotASource, NotASource]


def test_a_repository_that_is_one_skill_is_named_by_its_address(server: Receiver, root: Path) -> None:
    repository(
        root / "x.git", {"SKILL.md": b"---\ndescription: d\n---\n", "a/b.md": b"x", "skills/n/SKILL.md": skill("n")}
    )
    top, inner = listed(server).entries
    assert (top.name, top.location, inner.name) == ("x", "", "n")
    assert list(fetched(server, top).bundle) == ["SKILL.md", "a/b.md", "skills/n/SKILL.md"]


def test_a_repository_without_commits_is_an_empty_listing(server: Receiver, root: Path) -> None:
    (root / "x.git").mkdir(parents=True)
    git(root / "x.git", "init", "-q", "--bare")
    assert listed(server) == Listing(())


def test_a_repository_without_skills_is_an_empty_listing(server: Receiver, root: Path) -> None:
    commit = repository(root / "x.git", {"README.md": b"x", "docs/skill.md": b"x"})
    assert listed(server) == Listing((), commit)


def test_a_repository_without_a_default_branch_is_refused(server: Receiver, root: Path) -> None:
    repository(root / "x.git", ONE)
    git(root / "x.git", "symbolic-ref", "HEAD", "refs/heads/nowhere")
    with pytest.raises(NotASource, match="no default branch"):
        listed(server)


@pytest.mark.parametrize("ref", ["nope", "0" * 40, "v9"])
def test_a_missing_ref_is_reported(server: Receiver, root: Path, ref: str) -> None:
    repository(root / "x.git", ONE)
    with pytest.raises(NotASource, match=f"no branch, tag or commit {ref}"):
        listed(server, ref)


def test_a_tag_that_is_not_a_commit_is_reported(server: Receiver, root: Path) -> None:
    repository(root / "x.git", ONE)
    git(root / "x.git", "tag", "file", git(root / "x.git", "hash-object", "-w", "--stdin", given=b"x"))
    with pytest.raises(NotASource, match="could not list the files"):
        listed(server, "file")


@pytest.mark.parametrize("ref", ["--upload-pack=touch${IFS}gone", "-x", "main:refs/heads/x", "+main", "^main", "a b"])
def test_a_ref_that_would_be_more_than_one_never_reaches_git(server: Receiver, root: Path, ref: str) -> None:
    repository(root / "x.git", ONE)
    with pytest.raises(NotASource, match="cannot be the name"):
        listed(server, ref)
    with pytest.raises(NotASource):
        fetched(server, ListingEntry("a", location="skills/a"), pin=ref)
    assert server.got == []


def test_a_pin_is_a_whole_commit(server: Receiver, root: Path) -> None:
    repository(root / "x.git", ONE)
    with pytest.raises(NotASource, match="not a commit id"):
        fetched(server, ListingEntry("a", location="skills/a"), pin="main")


def test_a_download_of_a_repository_stops_at_the_limit(server: Receiver, root: Path) -> None:
    repository(root / "x.git", {**ONE, "noise.bin": os.urandom(400_000)})
    with pytest.raises(NotASource, match="limit of 100,000 bytes"):
        listed(server, limits=Limits(archive_bytes=100_000))


@pytest.mark.parametrize("behaviour", [hanging, dripping])
@pytest.mark.parametrize(("method", "seconds"), [("GET", 0.1), ("POST", 0.4)])
def test_a_slow_git_server_times_out(
    server: Receiver, root: Path, method: str, seconds: float, behaviour: Callable[[Receiver], Any]
) -> None:
    repository(root / "x.git", ONE)
    serve, wait = server.behave, behaviour(server)
    server.behave = lambda handler: (wait if handler.command == method else serve)(handler)
    with pytest.raises(Unreachable, match=f"{seconds} seconds"):
        listed(server, seconds=seconds)


@pytest.mark.parametrize(
    "served",
    [
        {"/x.git/info/refs": b"<!doctype html>"},
        {"/x.git/info/refs": b"0" * 40 + b"\trefs/heads/main\n", "/x.git/HEAD": b"ref: refs/heads/main\n"},
        {"/x.git/info/refs": b""},
        {"/x.git/info/refs": answering(200, b"<html>", **{"Content-Type": "text/html"})},
    ],
)
def test_a_site_that_is_not_a_repository_is_refused(server: Receiver, served: Mapping[str, Any]) -> None:
    server.behave = serving(served)
    with pytest.raises(NotASource, match="not a git repository"):
        listed(server)


@pytest.mark.parametrize(
    "body",
    [b"", b"garbage", b"001e# service=git-upload-pack\n0000", b"001e# service=git-upload-pack\n0000ffff" + b"x" * 99],
)
def test_an_invalid_response_with_the_content_type_of_git_is_a_failure(server: Receiver, body: bytes) -> None:
    server.behave = answering(200, body, **{"Content-Type": "application/x-git-upload-pack-advertisement"})
    with pytest.raises((NotASource, Unreachable)):
        listed(server)
