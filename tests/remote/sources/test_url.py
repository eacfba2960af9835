"""A file at an address: which bytes are skills, and all the ways in which a server is not a source."""

import socket
from typing import Any

import pytest

from registry.core.bundle import Bundle
from registry.core.errors import InvalidArchive, NotFound, SkillsiteError, TooLarge
from registry.core.limits import Limits
from registry.remote import sources
from registry.remote.sources import (
    URL,
    FetchedBundle,
    Listing,
    ListingEntry,
    NotASource,
    Refused,
    RemoteSource,
    Unreachable,
)
from tests.core import hostile
from tests.core.hostile import Entry, archive, tree
from tests.remote.sources.servers import redirecting, serving, skill
from tests.services.receivers import Receiver, answering, dripping, endless, hanging

COLLECTION = archive(
    Entry(b"repo-main/README.md", b"# Skills"),
    Entry(b"repo-main/skills/a/SKILL.md", skill("a", "First.")),
    Entry(b"repo-main/skills/a/docs/x.md", b"more"),
    Entry(b"repo-main/skills/b/SKILL.md", skill("b", "Second.")),
)


def listed(server: Receiver, path: str = "/demo.zip", **options: Any) -> Listing:
    return sources.listing(RemoteSource(URL, server.url(path)), allowed=frozenset({server.host}), **options)


def fetched(server: Receiver, entry: ListingEntry, path: str = "/demo.zip", **options: Any) -> FetchedBundle:
    return sources.fetch(RemoteSource(URL, server.url(path)), entry, allowed=frozenset({server.host}), **options)


def test_a_skill_md_is_one_entry_and_is_fetched_unchanged(server: Receiver) -> None:
    content = b"---\r\nname: demo\r\ndescription: Shows  things.\r\n---\r\nDo it.\r\n"
    server.behave = serving({"/x/SKILL.md": content})
    found = listed(server, "/x/SKILL.md?raw=1")
    (entry,) = found.entries
    assert (entry.name, entry.description, entry.version, found.problems) == ("demo", "Shows things.", "", ())
    got = fetched(server, entry, "/x/SKILL.md")
    assert dict(got.bundle) == {"SKILL.md": content}
    assert entry.digest == got.digest == got.bundle.digest


@pytest.mark.parametrize(
    ("path", "name"),
    [("/k8s-debug/SKILL.md", "k8s-debug"), ("/k8s-debug.md", "k8s-debug"), ("/x/k8s.v2.md?q", "k8s.v2")],
)
def test_a_skill_without_a_name_is_named_by_its_address(server: Receiver, path: str, name: str) -> None:
    server.behave = answering(200, b"---\ndescription: d\n---\nx")
    assert listed(server, path).entries[0].name == name


def test_each_skill_of_a_zip_is_listed_and_fetched(server: Receiver) -> None:
    server.behave = answering(200, COLLECTION)
    found = listed(server)
    assert [(o.name, o.description, o.location) for o in found.entries] == [
        ("a", "First.", "repo-main/skills/a"),
        ("b", "Second.", "repo-main/skills/b"),
    ]
    assert list(fetched(server, found.entries[0]).bundle) == ["SKILL.md", "docs/x.md"]


def test_many_skills_of_a_zip_are_one_download(server: Receiver, allowed: frozenset[str]) -> None:
    server.behave = answering(200, COLLECTION)
    source = RemoteSource(URL, server.url("/x.zip"))
    gone = ListingEntry("gone", location="repo-main/skills/gone")
    answers = dict(sources.fetch_all(source, [*listed(server).entries, gone], allowed=allowed))
    assert len(server.got) == 2
    assert [type(answer) for answer in answers.values()] == [FetchedBundle, FetchedBundle, NotFound]


def test_a_download_that_fails_is_the_answer_to_each(server: Receiver, allowed: frozenset[str]) -> None:
    server.behave = answering(404)
    answers = list(
        sources.fetch_all(
            RemoteSource(URL, server.url("/x.zip")), [ListingEntry("a"), ListingEntry("b")], allowed=allowed
        )
    )
    assert [(entry.name, type(error)) for entry, error in answers] == [("a", NotASource), ("b", NotASource)]


def test_a_skill_in_a_renamed_directory_is_found_by_its_name(server: Receiver) -> None:
    server.behave = answering(200, archive(Entry(b"demo-2.0/SKILL.md", skill("demo", body="Newer."))))
    got = fetched(server, ListingEntry("demo", location="demo-1.0"))
    assert b"Newer." in got.bundle["SKILL.md"]


@pytest.mark.parametrize(
    ("path", "content_type"), [("/download", "application/zip"), ("/a.ZIP", "text/plain"), ("/a.zip?x=.md", "")]
)
def test_a_zip_is_known_by_its_extension_then_by_its_type(server: Receiver, path: str, content_type: str) -> None:
    server.behave = answering(200, tree("SKILL.md"), **{"Content-Type": content_type})
    assert [entry.name for entry in listed(server, path).entries] == ["demo"]


def test_a_zip_that_a_redirect_leads_to_is_known_though_its_address_tells_nothing(server: Receiver) -> None:
    """Downloads of releases redirect like this."""
    bytes_only = answering(200, tree("SKILL.md"), **{"Content-Type": "application/octet-stream"})
    server.behave = serving({"/releases/demo.zip": redirecting("/asset/1?x=y"), "/asset/1": bytes_only})
    assert [entry.name for entry in listed(server, "/releases/demo.zip").entries] == ["demo"]


def test_names_that_are_not_ascii_are_listed(server: Receiver) -> None:
    server.behave = answering(200, archive(Entry("größe/SKILL.md".encode(), skill("größe", "Maße 日本"))))
    (entry,) = listed(server).entries
    assert (entry.name, entry.description, entry.location) == ("größe", "Maße 日本", "größe")


def test_a_zip_without_a_skill_is_an_empty_listing(server: Receiver) -> None:
    server.behave = answering(200, tree("README.md"))
    assert listed(server) == Listing(())


def test_a_broken_skill_is_reported_and_does_not_stop_the_others(server: Receiver) -> None:
    server.behave = answering(
        200,
        archive(
            Entry(b"a/SKILL.md", b"no header"),
            Entry(b"b/SKILL.md", skill("b")),
            Entry(b"c/SKILL.md", skill("../c")),
            Entry(b"d/SKILL.md", skill("B")),
            Entry(b"../e/SKILL.md", skill("e")),
            Entry(b"f/SKILL.md", b"\xff\xfe"),
        ),
    )
    found = listed(server)
    assert [entry.name for entry in found.entries] == ["b"]
    assert len(found.problems) == 5
    assert all(sentence[0] != " " and sentence.endswith(".") for sentence in found.problems)
    assert any("more than once" in sentence for sentence in found.problems)


@pytest.mark.slow
def test_at_most_a_thousand_are_listed(server: Receiver) -> None:
    server.behave = answering(200, archive(*(Entry(b"%d/SKILL.md" % n, skill(f"s{n}")) for n in range(1_001))))
    found = listed(server)
    assert len(found.entries) == 1_000
    assert found.problems == ("This source has more than 1,000 skills. The first 1,000 are listed.",)


@pytest.mark.parametrize(
    "name",
    ["ratio bomb", "file too large", "overlapping members", "zip64 sizes", "not a zip", "bad checksum",
     "cut in the middle", "too many entries", "data between members"],
)  # fmt: skip
def test_a_hostile_zip_is_not_a_source_or_is_empty(server: Receiver, name: str) -> None:
    server.behave = answering(200, hostile.CORPUS[name], **{"Content-Type": "application/zip"})
    try:
        found = listed(server, "/download")
    except NotASource as error:
        assert str(error).endswith(".")
    else:
        assert found.entries == () and len(found.problems) == 1
    with pytest.raises((SkillsiteError, NotASource)):
        fetched(server, ListingEntry("demo"), "/download")


@pytest.mark.parametrize(
    ("status", "body", "content_type"),
    [
        (200, b"<!DOCTYPE html><title>Sign in</title>", "text/html"),
        (200, b"<html>", "application/zip"),
        (200, b"Sign in first", "text/html; charset=utf-8"),
        (404, b"---\nname: a\ndescription: b\n---\n", "text/markdown"),
        (403, b"", ""),
        (401, b"", ""),
        (418, b"", ""),
        (304, b"", ""),
        (302, b"", ""),
    ],
)
@pytest.mark.parametrize("path", ["/SKILL.md", "/a.zip", "/a"])
def test_a_wrong_response_is_not_a_source(
    server: Receiver, path: str, status: int, body: bytes, content_type: str
) -> None:
    server.behave = answering(status, body, **{"Content-Type": content_type})
    with pytest.raises(NotASource, match="web page" if status == 200 else str(status)):
        listed(server, path)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408])
def test_a_server_with_an_error_status_is_unreachable(server: Receiver, status: int) -> None:
    server.behave = answering(status)
    with pytest.raises(Unreachable, match=rf"status {status}\. Try again later"):
        listed(server)


def test_a_closed_port_is_unreachable() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        with pytest.raises(Unreachable, match="reach this address"):
            sources.listing(RemoteSource(URL, f"http://127.0.0.1:{port}/a.zip"), allowed=frozenset({"127.0.0.1"}))


def test_an_unknown_host_is_unreachable() -> None:
    with pytest.raises(Unreachable, match=r"nowhere\.invalid has no public address"):
        sources.listing(RemoteSource(URL, "https://nowhere.invalid/a.zip"), allowed=frozenset())


@pytest.mark.parametrize("behaviour", [hanging, dripping])
def test_a_slow_server_is_unreachable(server: Receiver, behaviour: Any) -> None:
    server.behave = behaviour(server)
    with pytest.raises(Unreachable, match=r"No complete response within 0\.1 seconds"):
        listed(server, seconds=0.1)


def test_the_time_is_that_of_all_redirects_together(server: Receiver) -> None:
    def slow(handler: Any) -> None:
        server.released.wait(0.04)
        redirecting("/again.zip")(handler)

    server.behave = slow
    with pytest.raises(Unreachable, match=r"within 0\.1 seconds"):
        listed(server, seconds=0.1)


def test_an_endless_response_is_cut(server: Receiver) -> None:
    server.behave = endless(server)
    with pytest.raises(NotASource, match="limit of 100,000 bytes"):
        listed(server, limits=Limits(archive_bytes=100_000))


def test_a_response_that_promises_more_than_it_sends_is_unreachable(server: Receiver) -> None:
    def lie(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(skill())

    server.behave = lie
    with pytest.raises(Unreachable, match="interrupted"):
        listed(server, "/SKILL.md")


def test_a_compressed_response_is_not_opened(server: Receiver) -> None:
    server.behave = answering(200, b"\x1f\x8b", **{"Content-Encoding": "gzip"})
    with pytest.raises(NotASource, match="compressed"):
        listed(server)


def test_a_text_that_is_too_long_is_not_a_source(server: Receiver) -> None:
    server.behave = answering(200, skill(body="x" * 600_000))
    with pytest.raises(NotASource, match="512,000 are allowed"):
        listed(server, "/SKILL.md")
    with pytest.raises(TooLarge):
        fetched(server, ListingEntry("demo"), "/SKILL.md")


def test_redirects_are_followed_five_times_and_no_more(server: Receiver) -> None:
    def countdown(handler: Any) -> None:
        left = int(handler.path.strip("/").removesuffix(".md"))
        (redirecting(f"{left - 1}.md") if left else answering(200, skill()))(handler)

    server.behave = countdown
    assert [entry.name for entry in listed(server, "/5.md").entries] == ["demo"]
    with pytest.raises(NotASource, match="more than 5 times"):
        listed(server, "/6.md")


@pytest.mark.parametrize(
    "target",
    ["https://127.0.0.1:1/a.zip", "https://169.254.169.254/latest/", "https://[::1]/", "http://1.1.1.1/a.zip",
     "//10.0.0.1/a.zip", "file:///etc/passwd"],
)  # fmt: skip
def test_a_redirect_into_a_private_network_or_out_of_https_is_refused(server: Receiver, target: str) -> None:
    server.behave = redirecting(target)
    with pytest.raises(Refused):
        listed(server)
    assert len(server.got) == 1


@pytest.mark.parametrize("target", ["https://[x", "https://a:b:c/", "https://\udcff/"])
def test_a_redirect_to_no_address_is_not_a_source(server: Receiver, target: str) -> None:
    server.behave = lambda handler: (
        handler.wfile.write(b"HTTP/1.1 302 x\r\nLocation: %s\r\n\r\n" % target.encode(errors="surrogateescape"))
        and None
    )
    with pytest.raises((NotASource, Unreachable)):
        listed(server)


def test_a_private_address_is_refused_without_a_request(server: Receiver) -> None:
    with pytest.raises(Refused, match="private network"):
        sources.listing(RemoteSource(URL, f"https://{server.host}/a.zip"), allowed=frozenset())
    assert server.got == []


def test_failures_do_not_contain_the_url(server: Receiver) -> None:
    for behaviour in (answering(404), answering(503), hanging(server), answering(200, b"<html>")):
        server.behave = behaviour
        with pytest.raises((NotASource, Unreachable)) as failed:
            listed(server, "/hidden-path.zip", seconds=0.05)
        assert "hidden-path" not in str(failed.value)


def test_a_skill_that_changed_since_the_listing_is_fetched_as_it_is_now(server: Receiver) -> None:
    server.behave = answering(200, tree("SKILL.md"))
    (before,) = listed(server).entries
    server.behave = answering(200, archive(Entry(b"SKILL.md", skill(body="Other."))))
    got = fetched(server, before)
    assert isinstance(got.bundle, Bundle) and got.digest != before.digest


def test_a_broken_zip_is_an_invalid_archive(server: Receiver) -> None:
    server.behave = answering(200, b"PK\x03\x04 cut")
    with pytest.raises(InvalidArchive):
        fetched(server, ListingEntry("demo"))
