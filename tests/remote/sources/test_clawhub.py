"""A registry that speaks the REST interface of ClawHub, and servers that only look like one."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from registry.core.errors import InvalidArchive, SkillsiteError
from registry.remote import sources
from registry.remote.sources import (
    CLAWHUB,
    FetchedBundle,
    Listing,
    ListingEntry,
    NotASource,
    Refused,
    RemoteSource,
    Unreachable,
)
from tests.core import hostile
from tests.core.hostile import tree
from tests.remote.sources.servers import Served, as_json, redirecting, serving
from tests.services.receivers import Receiver, answering, hanging

API = "/api/v1"
ZIP = tree("SKILL.md", "docs/x.md")


def item(slug: object = "pdf-tools", **changes: Any) -> dict[str, Any]:
    known = {"slug": slug, "displayName": "PDF", "summary": "Splits PDFs.", "tags": {"latest": "1.2.0"}, "stats": {}}
    return known | {"createdAt": 1, "updatedAt": 2, "latestVersion": {"version": "1.2.0", "createdAt": 1}} | changes


def page(*items: object, following: object = None) -> bytes:
    return as_json({"items": list(items), "nextCursor": following})


def listed(server: Receiver, served: Served, path: str = "", **options: Any) -> Listing:
    server.behave = serving(served)
    return sources.listing(RemoteSource(CLAWHUB, server.url(path)), allowed=frozenset({server.host}), **options)


def fetched(server: Receiver, entry: ListingEntry, **options: Any) -> FetchedBundle:
    return sources.fetch(RemoteSource(CLAWHUB, server.url("")), entry, allowed=frozenset({server.host}), **options)


def asked(server: Receiver) -> list[tuple[str, dict[str, str]]]:
    parts = [urlsplit(got.path) for got in server.got]
    return [(part.path, {key: values[0] for key, values in parse_qs(part.query).items()}) for part in parts]


@pytest.mark.parametrize("path", ["", "/", "/api/v1", "/api/v1/"])
def test_skills_are_listed_with_their_versions(server: Receiver, path: str) -> None:
    found = listed(server, {f"{API}/skills": page(item(), item("notes", latestVersion=None, summary=None))}, path)
    assert [(o.name, o.description, o.version, o.digest) for o in found.entries] == [
        ("pdf-tools", "Splits PDFs.", "1.2.0", "version:1.2.0"),
        ("notes", "PDF", "1.2.0", "version:1.2.0"),
    ]


def test_a_registry_may_be_below_a_path(server: Receiver) -> None:
    assert len(listed(server, {"/hub/api/v1/skills": page(item())}, "/hub").entries) == 1


def test_pages_are_read_to_the_last(server: Receiver) -> None:
    served = {f"{API}/skills?limit=100": page(item("a"), following="x y&z"),
              f"{API}/skills?limit=100&cursor=x+y%26z": page(item("b"))}  # fmt: skip
    assert [entry.name for entry in listed(server, served).entries] == ["a", "b"]


def test_an_endless_list_is_cut(server: Receiver) -> None:
    assert len(listed(server, {f"{API}/skills": page(item(), following="again")}).entries) == 1
    assert len(server.got) == 2


def test_at_most_a_thousand_are_listed(server: Receiver) -> None:
    def endless(handler: Any) -> None:
        start = len(server.got) * 300
        answering(200, page(*(item(f"s{start + n}") for n in range(300)), following=str(start)))(handler)

    found = listed(server, {f"{API}/skills": endless})
    assert (len(found.entries), len(server.got)) == (1_000, 4)
    assert found.problems == ("This source has more than 1,000 skills. The first 1,000 are listed.",)


def test_a_registry_without_skills_is_an_empty_listing(server: Receiver) -> None:
    assert listed(server, {f"{API}/skills": page()}) == Listing(())


def test_the_version_that_was_listed_is_downloaded(server: Receiver) -> None:
    served = {f"{API}/skills": page(item(ownerHandle="ann")), f"{API}/download": ZIP}
    (entry,) = listed(server, served).entries
    got = fetched(server, entry)
    assert (list(got.bundle), got.version, got.digest) == (["SKILL.md", "docs/x.md"], "1.2.0", "version:1.2.0")
    assert asked(server)[-1] == (f"{API}/download", {"slug": "pdf-tools", "ownerHandle": "ann", "version": "1.2.0"})


def test_without_a_listed_version_the_latest_one_is_fetched(server: Receiver) -> None:
    bare = item(latestVersion=None, tags={})
    detail = as_json({"skill": bare, "latestVersion": {"version": "3.0.0"}, "owner": None})
    served = {f"{API}/skills": page(bare), f"{API}/skills/pdf-tools": detail, f"{API}/download": ZIP}
    (entry,) = listed(server, served).entries
    assert (entry.version, entry.digest) == ("", "")
    assert fetched(server, entry).version == "3.0.0"


def test_a_skill_without_any_version_cannot_be_fetched(server: Receiver) -> None:
    server.behave = serving({f"{API}/skills/x": as_json({"skill": None, "latestVersion": None})})
    with pytest.raises(NotASource, match="no version of 'x'"):
        fetched(server, ListingEntry("x", location="x"))


def test_search_is_asked_of_the_registry(server: Receiver, allowed: frozenset[str]) -> None:
    results = [{"slug": "a", "displayName": "A", "summary": "s", "version": "2.0.0", "score": 0.9, "ownerHandle": "bo"},
               {"score": 0.1}]  # fmt: skip
    server.behave = serving({f"{API}/search": as_json({"results": results})})
    found = sources.search(RemoteSource(CLAWHUB, server.url("")), "größe & mehr", allowed=allowed)
    assert [(o.name, o.version, o.location) for o in found.entries] == [("a", "2.0.0", "bo/a")]
    assert found.problems == ("A skill has no valid slug.",)
    assert asked(server) == [(f"{API}/search", {"q": "größe & mehr", "limit": "100"})]


@pytest.mark.parametrize(
    "bad",
    ["text", None, 7, {}, item(""), item(None), item("../x"), item("a/b"), item(".x"), item("x" * 200),
     item("a\u202eb"), item("a", ownerHandle=7), item("a", ownerHandle="../b"), item("a", owner={"handle": ["x"]}),
     item("a", ownerHandle="b\0")],
)  # fmt: skip
def test_an_entry_that_is_invalid_is_reported_and_does_not_stop_the_others(server: Receiver, bad: object) -> None:
    found = listed(server, {f"{API}/skills": page(bad, item("good"))})
    assert [entry.name for entry in found.entries] == ["good"]
    assert len(found.problems) == 1 and found.problems[0].endswith(".")


@pytest.mark.parametrize("version", ["../1", "a/b", "", None, ["1"], "x" * 200, {"a": 1}, "1\n2", True])
def test_a_version_that_cannot_be_a_directory_counts_as_none(server: Receiver, version: object) -> None:
    found = listed(server, {f"{API}/skills": page(item(latestVersion={"version": version}, tags=[]))})
    assert [entry.version for entry in found.entries] == [""]


def test_an_owner_with_invalid_unicode_does_not_stop_the_others(server: Receiver) -> None:
    body = b'{"items": [{"slug": "a", "ownerHandle": "\\ud800"}, {"slug": "good"}]}'
    found = listed(server, {f"{API}/skills": body})
    assert [entry.name for entry in found.entries] == ["good"]
    assert found.problems == ("'a' has an invalid owner.",)


def test_two_owners_of_one_name_are_one_entry_and_a_problem(server: Receiver) -> None:
    found = listed(server, {f"{API}/skills": page(item("a", ownerHandle="x"), item("A", ownerHandle="y"))})
    assert [entry.location for entry in found.entries] == ["x/a"]
    assert "more than once" in found.problems[0]


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"", b"[]", b'{"items": {}}', b'{"results": []}', b"not json", as_json({"items": [], "nextCursor": 7}),
     as_json({"items": [], "nextCursor": "x" * 70_000}), b'{"items": [], "nextCursor": "\\ud800"}'],
)  # fmt: skip
def test_a_wrong_response_is_not_a_source(server: Receiver, body: bytes) -> None:
    with pytest.raises(NotASource):
        listed(server, {f"{API}/skills": body})


def test_a_site_without_the_interface_is_not_a_source(server: Receiver) -> None:
    with pytest.raises(NotASource, match="status 404"):
        listed(server, {})


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_registry_with_an_error_status_is_unreachable(server: Receiver, status: int) -> None:
    with pytest.raises(Unreachable, match=str(status)):
        listed(server, {f"{API}/skills": answering(status)})


def test_the_time_is_that_of_all_pages_together(server: Receiver) -> None:
    served = {f"{API}/skills?limit=100": page(item(), following="x"), f"{API}/skills": hanging(server)}
    with pytest.raises(Unreachable, match=r"within 0\.1 seconds"):
        listed(server, served, seconds=0.1)


def test_a_download_that_leads_into_a_private_network_is_refused(server: Receiver) -> None:
    server.behave = serving({f"{API}/download": redirecting("https://192.168.0.1/x.zip")})
    with pytest.raises(Refused):
        fetched(server, ListingEntry("a", version="1", location="a"))


@pytest.mark.parametrize("name", ["not a zip", "empty file", "ratio bomb", "no SKILL.md", "traversal", "symbolic link"])
def test_a_download_that_is_not_a_skill_is_refused(server: Receiver, name: str) -> None:
    body = hostile.CORPUS[name]
    server.behave = serving({f"{API}/download": body})
    with pytest.raises((NotASource, SkillsiteError)):
        fetched(server, ListingEntry("a", version="1", location="a"))


def test_one_that_fails_does_not_stop_the_others(server: Receiver, allowed: frozenset[str]) -> None:
    server.behave = serving({f"{API}/download?slug=a&version=1": ZIP, f"{API}/download?slug=b&version=1": b"x"})
    entries = [ListingEntry(name, version="1", location=name) for name in "abc"]
    answers = list(sources.fetch_all(RemoteSource(CLAWHUB, server.url("")), entries, allowed=allowed))
    assert [type(answer) for _, answer in answers] == [FetchedBundle, InvalidArchive, NotASource]
