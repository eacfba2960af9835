"""The well-known index of another site: both versions, digests that hold, and entries that do not."""

import io
import tarfile
from typing import Any

import pytest

from registry.core.errors import InvalidArchive, NotFound, TooLarge
from registry.core.limits import Limits
from registry.remote import sources
from registry.remote.sources import (
    WELL_KNOWN,
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
from tests.remote.sources.servers import Served, as_json, digest, redirecting, serving, skill
from tests.services.receivers import Receiver, answering, hanging, receiving

V2, V1 = "/.well-known/agent-skills", "/.well-known/skills"
SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
MD, ZIP = skill("code-review", "Reviews."), tree("SKILL.md", "docs/x.md")


def raw(name: str = "code-review", content: bytes = MD, **changes: Any) -> dict[str, Any]:
    made = {"name": name, "type": "skill-md", "description": "Reviews.", "url": f"{V2}/{name}/SKILL.md",
            "digest": digest(content)} | changes  # fmt: skip
    return {key: value for key, value in made.items() if value is not None}


def index(*entries: object, **more: object) -> bytes:
    return as_json({"$schema": SCHEMA, "skills": list(entries), **more})


def old(*entries: object) -> bytes:
    return as_json({"skills": list(entries)})


def listed(server: Receiver, served: Served, path: str = "", **options: Any) -> Listing:
    server.behave = serving(served)
    return sources.listing(RemoteSource(WELL_KNOWN, server.url(path)), allowed=frozenset({server.host}), **options)


def fetched(server: Receiver, entry: ListingEntry, **options: Any) -> FetchedBundle:
    return sources.fetch(RemoteSource(WELL_KNOWN, server.url("")), entry, allowed=frozenset({server.host}), **options)


def test_the_new_version_lists_and_fetches_both_types(server: Receiver) -> None:
    zipped = raw("wrangler", ZIP, type="archive", url="wrangler.zip", description=" Two\n words ", extra=1)
    found = listed(
        server,
        {f"{V2}/index.json": index(raw(), zipped, **{"x-left-out": []}), f"{V2}/code-review/SKILL.md": MD,
         f"{V2}/wrangler.zip": ZIP},
    )  # fmt: skip
    assert [(o.name, o.description, o.version, o.digest) for o in found.entries] == [
        ("code-review", "Reviews.", "", digest(MD)),
        ("wrangler", "Two words", "", digest(ZIP)),
    ]
    assert found.problems == ()
    assert dict(fetched(server, found.entries[0]).bundle) == {"SKILL.md": MD}
    assert list(fetched(server, found.entries[1]).bundle) == ["SKILL.md", "docs/x.md"]
    assert fetched(server, found.entries[1]).digest == digest(ZIP)


def test_an_archive_may_be_a_tarball(server: Receiver) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in {"SKILL.md": MD, "größe.md": b"x"}.items():
            made = tarfile.TarInfo(name)
            made.size = len(content)
            tar.addfile(made, io.BytesIO(content))
    data = out.getvalue()
    served = {f"{V2}/index.json": index(raw("a", data, type="archive", url="a.tar.gz")), f"{V2}/a.tar.gz": data}
    assert dict(fetched(server, listed(server, served).entries[0]).bundle) == {"SKILL.md": MD, "größe.md": b"x"}


def test_the_old_version_is_read_file_by_file(server: Receiver) -> None:
    served = {
        f"{V1}/index.json": old({"name": "größe", "description": "d", "files": ["SKILL.md", "docs/a b.md"]}),
        f"{V1}/gr%C3%B6%C3%9Fe/SKILL.md": MD,
        f"{V1}/gr%C3%B6%C3%9Fe/docs/a%20b.md": b"\x00\xff",
    }
    (entry,) = listed(server, served).entries
    assert (entry.name, entry.digest) == ("größe", "")
    got = fetched(server, entry)
    assert dict(got.bundle) == {"SKILL.md": MD, "docs/a b.md": b"\x00\xff"}
    assert (got.version, got.digest) == ("", "")


@pytest.mark.parametrize(
    "path", ["/projects/demo", "/projects/demo/", "/projects/demo/.well-known/agent-skills/index.json"]
)
def test_an_index_may_be_below_any_path(server: Receiver, path: str) -> None:
    served = {"/projects/demo/.well-known/agent-skills/index.json": index(raw(url="code-review/SKILL.md")),
              "/projects/demo/.well-known/agent-skills/code-review/SKILL.md": MD}  # fmt: skip
    (entry,) = listed(server, served, path).entries
    assert fetched(server, entry).bundle["SKILL.md"] == MD


def test_the_index_of_the_site_root_is_not_used_for_a_path(server: Receiver) -> None:
    with pytest.raises(NotASource, match=r"no skill index at this address\. The server answered with status 404"):
        listed(server, {f"{V2}/index.json": index(raw())}, "/projects/demo")


def test_addresses_are_relative_to_where_the_index_was_found(server: Receiver) -> None:
    served = {f"{V2}/index.json": redirecting("/cdn/v7/index.json"), "/cdn/v7/index.json": index(raw(url="a.md")),
              "/cdn/v7/a.md": MD}  # fmt: skip
    assert fetched(server, listed(server, served).entries[0]).bundle["SKILL.md"] == MD


@pytest.mark.parametrize("body", [index(), old()])
def test_an_index_with_nothing_in_it_is_an_empty_listing(server: Receiver, body: bytes) -> None:
    assert listed(server, {f"{V2}/index.json": body}) == Listing(())


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<!doctype html>", b"{", b"[]", b"{}", b'{"skills": {}}', b'{"skills": null}', b"[" * 100_000,
        b"\xff\xfe", b'{"a":' * 50_000, as_json({"$schema": "https://example.org/9.9.9.json", "skills": []}),
        b"1" * 5_000, b"null",
    ],
    ids=lambda body: body[:8].decode(errors="replace"),
)  # fmt: skip
def test_a_file_that_is_not_an_index_is_refused(server: Receiver, body: bytes) -> None:
    with pytest.raises(NotASource):
        listed(server, {f"{V2}/index.json": body})


@pytest.mark.parametrize("status", [404, 403, 410, 401])
def test_a_site_without_an_index_is_not_a_source(server: Receiver, status: int) -> None:
    with pytest.raises(NotASource, match=f"status {status}"):
        listed(server, {f"{V2}/index.json": answering(status)})


def test_an_index_that_is_too_long_is_not_a_source(server: Receiver) -> None:
    with pytest.raises(NotASource, match="limit of 8,388,608 bytes"):
        listed(server, {f"{V2}/index.json": b" " * (8 * 1024 * 1024 + 1)})


def test_a_site_with_an_error_status_is_unreachable_and_is_not_asked_for_its_old_index(server: Receiver) -> None:
    with pytest.raises(Unreachable, match="status 503"):
        listed(server, {f"{V2}/index.json": answering(503), f"{V1}/index.json": old()})
    assert len(server.got) == 1


def test_a_site_that_hangs_is_unreachable(server: Receiver) -> None:
    with pytest.raises(Unreachable, match=r"within 0\.05 seconds"):
        listed(server, {f"{V2}/index.json": hanging(server)}, seconds=0.05)


def test_an_index_that_leads_into_a_private_network_is_refused(server: Receiver) -> None:
    with pytest.raises(Refused):
        listed(server, {f"{V2}/index.json": redirecting("https://169.254.169.254/")})


@pytest.mark.parametrize(
    "bad",
    [
        "text", None, 7, [], {}, {"name": None}, {"name": ""}, {"name": ["a"]},
        raw("../../etc"), raw("a/b"), raw(".hidden"), raw("a\x00b"), raw("a\u202eb"), raw("x" * 200),
        raw("a", type="tar"), raw("a", type=None), raw("a", type=["skill-md"]),
        raw("a", digest=None), raw("a", digest="sha256:abc"), raw("a", digest="md5:" + "0" * 64),
        raw("a", digest="sha256:" + "A" * 64), raw("a", digest=5), raw("a", digest=digest(b"") + "\n"),
        raw("a", url=None), raw("a", url=""), raw("a", url={"x": 1}), raw("a", url="http://[x/"), raw("a", url="https://xn--a/"),
        raw("a", url="http://1.1.1.1/x"), raw("a", url="file:///etc/passwd"), raw("a", url="javascript:x"),
        raw("a", url="https://me:pw@1.1.1.1/x"), raw("a", url="https://1.1.1.1/x?X-Amz-Signature=abc"),
        raw("a", url="https://1.1.1.1/t/sks_0123456789abcdef/x"),
        {"name": "a", "files": "SKILL.md"}, {"name": "a", "files": []}, {"name": "a", "files": ["README.md"]},
        {"name": "a", "files": ["SKILL.md", "../../etc/passwd"]}, {"name": "a", "files": ["SKILL.md", "/etc/passwd"]},
        {"name": "a", "files": ["SKILL.md", "a", "A"]}, {"name": "a", "files": ["SKILL.md", 7]},
        {"name": "a", "files": ["SKILL.md", "SKILL.md"]}, {"name": "a", "files": ["SKILL.md", *map(str, range(1_000))]},
        {"name": "../a", "files": ["SKILL.md"]}, {"name": "a"},
    ],
)  # fmt: skip
def test_an_entry_that_is_invalid_is_reported_and_does_not_stop_the_others(server: Receiver, bad: object) -> None:
    found = listed(server, {f"{V2}/index.json": index(bad, raw("good"))})
    assert [entry.name for entry in found.entries] == ["good"]
    (sentence,) = found.problems
    assert sentence.endswith(".") and "sks_" not in sentence and "pw" not in sentence and "Signature" not in sentence


def test_a_duplicate_name_is_listed_once(server: Receiver) -> None:
    found = listed(server, {f"{V2}/index.json": index(raw("a", url="1.md"), raw("A", url="2.md"))})
    assert [entry.location.rpartition("/")[2] for entry in found.entries] == ["1.md"]
    assert found.problems == ("'A' appears more than once. The first one is used.",)


def test_no_more_than_a_thousand_are_listed_and_the_rest_is_reported(server: Receiver) -> None:
    many = [raw(f"s{number}") for number in range(1_002)]
    found = listed(server, {f"{V2}/index.json": index(*many)})
    assert len(found.entries) == 1_000
    assert found.problems == ("This source has more than 1,000 skills. The first 1,000 are listed.",)


def test_at_most_a_hundred_problems_are_listed(server: Receiver) -> None:
    found = listed(server, {f"{V2}/index.json": index(*([7] * 5_000))})
    assert (len(found.problems), found.problems[-1]) == (101, "4,900 more skills cannot be used.")


def test_a_description_of_any_length_is_one_line_of_so_many_characters(server: Receiver) -> None:
    found = listed(server, {f"{V2}/index.json": index(raw(description="a\n" * 5_000), raw("b", description=None))})
    assert [len(entry.description) for entry in found.entries] == [1_024, 0]


@pytest.mark.parametrize("kind", ["skill-md", "archive"])
@pytest.mark.parametrize("sent", [MD + b" ", b"", b"<html>sign in</html>", ZIP], ids=["more", "nothing", "page", "zip"])
def test_bytes_without_the_digest_of_the_index_are_refused(server: Receiver, kind: str, sent: bytes) -> None:
    """Not even where an index of the old version would offer the same skill without a digest."""
    served = {f"{V2}/index.json": index(raw(type=kind, url="x")), f"{V2}/x": sent,
              f"{V1}/index.json": old({"name": "code-review", "description": "d", "files": ["SKILL.md"]}),
              f"{V1}/code-review/SKILL.md": sent}  # fmt: skip
    (entry,) = listed(server, served).entries
    with pytest.raises(NotASource, match="does not match its digest in the index"):
        fetched(server, entry)


@pytest.mark.parametrize(
    "name", ["ratio bomb", "two candidates", "trailing data", "overlapping members", "too many files"]
)
def test_a_hostile_archive_with_a_true_digest_is_refused(server: Receiver, name: str) -> None:
    data = hostile.CORPUS[name]
    found = listed(
        server, {f"{V2}/index.json": index(raw("x", data, type="archive", url="x.zip")), f"{V2}/x.zip": data}
    )
    with pytest.raises((InvalidArchive, TooLarge)):
        fetched(server, found.entries[0])


def test_an_entry_may_point_at_another_host_and_is_checked_there(server: Receiver) -> None:
    with receiving() as other:
        other.behave = answering(200, MD)
        found = listed(server, {f"{V2}/index.json": index(raw(url="https://127.0.0.1:9/x.md"), raw("b", url="b.md"))})
        here, _ = found.entries
        with pytest.raises(Refused, match="private network"):
            fetched(server, here)
        source, away = (
            RemoteSource(WELL_KNOWN, server.url("")),
            ListingEntry("a", digest=digest(MD), location=f"skill-md {other.url()}"),
        )
        assert sources.fetch(source, away, allowed=frozenset({other.host})).bundle["SKILL.md"] == MD
        with pytest.raises(Refused):
            fetched(server, away)


def test_a_redirect_of_an_artifact_into_a_private_network_is_refused(server: Receiver) -> None:
    served = {f"{V2}/index.json": index(raw()), f"{V2}/code-review/SKILL.md": redirecting("https://10.0.0.1/")}
    with pytest.raises(Refused):
        fetched(server, listed(server, served).entries[0])


def test_eight_are_fetched_at_a_time_and_one_that_fails_does_not_stop_the_others(
    server: Receiver, allowed: frozenset[str]
) -> None:
    names = [f"s{number}" for number in range(20)]
    served: dict[str, Any] = {f"{V2}/{name}/SKILL.md": skill(name) for name in names}
    served |= {f"{V2}/s3/SKILL.md": answering(404), f"{V2}/s4/SKILL.md": b"other bytes"}
    served[f"{V2}/s5/SKILL.md"] = answering(503)
    found = listed(server, {**served, f"{V2}/index.json": index(*(raw(name, skill(name)) for name in names))})
    source = RemoteSource(WELL_KNOWN, server.url(""))
    answers = list(sources.fetch_all(source, found.entries, allowed=allowed))
    assert [entry.name for entry, _ in answers] == names
    failed = {entry.name: type(answer) for entry, answer in answers if not isinstance(answer, FetchedBundle)}
    assert failed == {"s3": NotASource, "s4": NotASource, "s5": Unreachable}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({f"{V1}/index.json": old()}, NotFound),
        ({f"{V1}/index.json": old({"name": "a", "files": ["SKILL.md", "../x"]})}, NotASource),
        ({f"{V1}/a/x.md": answering(404)}, NotASource),
        ({f"{V1}/a/SKILL.md": b"<html>"}, NotASource),
        ({f"{V1}/a/SKILL.md": b"x" * 600_000}, NotASource),
        ({f"{V1}/a/x.md": answering(503)}, Unreachable),
    ],
)
def test_a_skill_of_the_old_version_is_whole_or_nothing(
    server: Receiver, change: Served, error: type[Exception]
) -> None:
    served = {f"{V1}/index.json": old({"name": "a", "files": ["SKILL.md", "x.md"]}),
              f"{V1}/a/SKILL.md": MD, f"{V1}/a/x.md": b"x"}  # fmt: skip
    (entry,) = listed(server, served).entries
    server.behave = serving({**served, **change})
    with pytest.raises(error):
        fetched(server, entry)


def test_the_files_of_the_old_version_are_counted_together(server: Receiver) -> None:
    names = ["SKILL.md", *(f"{number}.bin" for number in range(4))]
    served: Served = {f"{V1}/index.json": old({"name": "a", "files": names}),
                      **{f"{V1}/a/{name}": MD if name == "SKILL.md" else b"x" * 1_000 for name in names}}  # fmt: skip
    (entry,) = listed(server, served).entries
    with pytest.raises(TooLarge, match="3,000 are allowed"):
        fetched(server, entry, limits=Limits(archive_bytes=3_000))


def test_search_filters_the_listing(server: Receiver, allowed: frozenset[str]) -> None:
    both = index(raw("code-review", description="Reads pull requests."), raw("notes", description="Takes MINUTES."))
    server.behave = serving({f"{V2}/index.json": both})
    source = RemoteSource(WELL_KNOWN, server.url(""))
    for query, names in {
        "minutes NOTES": ["notes"],
        "": ["code-review", "notes"],
        "pull": ["code-review"],
        "x": [],
    }.items():
        assert [entry.name for entry in sources.search(source, query, allowed=allowed).entries] == names
