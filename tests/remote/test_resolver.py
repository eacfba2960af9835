"""Resolving definitions: inline text, cache, S3 and web, in that order, each entry for itself."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidRequest
from registry.core.resolve.definitions import Definition
from registry.remote import resolver
from registry.remote.cache import Cache
from registry.remote.reach import Bounds
from registry.remote.resolver import storage_root
from tests import effort
from tests.conftest import skill_bundle, skill_text
from tests.directories import read_files
from tests.remote.conftest import PATIENT, Buckets, Resolve, storage
from tests.remote.entries import RUN, TEXT, by_hand, digest_place, entry, inline, only, place, skip
from tests.remote.web import Web, zipped
from tests.services.receivers import answering


def test_the_root_is_the_argument_then_the_environment_then_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSISTENT_VOLUME_STORAGE", "/mnt/volume")
    assert storage_root("/given") == storage_root(Path("/given")) == Path("/given")
    assert storage_root() == Path("/mnt/volume")
    monkeypatch.delenv("PERSISTENT_VOLUME_STORAGE")
    assert storage_root() == Path("/data")


def test_the_environment_names_the_volume(root: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSISTENT_VOLUME_STORAGE", str(root))
    found = only(resolver.resolve([inline()]))
    assert found.directory == digest_place(root)
    assert (found.directory / SKILL_MD).read_text() == TEXT


# -- Cached skills -----------------------------------------------------------------------------------------


def test_a_cached_skill_is_used_without_a_request(resolve: Resolve, web: Web, root: Path) -> None:
    for name in ("a", "b"):
        by_hand(root, skill_text(name), name=name)
    results = resolve(entry(web.url("/a.zip")), entry(web.url("/b.zip"), name="b"))
    assert [one.status for one in results] == ["cached", "cached"]
    assert [one.description for one in results] == [
        f"Does what {n} does for the team. Use when somebody asks for {n}." for n in "ab"
    ]
    assert web.asked == []


def test_a_cached_skill_is_never_fetched_again(resolve: Resolve, web: Web, root: Path) -> None:
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
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode()}


def test_the_same_version_from_another_address_is_refused(resolve: Resolve, web: Web, root: Path) -> None:
    mine, theirs = web.put("/mine.md", TEXT), web.put("/theirs.md", skill_text("a", body="theirs"))
    assert only(resolve(entry(mine))).status == "loaded"
    refused = only(resolve(entry(theirs)))
    assert refused.status == "skipped"
    assert "already cached from http://127.0.0.1" in refused.reason
    assert "Use another version." in refused.reason
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode()}
    assert web.asked == ["/mine.md"]
    assert only(resolve(entry(mine + "?signature=new"))).status == "cached"


def test_another_query_is_another_skill(resolve: Resolve, web: Web, root: Path) -> None:
    """An agent cannot store its text under an address that another agent uses with another query."""

    def by_id(handler: Any) -> None:
        answering(200, skill_text("a", body=handler.path.partition("?")[2]).encode())(handler)

    url = web.behave("/download", by_id)
    assert only(resolve(entry(f"{url}?id=EVIL"))).status == "loaded"
    good = only(resolve(entry(f"{url}?id=GOOD")))
    assert (good.status, good.digest) == ("skipped", "")
    assert "already cached from" in good.reason
    assert "EVIL" not in good.reason
    assert only(resolve(entry(f"{url}?id=GOOD", version="2"))).status == "loaded"


def test_a_copy_of_another_origin_is_not_used(resolve: Resolve, web: Web, root: Path) -> None:
    """A client stores the skills of a site below the same directory, with the same records."""
    theirs = skill_bundle("a", body="from a site")
    Cache(root).keep("a", "1.0.0", theirs, origin="https://skills.example.org/projects/demo")
    refused = only(resolve(entry(web.put("/a.md", TEXT))))
    assert refused.status == "skipped"
    assert "already cached from https://skills.example.org/projects/demo" in refused.reason
    assert read_files(place(root)) == dict(theirs)
    assert web.asked == []


def test_a_cached_skill_that_was_changed_on_the_disk_is_fetched_again(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.put("/a.md", TEXT)
    resolve(entry(url))
    (place(root) / SKILL_MD).write_text(skill_text("a", body="changed by somebody"))
    assert only(resolve(entry(url))).status == "loaded"
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode()}


# -- Inline text -------------------------------------------------------------------------------------------


def test_inline_text_is_stored_without_a_request(resolve: Resolve, web: Web, root: Path) -> None:
    found = only(resolve(entry(web.url("/a.zip"), content=TEXT)))
    assert (found.status, found.origin) == ("loaded", "inline")
    assert read_files(digest_place(root)) == {SKILL_MD: TEXT.encode()}
    assert web.asked == []


def test_inline_text_does_not_change_what_others_read(resolve: Resolve, web: Web, root: Path) -> None:
    fetched = only(resolve(entry(web.put("/a.zip", zipped({SKILL_MD: TEXT, "scripts/run.sh": RUN})))))
    texts = [skill_text("a", body=body) for body in ("one", "two")]
    found = [only(resolve(inline(text))) for text in (*texts, texts[0])]
    assert [one.status for one in found] == ["loaded"] * 3
    assert [one.digest for one in found] == [Bundle({SKILL_MD: t.encode()}).digest for t in (*texts, texts[0])]
    for one, text in zip(found, (*texts, texts[0]), strict=True):
        assert one.directory
        assert read_files(one.directory) == {SKILL_MD: text.encode()}
    again = only(resolve(entry(web.url("/a.zip"))))
    assert (again.status, again.digest) == ("cached", fetched.digest)
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode(), "scripts/run.sh": RUN}


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
def test_a_folder_in_s3_is_cached(resolve: Resolve, root: Path, buckets: Buckets, definition: dict[str, Any]) -> None:
    buckets.put("b-1", {"skills/a/SKILL.md": TEXT.encode(), "skills/a/scripts/run.sh": RUN})
    more = {"storage": storage(buckets), "bounds": Bounds()}
    found = only(resolve(definition, **more))
    assert (found.status, found.origin) == ("loaded", "s3://b-1/skills/a")
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode(), "scripts/run.sh": RUN}
    assert only(resolve(definition, **more)).status == "cached"


def test_an_unreadable_s3_folder_is_skipped(resolve: Resolve, root: Path, buckets: Buckets) -> None:
    buckets.put("b-1", {"skills/a/wrapper/SKILL.md": TEXT.encode()})
    more = {"storage": storage(buckets, closed=frozenset(["own"])), "bounds": Bounds()}
    assert "Expected SKILL.md file missing at folder root" in skip(
        resolve(entry(s3_path="s3://b-1/skills/a"), **more), root
    )
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
    with pytest.raises(InvalidRequest, match=r"more than 100 active definitions\. 100 are allowed"):
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
    reverse = resolve(inline(skill_text("a", body="inline")), entry(url))
    assert [one.status for one in reverse] == ["loaded", "skipped"]
    assert "same name and version but different content" in reverse[1].reason
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode()}


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


def test_a_volume_that_cannot_be_written_is_reported_for_each_entry(resolve: Resolve, web: Web, tmp_path: Path) -> None:
    taken = tmp_path / "a-file"
    taken.write_text("no directory")
    results = resolve(inline(), entry(web.put("/b.md", skill_text("b")), name="b"), root=taken)
    assert all("cannot be read or written" in one.reason for one in results)
