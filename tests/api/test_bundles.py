"""Uploads of zips: the preview, the import, and refusals that store nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from registry.core.archive.zip_bundle import write_zip
from registry.models import Project, Version
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle
from tests.core.hostile import ONE_OF_EACH, READ_ELSEWHERE, UTF8, Entry, skill_and
from tests.services.footprint import footprint, nothing_left_behind


@pytest.fixture
def bot(project: Project, api: Callable[..., Api]) -> Api:
    return api("read", "write")


def zipped(**more: Any) -> bytes:
    return write_zip(skill_bundle(**more))


# -- Import ------------------------------------------------------------------------------------------------


def test_a_zip_becomes_a_skill(bot: Api) -> None:
    response = bot.upload(zipped(files={"a.txt": b"a"}), note="From the old wiki")
    assert response.status_code == 201
    body = response.json()
    assert set(body) == {"name", "source", "version", "digest", "findings", "action"}
    assert (body["name"], body["version"], body["action"]) == ("greeting", "1", "create")
    assert body["digest"] == skill_bundle(files={"a.txt": b"a"}).digest
    assert Version.objects.get().note == "From the old wiki"
    assert bot.get("/skills/greeting/files/a.txt").json()["content"] == "a"


def test_a_downloaded_bundle_can_be_uploaded_again(bot: Api) -> None:
    bot.upload(zipped(files={"a.txt": b"a"}))
    out = bot.get("/skills/greeting/bundle.zip").content
    with nothing_left_behind():
        again = bot.upload(out)
    assert (again.status_code, again.json()["action"], again.json()["version"]) == (200, "unchanged", "1")


def test_a_zip_of_a_built_in_skill_overrides_it(library: Path, bot: Api) -> None:
    on_disk(library, body="Bundled.")
    answer = bot.upload(zipped(body="Ours."), "?dry_run=1").json()
    assert (answer["action"], [hidden["source"] for hidden in answer["hides"]]) == ("override", ["bundled"])
    assert bot.upload(zipped(body="Ours.")).json()["action"] == "override"


def test_a_zip_of_an_existing_skill_becomes_its_next_version(bot: Api) -> None:
    bot.upload(zipped())
    response = bot.upload(zipped(body="Two."))
    assert (response.status_code, response.json()["action"], response.json()["version"]) == (201, "new-version", "2")


def test_the_same_version_with_other_bytes_is_409_with_both_digests(bot: Api) -> None:
    metadata = {"version": "1.0"}
    stored = bot.upload(zipped(metadata=metadata)).json()["digest"]
    for query in ("", "?dry_run=1"):
        with nothing_left_behind():
            answer = problem(bot.upload(zipped(metadata=metadata, body="Other."), query), 409, "version-conflict")
        assert (answer["stored"], answer["given"]) == (stored, skill_bundle(metadata=metadata, body="Other.").digest)
        assert answer["stored"] in answer["detail"]
        assert answer["given"] in answer["detail"]


def test_a_zip_after_a_delete_continues_the_version_numbers(bot: Api) -> None:
    bot.upload(zipped())
    bot.send("DELETE", "/skills/greeting")
    assert bot.upload(zipped(body="Again.")).json()["version"] == "2"


# -- Preview -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["?dry_run=1", "?dry_run=true", "?dry_run=True"])
def test_a_preview_shows_the_import_and_stores_nothing(bot: Api, query: str) -> None:
    with nothing_left_behind():
        response = bot.upload(zipped(files={"a.txt": b"a"}), query)
    assert response.status_code == 200
    body = response.json()
    assert set(body) == {
        "name", "source", "version", "digest", "findings", "action", "description", "tokens", "size", "files", "hides",
    }  # fmt: skip
    assert (body["name"], body["version"], body["action"], body["hides"]) == ("greeting", "1", "create", [])
    assert [entry["path"] for entry in body["files"]] == ["SKILL.md", "a.txt"]
    assert body["size"] == skill_bundle(files={"a.txt": b"a"}).size
    problem(bot.get("/skills/greeting"), 404, "not-found")


@pytest.mark.parametrize("query", ["?dry_run=0", "?dry_run=false", ""])
def test_without_dry_run_the_bundle_is_stored(bot: Api, query: str) -> None:
    assert bot.upload(zipped(), query).status_code == 201


@pytest.mark.parametrize("value", ["2", "yes", "", "on"])
def test_an_invalid_dry_run_stores_nothing(bot: Api, value: str) -> None:
    with nothing_left_behind():
        problem(bot.upload(zipped(), f"?dry_run={value}"), 400, "invalid-request")


# -- Refusals ----------------------------------------------------------------------------------------------


def test_a_hostile_zip_of_each_kind_is_refused_with_its_rule_and_stores_nothing(bot: Api) -> None:
    before = footprint()
    for rule, data in ONE_OF_EACH.items():
        for query in ("", "?dry_run=1"):
            response = bot.upload(data, query)
            assert response.status_code in (400, 413, 422), (rule, response.status_code, response.content)
            body = response.json()
            assert body["code"] in {"invalid-archive", "unsafe-path", "too-large", "invalid-skill"}, rule
            assert rule in {finding["rule"] for finding in body.get("findings", [])}
        assert footprint() == before, rule
    assert bot.get("/catalog").json()["skills"] == []


@pytest.mark.parametrize("path", READ_ELSEWHERE)
def test_a_path_that_git_or_windows_reads_as_another_is_refused(bot: Api, path: str) -> None:
    with nothing_left_behind():
        problem(bot.upload(skill_and(Entry(path.encode(), b"x", flags=UTF8))), 400, "unsafe-path")


@pytest.mark.parametrize(
    "text",
    [
        b"", b"no header", b"---\nname: x\n---\n", b"\xff\xfe", b'---\nname: x\ndescription: "\\ud800"\n---\n',
        b'---\nname: x\ndescription: "a\\0b"\n---\n', b"---\nname: ../x\ndescription: y\n---\n",
        b"---\nname: x\ndescription: y\nversion: a/b\n---\n", b"---\nname: x\ndescription: y\nversion: " + b"9" * 200,
    ],
)  # fmt: skip
def test_a_valid_zip_of_an_invalid_skill_is_refused(bot: Api, text: bytes) -> None:
    from tests.core.hostile import archive

    with nothing_left_behind():
        response = bot.upload(archive(Entry(b"SKILL.md", text)))
    assert response.status_code in (400, 422), response.content
    assert response["Content-Type"] == "application/problem+json"


def test_an_upload_without_a_file_is_refused(bot: Api) -> None:
    with nothing_left_behind():
        for fields in ({}, {"file": "text, no file"}, {"zip": SimpleUploadedFile("a.zip", zipped())}):
            response = bot.client.post(f"{bot.base}/bundles", fields, headers=bot.headers)
            problem(response, 400, "invalid-request")


def test_an_unknown_field_is_refused(bot: Api) -> None:
    with nothing_left_behind():
        body = problem(bot.upload(zipped(), version="2"), 400, "invalid-request")
    assert "version" in body["detail"]


@pytest.mark.parametrize("note", ["x" * 301, "a\0b"])
def test_an_invalid_note_is_refused(bot: Api, note: str) -> None:
    with nothing_left_behind():
        problem(bot.upload(zipped(), note=note), 400, "invalid-request")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"no boundary"),
        ("multipart/form-data; boundary=x", b"--x\r\ntorn"),
        ("multipart/form-data; boundary=" + "x" * 300, b""),
        ("multipart/form-data; boundary=x", b""),
    ],
)
def test_a_malformed_form_is_refused(bot: Api, kind: str, body: bytes) -> None:
    with nothing_left_behind():
        response = bot.client.generic("POST", f"{bot.base}/bundles", body, content_type=kind, headers=bot.headers)
        problem(response, 400, "invalid-request")


@pytest.mark.parametrize("kind", ["application/json", "application/zip", "text/plain", ""])
def test_another_media_type_is_refused(bot: Api, kind: str) -> None:
    with nothing_left_behind():
        response = bot.client.generic("POST", f"{bot.base}/bundles", zipped(), content_type=kind, headers=bot.headers)
    assert response.status_code in (400, 415)
    assert response["Content-Type"] == "application/problem+json"


def test_a_form_with_too_many_fields_is_refused(bot: Api) -> None:
    fields = (
        "".join(f'--x\r\nContent-Disposition: form-data; name="f{n}"\r\n\r\n1\r\n' for n in range(5_001)) + "--x--\r\n"
    )
    with nothing_left_behind():
        response = bot.client.generic(
            "POST", f"{bot.base}/bundles", fields, content_type="multipart/form-data; boundary=x", headers=bot.headers
        )
        problem(response, 413, "too-large")


def test_a_zip_just_over_the_limit_is_refused_by_its_size(bot: Api, settings: Any) -> None:
    from dataclasses import replace

    settings.LIMITS = replace(settings.LIMITS, archive_bytes=200)
    with nothing_left_behind():
        body = problem(bot.upload(zipped()), 413, "too-large")
    assert "200 are allowed" in body["detail"]


def test_an_import_into_one_project_does_not_appear_in_another(
    bot: Api, other_project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    bot.upload(zipped(body="Here."))
    other = api("read", "write", where=other_project)
    problem(other.get("/skills/greeting"), 404, "not-found")
    assert other.upload(zipped(body="There.")).json()["action"] == "create"
    assert bot.get("/skills/greeting").json()["instructions"] == "Here."


def test_an_import_by_a_person_is_recorded_under_their_name(
    project: Project, operator: Actor, person: Callable[..., Any]
) -> None:
    from registry.services.agents import tokens

    secret = tokens.create_token(project, user=person("author"), scopes=["read", "write"], by=operator)
    Api(project, secret).upload(zipped())
    version = Version.objects.get()
    assert (version.author.username if version.author else "", version.agent) == ("author", None)
