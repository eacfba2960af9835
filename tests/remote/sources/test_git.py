"""Git repositories over smart HTTP: what is read of them, and everything git would do for others if it were let."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from registry.core.errors import NotFound, SkillsiteError
from registry.core.limits import Limits
from registry.remote import sources
from registry.remote.sources import (
    GIT,
    Failure,
    FetchedBundle,
    Listing,
    ListingEntry,
    NotASource,
    Refused,
    RemoteSource,
    Unreachable,
    git_process,
)
from tests.faults.sites import wait_for
from tests.remote.sources.packs import handing_out, unfolding
from tests.remote.sources.servers import git_server, head, redirecting, repository, serving, skill
from tests.services.receivers import Receiver, answering, dripping, hanging, receiving

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("work")]

ONE = {"skills/a/SKILL.md": skill("a", "First."), "skills/a/docs/x.md": b"more", "README.md": b"# Skills"}
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Temporary directory of git. The test fails if files or processes are left behind."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []
    wait_for(lambda: not _processes_in(place))  # The system takes a moment to end a process that was killed.


def _processes_in(place: Path) -> list[Path]:
    return [path for path in Path("/proc").glob("[0-9]*/environ") if str(place).encode() in _environment(path)]


def _environment(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.fixture
def root(tmp_path: Path, server: Receiver) -> Path:
    """Below it lie the repositories that the server serves."""
    found = tmp_path / "repositories"
    server.behave = git_server(server, found)
    return found


def place_of(server: Receiver, ref: str = "", path: str = "/x.git") -> RemoteSource:
    return RemoteSource(GIT, server.url(path), ref)


def listed(server: Receiver, ref: str = "", path: str = "/x.git", **options: Any) -> Listing:
    return sources.listing(place_of(server, ref, path), allowed=frozenset({server.host}), **options)


def fetched(server: Receiver, entry: ListingEntry, **options: Any) -> FetchedBundle:
    return sources.fetch(place_of(server), entry, allowed=frozenset({server.host}), **options)


def git(path: Path, *arguments: str, given: bytes = b"") -> str:
    return (
        subprocess.run(["git", "-C", str(path), *arguments], input=given, check=True, capture_output=True)
        .stdout.decode()
        .strip()
    )


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


def by_git(handler: Any) -> bool:
    """Not the look that is taken before."""
    return str(handler.headers["User-Agent"]).startswith("git/2")


def test_no_redirect_is_followed(server: Receiver, root: Path) -> None:
    repository(root / "x.git", ONE)
    with receiving() as other:
        other.behave = git_server(other, root)
        away = redirecting(lambda path: other.url(path))
        server.behave = away
        with pytest.raises(NotASource, match="address redirects"):
            listed(server)
        serve = git_server(server, root)
        server.behave = lambda handler: (away if by_git(handler) else serve)(handler)
        with pytest.raises(NotASource):
            listed(server)
        assert other.got == []


@pytest.mark.parametrize(
    ("status", "error"),
    [(404, NotASource), (401, NotASource), (403, NotASource), (503, Unreachable), (429, Unreachable)],
)
def test_the_status_decides_between_unreachable_and_unusable(
    server: Receiver, status: int, error: type[Exception]
) -> None:
    server.behave = answering(status, **{"WWW-Authenticate": 'Basic realm="x"'})
    with pytest.raises(error):
        listed(server)


def test_git_never_prompts_for_a_password(server: Receiver, root: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Not even where programs of ours would answer, and where the look before was welcome."""
    repository(root / "x.git", ONE)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    helper = tmp_path / "answer"
    helper.write_text(f"#!/bin/sh\necho asked > {tmp_path}/asked\necho secret\n")
    helper.chmod(0o755)
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(helper))
    monkeypatch.setenv("HOME", str(tmp_path))
    serve, locked = server.behave, answering(401, **{"WWW-Authenticate": 'Basic realm="x"'})
    server.behave = lambda handler: (locked if by_git(handler) else serve)(handler)
    with pytest.raises(NotASource):
        listed(server)
    assert not any("authorization" in got.headers for got in server.got)
    assert not (tmp_path / "asked").exists()


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


def test_configuration_and_environment_of_ours_are_not_used(
    server: Receiver, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(root / "x.git", ONE)
    (tmp_path / ".gitconfig").write_text(
        f'[url "http://127.0.0.1:1/"]\n\tinsteadOf = http://{server.host}/\n[http]\n\tproxy = http://127.0.0.1:1\n'
        "\textraHeader = X-Secret: yes\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    changes = {"http_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1", "GIT_CONFIG_COUNT": "1",
               "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": "X-Secret: yes", "GIT_TRACE": "1",
               "GIT_DIR": "/nowhere", "GIT_ALLOW_PROTOCOL": "ext"}  # fmt: skip
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    server.behave = git_server(server, root)
    for name in ("GIT_DIR", "GIT_CONFIG_COUNT"):
        assert name in os.environ
    assert [entry.name for entry in listed(server).entries] == ["a"]
    assert not any("x-secret" in got.headers for got in server.got)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_private_address_is_refused_in_every_spelling(server: Receiver, host: str) -> None:
    for scheme in ("https", "http"):
        with pytest.raises(Refused):
            sources.listing(RemoteSource(GIT, f"{scheme}://{host}:{server.port}/x.git"), allowed=frozenset())
    assert server.got == []


@pytest.mark.parametrize("address", ["ext::sh -c touch% gone", "file:///etc", "ssh://1.1.1.1/x.git", "git://1.1.1.1/x"])
def test_another_way_to_a_repository_is_refused(address: str) -> None:
    with pytest.raises((Refused, Unreachable)):
        sources.listing(RemoteSource(GIT, address), allowed=frozenset())


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """A name server of the test that git does not know: each lookup takes the next answer, the last one stays."""
    known: dict[str, list[str]] = {}
    real = socket.getaddrinfo

    def lookup(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host not in known:
            return real(host, port, *rest, **more)
        address = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return real(address, port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return known


@pytest.mark.parametrize("host", ["skills.test", "SKILLS.test", "skills.test."])
def test_git_connects_to_the_checked_address(
    server: Receiver, root: Path, names: dict[str, list[str]], host: str
) -> None:
    """Only we know where the name leads, so git can only have it from us."""
    repository(root / "x.git", ONE)
    names |= {"skills.test": ["127.0.0.1"], "skills.test.": ["127.0.0.1"]}
    place = RemoteSource(GIT, f"http://{host}:{server.port}/x.git")
    assert [o.name for o in sources.listing(place, allowed=frozenset({"skills.test"})).entries] == ["a"]


def test_dns_rebinding_has_no_effect(names: dict[str, list[str]]) -> None:
    names["rebind.test"] = ["1.1.1.1", "127.0.0.1"]
    _, pin = git_process.pinned("https://rebind.test/x.git", frozenset())
    assert pin == "rebind.test:443:1.1.1.1"
    with pytest.raises(Refused):
        git_process.pinned("https://rebind.test/x.git", frozenset())


def test_git_gets_only_the_public_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["10.0.0.1", "2606:4700::1111", "1.1.1.1", "::1"]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (address, 443)) for address in found])
    assert git_process.pinned("https://both.test/x", frozenset())[1] == "both.test:443:[2606:4700::1111],1.1.1.1"


def test_a_missing_git_is_reported(server: Receiver, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match="Git is not installed on this server"):
        listed(server)


@pytest.mark.parametrize("said", ["git version 2.36.9", "git version 1.99.0", "something else"])
def test_an_old_git_is_refused(server: Receiver, tmp_path: Path, monkeypatch: Any, said: str) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\necho {json.dumps(said)}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Failure, match=r"need git 2\.37 or newer"):
        listed(server)
    assert server.got == []


def test_failures_contain_neither_the_url_nor_remote_text(server: Receiver, root: Path) -> None:
    serve = server.behave
    server.behave = lambda handler: (answering(500, b"<b>own words</b>") if by_git(handler) else serve)(handler)
    repository(root / "hidden.git", ONE)
    with pytest.raises(Failure) as failed:
        listed(server, path="/hidden.git")
    assert "hidden" not in str(failed.value) and "own words" not in str(failed.value)
