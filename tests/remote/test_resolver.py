"""Definitions to skills on disk: text, copy, S3, web, in that order; each failure has its reason and costs no other."""

import json
import logging
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidRequest
from registry.core.limits import Limits
from registry.core.resolve.definitions import Definition
from registry.remote import resolver
from registry.remote.resolver import Bounds, Resolved, storage_root
from tests import effort
from tests.conftest import skill_bundle, skill_text
from tests.core import hostile
from tests.remote.conftest import PATIENT, Buckets, Resolve, storage
from tests.remote.web import Web, zipped
from tests.services.receivers import answering, dripping, endless, hanging

TEXT = skill_text("a")
RUN = b"#!/bin/sh\necho run\n"


@pytest.fixture(autouse=True)
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.INFO):
        yield


def entry(url: str = "", name: str = "a", version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    return {"name": name, "version": version, "url": url, **more}


def inline(text: str = TEXT, name: str = "a", version: str = "1.0.0") -> dict[str, Any]:
    return {"Format": "SkillMd", "Name": name, "Version": version, "SkillMd": text}


def place(root: Path, name: str = "a", version: str = "1.0.0") -> Path:
    return root / "skills" / name / version


def contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def by_hand(root: Path, text: str = TEXT, **where: str) -> None:
    place(root, **where).mkdir(parents=True)
    (place(root, **where) / SKILL_MD).write_text(text)


def said(results: list[Resolved]) -> list[tuple[str, str]]:
    return [(one.status, one.reason) for one in results]


def only(results: list[Resolved]) -> Resolved:
    (one,) = results
    return one


def skip(results: list[Resolved], root: Path) -> str:
    """The reason of the one entry that was left out, and that nothing of it was kept."""
    one = only(results)
    assert (one.status, one.directory, one.digest, one.files) == ("skipped", None, "", ())
    assert not place(root).exists()
    assert [path for path in root.rglob("*") if path.name.startswith((".new-", ".old-"))] == []
    assert one.reason.endswith((".", ")"))
    return one.reason


# -- Where copies are --------------------------------------------------------------------------------------


def test_the_root_is_the_argument_then_the_environment_then_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSISTENT_VOLUME_STORAGE", "/mnt/volume")
    assert storage_root("/given") == storage_root(Path("/given")) == Path("/given")
    assert storage_root() == Path("/mnt/volume")
    monkeypatch.delenv("PERSISTENT_VOLUME_STORAGE")
    assert storage_root() == Path("/data")


def test_the_environment_names_the_volume(root: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSISTENT_VOLUME_STORAGE", str(root))
    found = only(resolver.resolve([inline()]))
    assert found.directory == place(root)
    assert (place(root) / SKILL_MD).read_text() == TEXT


# -- Copies ------------------------------------------------------------------------------------------------


def test_a_cached_skill_is_used_without_a_request(resolve: Resolve, web: Web, root: Path) -> None:
    for name in ("a", "b"):
        by_hand(root, skill_text(name), name=name)
    results = resolve(entry(web.url("/a.zip")), entry(web.url("/b.zip"), name="b"))
    assert [one.status for one in results] == ["cached", "cached"]
    assert [one.description for one in results] == [
        f"Does what {n} does for the team. Use when somebody asks for {n}." for n in "ab"
    ]
    assert web.asked == []


def test_what_was_fetched_once_is_never_fetched_again(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.put("/a.zip", zipped({SKILL_MD: TEXT, "scripts/run.sh": RUN}))
    first = only(resolve(entry(url)))
    web.put("/a.zip", b"gone", 500)
    second = only(resolve(entry(url)))
    assert (first.status, second.status) == ("loaded", "cached")
    assert (first.digest, first.files, first.tokens) == (second.digest, second.files, second.tokens)
    assert first.digest == Bundle({SKILL_MD: TEXT.encode(), "scripts/run.sh": RUN}).digest
    assert first.origin == second.origin == url
    assert len(web.asked) == 1


def test_versions_are_compared_exactly(resolve: Resolve, web: Web, root: Path) -> None:
    by_hand(root)
    url = web.put("/a.md", TEXT)
    assert only(resolve(entry(url, version="1.0"))).status == "loaded"
    assert only(resolve(entry(url, version="1.0.0"))).status == "cached"


def test_a_cached_skill_without_skill_md_is_repaired(resolve: Resolve, web: Web, root: Path) -> None:
    place(root).mkdir(parents=True)
    (place(root) / "part.md").write_text("half")
    assert only(resolve(entry(web.put("/a.md", TEXT)))).status == "loaded"
    assert contents(place(root)) == {SKILL_MD: TEXT.encode()}


def test_the_same_version_from_elsewhere_is_neither_served_nor_taken_over(
    resolve: Resolve, web: Web, root: Path
) -> None:
    mine, theirs = web.put("/mine.md", TEXT), web.put("/theirs.md", skill_text("a", body="theirs"))
    assert only(resolve(entry(mine))).status == "loaded"
    refused = only(resolve(entry(theirs)))
    assert refused.status == "skipped"
    assert "already cached from http://127.0.0.1" in refused.reason
    assert "Use another version." in refused.reason
    assert contents(place(root)) == {SKILL_MD: TEXT.encode()}
    assert web.asked == ["/mine.md"]
    assert only(resolve(entry(mine + "?signature=new"))).status == "cached"


def test_an_inline_text_does_not_stand_for_an_address(resolve: Resolve, web: Web) -> None:
    resolve(inline())
    assert "already cached from inline" in only(resolve(entry(web.put("/a.md", TEXT + "\nmore")))).reason


def test_a_cached_skill_that_was_changed_on_the_disk_is_fetched_again(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.put("/a.md", TEXT)
    resolve(entry(url))
    (place(root) / SKILL_MD).write_text(skill_text("a", body="changed by somebody"))
    assert only(resolve(entry(url))).status == "loaded"
    assert contents(place(root)) == {SKILL_MD: TEXT.encode()}


# -- Zips and texts ----------------------------------------------------------------------------------------


def test_a_zip_is_opened(resolve: Resolve, web: Web, root: Path) -> None:
    found = only(resolve(entry(web.put("/skill.zip", zipped({SKILL_MD: TEXT, "scripts/run.sh": RUN})))))
    assert found.status == "loaded"
    assert found.directory == place(root)
    assert contents(place(root)) == {SKILL_MD: TEXT.encode(), "scripts/run.sh": RUN}
    assert [(file.path, file.size) for file in found.files] == [
        (SKILL_MD, len(TEXT.encode())),
        ("scripts/run.sh", len(RUN)),
    ]


def test_a_text_is_kept_unchanged(resolve: Resolve, web: Web, root: Path) -> None:
    odd = TEXT.replace("\n", "\r\n") + "trailing  \r\n\r\n"
    assert only(resolve(entry(web.put("/a.md", odd)))).status == "loaded"
    assert contents(place(root)) == {SKILL_MD: odd.encode()}


@pytest.mark.parametrize(
    "files",
    [
        {"wrapper/SKILL.md": TEXT, "wrapper/x.md": b"x"},
        {"w/SKILL.md": TEXT, "w/x.md": b"x", "__MACOSX/w/._SKILL.md": b"m", "w/.DS_Store": b"m"},
        {"SKILL.md": TEXT, "x.md": b"x", "__MACOSX/._SKILL.md": b"m", ".DS_Store": b"m", "._SKILL.md": b"m"},
    ],
)  # fmt: skip
def test_a_wrapper_is_taken_off_and_macos_metadata_is_dropped(
    resolve: Resolve, web: Web, root: Path, files: dict[str, bytes | str]
) -> None:
    resolve(entry(web.put("/a.zip", zipped(files))))
    assert contents(place(root)) == {SKILL_MD: TEXT.encode(), "x.md": b"x"}


def test_a_skill_below_a_skill_is_an_ordinary_file(resolve: Resolve, web: Web, root: Path) -> None:
    resolve(entry(web.put("/a.zip", zipped({SKILL_MD: TEXT, "examples/SKILL.md": b"inner"}))))
    assert set(contents(place(root))) == {SKILL_MD, "examples/SKILL.md"}


BOMB = {SKILL_MD: TEXT, "zeros.bin": b"\0" * 2_000}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (zipped({"notes.md": b"x"}), "SKILL.md is missing"),
        (zipped({"a/b/SKILL.md": TEXT}), "more than one folder deep"),
        (zipped({"a/SKILL.md": TEXT, "b/SKILL.md": TEXT}), "several skills"),
        (zipped({}), "SKILL.md is missing"),
        (zipped({SKILL_MD: TEXT, "../../../etc/passwd": b"x"}), "cannot be used"),
        (zipped({SKILL_MD: TEXT, "/etc/passwd": b"x"}), "cannot be used"),
        (zipped({SKILL_MD: TEXT, "x.md": b"1", "X.md": b"2"}), "on systems that ignore case"),
        (zipped({SKILL_MD: "no header"}), "SKILL.md"),
        (zipped({SKILL_MD: TEXT})[:-30], "zip"),
        (b"PK\x05\x06 nonsense", "zip"),
        (b"", "zip"),
        (TEXT.encode(), "zip"),
    ],
)
def test_a_zip_that_holds_no_skill_leaves_nothing(
    resolve: Resolve, web: Web, root: Path, body: bytes, reason: str
) -> None:
    assert reason in skip(resolve(entry(web.put("/a.zip", body))), root)


@pytest.mark.parametrize(
    "limits", [Limits(expanded_bytes=1_000), Limits(files=1), Limits(file_bytes=1_000), Limits(skill_md_bytes=10)]
)
def test_a_zip_beyond_a_limit_leaves_nothing(resolve: Resolve, web: Web, root: Path, limits: Limits) -> None:
    assert "allowed" in skip(resolve(entry(web.put("/a.zip", zipped(BOMB))), limits=limits), root)


def test_no_hostile_zip_is_kept(resolve: Resolve, web: Web, root: Path) -> None:
    """One archive of each kind, each beside a good one."""
    for rule, data in hostile.ONE_OF_EACH.items():
        bad, good = resolve(entry(web.put(f"/{rule}.zip", data), name=rule), inline(), bounds=Bounds())
        assert (bad.status, good.status) == ("skipped", "loaded"), rule
    assert [path.name for path in (root / "skills").iterdir() if path.name != "a" and any(path.iterdir())] == []


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/SKILL.md", "application/octet-stream", TEXT.encode()),
        ("/SKILL.MD", "application/zip", TEXT.encode()),
        ("/a.txt", "application/zip", TEXT.encode()),
        ("/a.Markdown", "", TEXT.encode()),
        ("/A.ZIP", "text/plain", zipped({SKILL_MD: TEXT})),
        ("/a.zip", "text/html", zipped({SKILL_MD: TEXT})),
        ("/download", "application/zip", zipped({SKILL_MD: TEXT})),
        ("/download", "application/x-zip-compressed; x=y", zipped({SKILL_MD: TEXT})),
        ("/download", "application/octet-stream", TEXT.encode()),
        ("/download", "application/octet-stream", zipped({SKILL_MD: TEXT})),
        ("/download", "text/markdown; charset=utf-8", TEXT.encode()),
    ],
)
def test_the_extension_decides_then_the_content_type_then_it_is_text(
    resolve: Resolve, web: Web, root: Path, path: str, kind: str, body: bytes
) -> None:
    url = web.put(path, body, **{"Content-Type": kind})
    assert only(resolve(entry(url + "?X-Amz-Signature=a.zip&b=.md"))).status == "loaded"
    assert contents(place(root)) == {SKILL_MD: TEXT.encode()}


@pytest.mark.parametrize("path", ["/SKILL.md", "/a.zip", "/download"])
def test_a_web_page_is_not_a_skill(resolve: Resolve, web: Web, root: Path, path: str) -> None:
    page = "<!doctype html><title>Sign in</title>"
    assert "web page" in skip(resolve(entry(web.put(path, page, **{"Content-Type": "text/html"}))), root)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# no header", "SKILL.md"),
        ("", "SKILL.md"),
        ("---\nname: a\n---\n", "description"),
        ("---\nname: a\ndescription: d\nname: b\n---\n", "name"),
        ("---\nname: a\n", "SKILL.md"),
    ],
)
def test_a_text_that_is_not_a_skill_leaves_nothing(
    resolve: Resolve, web: Web, root: Path, text: str, reason: str
) -> None:
    assert reason in skip(resolve(entry(web.put("/a.md", text))), root)
    assert reason in skip(resolve(inline(text or " x")), root)


def test_a_text_beyond_the_limit_leaves_nothing(resolve: Resolve, web: Web, root: Path) -> None:
    limits = Limits(skill_md_bytes=50)
    assert "50 are allowed" in skip(resolve(entry(web.put("/a.md", TEXT)), limits=limits), root)
    assert "50 are allowed" in skip(resolve(inline(), limits=limits), root)


def test_a_skill_without_a_name_or_of_another_one_has_that_of_its_definition(resolve: Resolve, web: Web) -> None:
    nameless = web.put("/nameless.md", "---\ndescription: d\n---\n\nDo it.\n")
    assert only(resolve(entry(nameless))).name == "a"
    assert only(resolve(entry(web.put("/b.md", skill_text("b")), version="2"))).name == "a"


# -- Servers that are no good ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [204, 301, 304, 400, 401, 403, 404, 410, 500, 503])
def test_an_error_status_is_reported(resolve: Resolve, web: Web, root: Path, status: int) -> None:
    reason = skip(resolve(entry(web.put("/a.md", "" if status == 204 else "no", status))), root)
    assert status == 204 or f"status {status}" in reason


def test_a_closed_port_is_reported(resolve: Resolve, web: Web, root: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        allowed = frozenset([f"127.0.0.1:{port}"])
        assert "reach this address" in skip(resolve(entry(f"http://127.0.0.1:{port}/a.zip"), allowed=allowed), root)


@pytest.mark.parametrize("behaviour", [hanging, dripping])
def test_a_slow_server_is_cut_off_at_the_limit_of_the_definition(
    resolve: Resolve, web: Web, root: Path, behaviour: Any
) -> None:
    url = web.behave("/a.md", behaviour(web.receiver))
    assert "0.1 seconds" in skip(resolve(entry(url), bounds=replace(PATIENT, each=0.1)), root)


def test_a_slow_body_is_cut_off_too(resolve: Resolve, web: Web, root: Path) -> None:
    def drip(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not web.receiver.released.wait(0.005):
            try:
                handler.wfile.write(b"-")
            except OSError:
                return

    assert "seconds" in skip(resolve(entry(web.behave("/a.md", drip)), bounds=replace(PATIENT, each=0.1)), root)


def test_a_request_ends_at_its_limit_even_with_running_downloads(resolve: Resolve, web: Web, root: Path) -> None:
    slow = web.behave("/slow.md", hanging(web.receiver))
    good = web.put("/good.md", skill_text("good"))
    entries = [entry(slow, name=f"slow-{number}") for number in range(20)]
    results = resolve(*entries, entry(good, name="good"), bounds=replace(PATIENT, all=0.1, at_once=4))
    assert {one.status for one in results[:-1]} == {"skipped"}
    assert all("seconds" in one.reason for one in results[:-1])
    assert [one.name for one in results] == [one["name"] for one in (*entries, entry(name="good"))]


def test_a_download_beyond_the_limit_is_cut_while_it_streams(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.behave("/a.zip", endless(web.receiver))
    reason = skip(resolve(entry(url), limits=Limits(archive_bytes=100_000), bounds=PATIENT), root)
    assert "limit of 100,000 bytes" in reason


def _promising(length: str, body: bytes) -> Any:
    def behave(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", length)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def test_a_body_that_ends_too_soon_is_not_a_skill(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.behave("/a.md", _promising("100000", TEXT.encode()))
    assert "interrupted" in skip(resolve(entry(url)), root)


def test_a_length_that_is_too_short_cuts_the_zip_and_it_is_refused(resolve: Resolve, web: Web, root: Path) -> None:
    body = zipped({SKILL_MD: TEXT})
    assert "zip" in skip(resolve(entry(web.behave("/a.zip", _promising(str(len(body) - 40), body)))), root)


def test_an_absurd_content_length_is_ignored(resolve: Resolve, web: Web, root: Path) -> None:
    assert skip(resolve(entry(web.behave("/a.md", _promising("9" * 18, TEXT.encode())))), root)
    assert skip(resolve(entry(web.behave("/a.md", _promising("-5", TEXT.encode())))), root)


def test_a_response_in_pieces_is_put_together(resolve: Resolve, web: Web, root: Path) -> None:
    def chunked(handler: Any) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in (TEXT[:10].encode(), TEXT[10:].encode()):
            handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        handler.wfile.write(b"0\r\n\r\n")

    assert only(resolve(entry(web.behave("/a.md", chunked)))).status == "loaded"


def test_a_compressed_response_that_was_not_asked_for_is_refused(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.put("/a.md", b"\x1f\x8b nonsense", **{"Content-Encoding": "gzip"})
    assert "compressed" in skip(resolve(entry(url)), root)


# -- Redirects and private networks ------------------------------------------------------------------------


def test_redirects_are_followed_five_times_and_no_more(resolve: Resolve, web: Web, root: Path) -> None:
    web.put("/5", TEXT)
    for number in range(5):
        web.put(f"/{number}", status=302, Location=f"/{number + 1}")
    assert only(resolve(entry(web.url("/0")))).status == "loaded"
    web.put("/5", status=302, Location="/6")
    web.put("/6", TEXT)
    assert "Too many redirects" in only(resolve(entry(web.url("/0"), version="2"))).reason


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/", "https://169.254.169.254/", "https://127.0.0.1:1/a.zip",
        "https://[::ffff:10.0.0.1]/", "https://[fd00:ec2::254]/", "http://127.1/", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_a_redirect_into_a_private_network_is_refused(resolve: Resolve, web: Web, root: Path, target: str) -> None:
    skip(resolve(entry(web.put("/a.zip", status=302, Location=target))), root)
    assert len(web.asked) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "10.1.2.3", "[::1]", "2130706433"])
def test_an_address_in_a_private_network_is_refused(resolve: Resolve, root: Path, host: str) -> None:
    reason = skip(resolve(entry(f"https://{host}/a.zip"), allowed=frozenset()), root)
    assert "private network" in reason


def test_dns_rebinding_has_no_effect(resolve: Resolve, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First a public address, then a private one: the connection goes to the one that was judged."""
    answers, dialled = ["1.1.1.1", "127.0.0.1", "127.0.0.1"], []
    real = socket.getaddrinfo

    def lookup(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        return real(answers.pop(0) if host == "rebinding.test" else host, port, *rest, **more)

    def refuse(address: tuple[str, int], *_: Any, **__: Any) -> None:
        dialled.append(address[0])
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(socket, "create_connection", refuse)
    assert "reach this address" in skip(resolve(entry("https://rebinding.test/a.zip")), root)
    assert dialled == ["1.1.1.1"]


def test_a_name_with_a_private_address_is_refused(
    resolve: Resolve, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: real("192.168.0.7", *rest, **more))
    assert "private network" in skip(resolve(entry("https://intranet.test/a.zip")), root)


def test_proxies_and_password_files_of_the_environment_are_not_used(
    resolve: Resolve, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password very-secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert only(resolve(entry(web.put("/a.md", TEXT)))).status == "loaded"
    assert "authorization" not in web.receiver.got[0].headers


# -- Inline text -------------------------------------------------------------------------------------------


def test_inline_text_is_written_without_a_request(resolve: Resolve, web: Web, root: Path) -> None:
    found = only(resolve(entry(web.url("/a.zip"), content=TEXT)))
    assert (found.status, found.origin) == ("loaded", "inline")
    assert contents(place(root)) == {SKILL_MD: TEXT.encode()}
    assert web.asked == []


def test_inline_text_is_written_anew_each_time(resolve: Resolve, root: Path) -> None:
    digests = set()
    for body in ("one", "two"):
        found = only(resolve(inline(skill_text("a", body=body))))
        assert found.status == "loaded"
        assert contents(place(root)) == {SKILL_MD: skill_text("a", body=body).encode()}
        digests.add(found.digest)
    assert len(digests) == 2


def test_inline_text_clears_the_files_of_an_earlier_package(resolve: Resolve, web: Web, root: Path) -> None:
    resolve(entry(web.put("/a.zip", zipped({SKILL_MD: TEXT, "scripts/run.sh": RUN}))))
    resolve(inline(skill_text("a", body="inline")))
    assert contents(place(root)) == {SKILL_MD: skill_text("a", body="inline").encode()}


# -- S3 ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "definition",
    [
        entry(s3_path="s3://b-1/skills/a/"),
        entry("https://never.invalid/a.zip", s3_path="s3://b-1/skills/a"),
        {"Format": "S3", "Name": "a", "Version": "1.0.0", "S3Path": "s3://b-1/skills/a"},
        {"Format": "Package", "PackagePath": "s3", "StorageBucketName": "b-1", "SkillFolder": "/skills/a/", "Name": "a",
         "Version": "1.0.0", "FileStoreSignedUrl": "<redacted>"},
    ],
)  # fmt: skip
def test_a_folder_in_s3_is_kept_like_any_other(
    resolve: Resolve, root: Path, buckets: Buckets, definition: dict[str, Any]
) -> None:
    buckets.put("b-1", {"skills/a/SKILL.md": TEXT.encode(), "skills/a/scripts/run.sh": RUN})
    more = {"storage": storage(buckets), "bounds": Bounds()}
    found = only(resolve(definition, **more))
    assert (found.status, found.origin) == ("loaded", "s3://b-1/skills/a")
    assert contents(place(root)) == {SKILL_MD: TEXT.encode(), "scripts/run.sh": RUN}
    assert only(resolve(definition, **more)).status == "cached"


def test_an_unreadable_s3_folder_is_skipped(resolve: Resolve, root: Path, buckets: Buckets) -> None:
    buckets.put("b-1", {"skills/a/wrapper/SKILL.md": TEXT.encode()})
    more = {"storage": storage(buckets, closed=frozenset(["own"])), "bounds": Bounds()}
    assert "has no SKILL.md" in skip(resolve(entry(s3_path="s3://b-1/skills/a"), **more), root)
    assert "bucket does not exist" in skip(resolve(entry(s3_path="s3://b-2/skills/a"), **more), root)
    assert "its own files" in skip(resolve(entry(s3_path="s3://own/blobs"), **more), root)
    assert "s3://bucket/folder" in skip(resolve(entry(s3_path="gs://b-1/skills/a"), **more), root)


# -- Whole requests ----------------------------------------------------------------------------------------


def test_an_empty_request_has_an_empty_result(resolve: Resolve) -> None:
    assert resolve() == []
    assert resolve({"Format": "SkillMd", "Name": "off", "IsActive": False, "SkillMd": TEXT}) == []


def test_one_bad_entry_does_not_stop_the_others_and_the_order_is_kept(resolve: Resolve, web: Web) -> None:
    results = resolve(
        entry(web.url("/missing.zip"), name="missing"),
        {"name": "half"},
        inline(skill_text("good"), name="good"),
        {"Format": "Package", "Name": "off", "IsActive": "false"},
        {"Format": "Git", "Name": "../../odd", "Version": 7},
        entry(web.put("/b.md", skill_text("b")), name="b"),
        5,
    )
    assert [(one.name, one.version, one.status) for one in results] == [
        ("missing", "1.0.0", "skipped"), ("half", "0", "skipped"), ("good", "1.0.0", "loaded"),
        ("../../odd", "7", "skipped"), ("b", "1.0.0", "loaded"), ("", "", "skipped"),
    ]  # fmt: skip
    assert all(one.reason for one in results if one.status == "skipped")
    assert not any(one.reason for one in results if one.status != "skipped")


def test_a_request_with_only_failures_is_not_an_error(resolve: Resolve, web: Web) -> None:
    results = resolve(entry(web.url("/x.zip")), entry(web.url("/y.zip"), name="y"))
    assert [one.status for one in results] == ["skipped", "skipped"]


def test_a_chat_request_is_resolved_as_a_whole(web: Web, root: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "x", "platform_context": {"skills": [inline()]}}]}
    assert only(resolver.resolve(chat, root=root)).status == "loaded"


def test_values_are_resolved_as_well(root: Path) -> None:
    assert only(resolver.resolve([Definition("a", "1", "", TEXT)], root=root)).status == "loaded"


def test_more_definitions_than_allowed_are_refused_before_anything_is_done(resolve: Resolve, root: Path) -> None:
    many = [inline(name=f"a-{number}") for number in range(101)]
    with pytest.raises(InvalidRequest, match=r"101 definitions\. 100 are allowed"):
        resolve(*many)
    assert not root.exists()
    off = {"Format": "SkillMd", "Name": "off", "IsActive": False}
    assert len(resolve(*many[:2], *[off] * 200)) == 2


def test_two_entries_of_one_version_share_one_download(resolve: Resolve, web: Web) -> None:
    url = web.put("/a.md", TEXT)
    first, second = resolve(entry(url), entry(url))
    assert (first.status, second.status) == ("loaded", "cached")
    assert first.digest == second.digest
    assert len(web.asked) == 1
    missing = web.url("/missing.md")
    assert len({one.reason for one in resolve(entry(missing, name="b"), entry(missing, name="b"))}) == 1
    assert web.asked.count("/missing.md") == 1


def test_an_address_with_another_signature_is_tried_again(resolve: Resolve, web: Web) -> None:
    def expiring(handler: Any) -> None:
        answering(200 if "fresh" in handler.path else 403, TEXT.encode())(handler)

    url = web.behave("/a.md", expiring)
    assert [one.status for one in resolve(entry(f"{url}?old"), entry(f"{url}?fresh"))] == ["skipped", "loaded"]


def test_a_name_and_version_has_one_content_per_request(resolve: Resolve, web: Web, root: Path) -> None:
    url, other = web.put("/a.md", TEXT), web.put("/other.md", skill_text("a", body="other"))
    results = resolve(entry(url), entry(other), inline(skill_text("a", body="inline")), inline())
    assert [one.status for one in results] == ["loaded", "skipped", "skipped", "loaded"]
    assert "same name and version but different content" in results[2].reason
    assert contents(place(root)) == {SKILL_MD: TEXT.encode()}


def test_the_same_name_in_two_versions_is_two_skills(resolve: Resolve, web: Web) -> None:
    url = web.put("/a.md", TEXT)
    assert [one.status for one in resolve(entry(url, version="1"), entry(url, version="2"))] == ["loaded", "loaded"]


def test_a_few_downloads_run_side_by_side_and_no_more(resolve: Resolve, web: Web) -> None:
    lock, running, most = threading.Lock(), [0], [0]
    together = threading.Barrier(3)

    def counting(handler: Any) -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        together.wait(effort.PATIENCE)
        with lock:
            running[0] -= 1
        answering(200, TEXT.encode())(handler)

    url = web.behave("/a.md", counting)
    results = resolve(
        *(entry(f"{url}?{number}", name=f"a-{number}") for number in range(9)), bounds=replace(PATIENT, at_once=3)
    )
    assert {one.status for one in results} == {"loaded"}
    assert most[0] == 3


def test_a_volume_that_cannot_be_written_is_told_for_each_entry(resolve: Resolve, web: Web, tmp_path: Path) -> None:
    taken = tmp_path / "a-file"
    taken.write_text("no directory")
    results = resolve(inline(), entry(web.put("/b.md", skill_text("b")), name="b"), root=taken)
    assert all("cannot be read or written" in one.reason for one in results)


def test_an_unexpected_error_is_logged_without_its_message(
    resolve: Resolve, web: Web, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise ValueError("-".join(("signature=very", "secret")))

    monkeypatch.setattr(resolver.download, "fetch", crash)
    results = resolve(entry(web.url("/a.zip")), inline(skill_text("b"), name="b"))
    assert [one.status for one in results] == ["skipped", "loaded"]
    assert "in the log of the site" in results[0].reason
    assert "ValueError" in caplog.text
    assert "very-secret" not in caplog.text


# -- Logs and secrets --------------------------------------------------------------------------------------


def test_each_failure_is_logged_with_name_version_and_address(
    resolve: Resolve, web: Web, caplog: pytest.LogCaptureFixture
) -> None:
    resolve(entry(web.url("/x.zip"), version="2.0"), {"Format": "Git", "Name": "odd"})
    lines = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(lines) == 2
    text = lines[0].getMessage() + lines[1].getMessage()
    for part in ("'a'", "'2.0'", web.url("/x.zip"), "status 404", "'odd'", "Unknown format"):
        assert part in text


@pytest.mark.parametrize(
    "behaviour", [answering(404), answering(302, Location="https://127.0.0.1/?sig=very-secret"), answering(200, b"x")]
)
def test_a_signed_address_is_neither_logged_nor_answered_nor_kept(
    resolve: Resolve, web: Web, root: Path, caplog: pytest.LogCaptureFixture, behaviour: Any
) -> None:
    """Nor does a program that logs all there is to log, and only uses the function."""
    for logger in ("httpx", "httpcore.connection", "httpcore.http11"):
        caplog.set_level(logging.DEBUG, logger=logger)
    url = web.behave("/a.zip", behaviour) + "?X-Amz-Signature=very-secret&X-Amz-Credential=key"
    failed = only(resolve(entry(url)))
    good = only(resolve(entry(web.put("/b.md", skill_text("b")) + "?sig=very-secret", name="b")))
    written = "".join(path.read_text() for path in root.rglob("*") if path.is_file())
    for text in (caplog.text, str(failed), str(good), written, json.dumps(said([failed, good]))):
        assert "very-secret" not in text
        assert "Credential" not in text
    assert web.url("/b.md") in (good.origin, written)


def test_a_name_cannot_write_lines_into_the_log(resolve: Resolve, caplog: pytest.LogCaptureFixture) -> None:
    resolve({"name": "a\n2026 ERROR forged", "version": "1\r\nforged", "content": TEXT})
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert "\n" not in line


def test_skills_of_every_shape_are_the_same_bytes_on_disk(resolve: Resolve, web: Web, root: Path) -> None:
    bundle = skill_bundle("a", {"references/ä.md": "Grüße".encode(), "assets/logo.png": bytes(range(256)), "e": b""})
    found = only(resolve(entry(web.put("/a.zip", zipped(dict(bundle))))))
    assert contents(place(root)) == dict(bundle)
    assert (found.digest, found.files) == (bundle.digest, bundle.manifest)
