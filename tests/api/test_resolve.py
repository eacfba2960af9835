"""`/resolve`, with an answer for each definition, and `/resolved`, which reads the files."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from registry.core.bundle import SKILL_MD, Bundle, content_digest
from registry.core.catalog.visibility import Definition
from registry.models import Event, Project
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.resolve import resolver
from tests import effort
from tests.api.contract import problem
from tests.conftest import Api, skill_bundle, skill_text
from tests.remote.conftest import PATIENT
from tests.remote.web import Web, zipped
from tests.services.footprint import nothing_left_behind
from tests.services.receivers import answering, hanging, receiving

TEXT = skill_text("a")
FILES = {
    "references/tone.md": "Grüße — freundlich.\n".encode(),
    "data.bin": bytes(range(256)),
    "long.txt": b"x" * 128_001,
    "page.html": b"<script>alert(1)</script>",
    "a b & c.txt": b"odd name",
}


@pytest.fixture
def volume(tmp_path: Path, settings: Any) -> Path:
    settings.PERSISTENT_VOLUME_STORAGE = tmp_path / "volume"
    return tmp_path / "volume"


@pytest.fixture
def web(settings: Any) -> Iterator[Web]:
    with receiving() as receiver:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [receiver.host]
        yield Web(receiver)


@pytest.fixture
def bot(project: Project, volume: Path, api: Callable[..., Api]) -> Api:
    return api("read")


def resolve(bot: Api, *entries: Any) -> list[dict[str, Any]]:
    answer = bot.send("POST", "/resolve", {"skills": list(entries)})
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["skills"]
    return found


def inline(name: str = "a", text: str = TEXT, version: Any = 3) -> dict[str, Any]:
    return {"Format": "SkillMd", "Name": name, "Version": version, "IsActive": True, "SkillMd": text}


def ask(bot: Api, path: str, name: str = "a", version: str = "3", **query: str) -> Any:
    return bot.client.get(f"{bot.base}/resolved/{name}/{version}/files/{path}", query, headers=bot.headers)


# -- /resolve ----------------------------------------------------------------------------------------------


def test_mixed_definitions_are_answered_in_order(bot: Api, web: Web, volume: Path) -> None:
    bundle = Bundle({SKILL_MD: skill_text("packed").encode(), "scripts/run.sh": b"run"})
    url = web.put("/packed.zip", zipped(dict(bundle)))
    found = resolve(
        bot,
        {"name": "packed", "version": "1.0.0", "url": f"{url}?X-Amz-Signature=very-secret"},
        inline(),
        {"Format": "Package", "Name": "off", "IsActive": False},
        {"Format": "Git", "Name": "../../odd", "Version": 7},
        {"name": "half"},
        {"name": "gone", "version": "1", "url": web.url("/gone.zip")},
    )
    assert found[0] == {
        "name": "packed", "version": "1.0.0", "status": "loaded", "digest": bundle.digest, "origin": url,
        "description": "Does what packed does for the team. Use when somebody asks for packed.",
        "tokens": found[0]["tokens"],
        "files": [
            {"path": SKILL_MD, "size": len(bundle[SKILL_MD]), "digest": content_digest(bundle[SKILL_MD])},
            {"path": "scripts/run.sh", "size": 3, "digest": content_digest(b"run")},
        ],
    }  # fmt: skip
    assert (found[1]["status"], found[1]["version"], found[1]["origin"]) == ("loaded", "3", "inline")
    assert [(one["name"], one["version"], one["status"]) for one in found[2:]] == [
        ("../../odd", "7", "skipped"), ("half", "0", "skipped"), ("gone", "1", "skipped"),
    ]  # fmt: skip
    assert all(set(one) == {"name", "version", "status", "reason"} for one in found[2:])
    assert "status 404" in found[4]["reason"]
    assert (volume / "projects" / "demo" / "skills" / "packed" / "1.0.0" / SKILL_MD).is_file()
    assert "very-secret" not in json.dumps(found)


def test_a_second_request_uses_the_cached_copy(bot: Api, web: Web) -> None:
    definition = {"name": "a", "version": "1", "url": web.put("/a.md", TEXT)}
    assert [resolve(bot, definition)[0]["status"] for _ in range(2)] == ["loaded", "cached"]
    assert len(web.asked) == 1


def test_a_copy_placed_by_an_operator_is_used_and_marked(bot: Api, volume: Path) -> None:
    place = volume / "projects" / "demo" / "skills" / "a" / "1"
    place.mkdir(parents=True)
    (place / SKILL_MD).write_text(TEXT)
    (found,) = resolve(bot, {"name": "a", "version": "1", "url": "https://never.invalid/a.zip"})
    assert (found["status"], found["origin"]) == ("cached", "placed by hand")


def test_skipped_or_empty_definitions_are_still_a_200(bot: Api, web: Web) -> None:
    assert [one["status"] for one in resolve(bot, {"name": "x", "url": web.url("/x")}, 5, None)] == ["skipped"] * 3
    assert resolve(bot) == []
    assert resolve(bot, {"Format": "S3", "IsActive": "false"}) == []


def test_a_chat_request_is_accepted(bot: Api) -> None:
    chat = {
        "messages": [
            {"role": "user", "content": "old", "platform_context": {"skills": [inline("old")]}},
            {"role": "user", "content": "new", "platform_context": {"tenant_id": "t", "skills": [inline("new")]}},
            {"role": "assistant", "content": "…"},
        ],
        "stream": True,
    }
    answer = bot.send("POST", "/resolve", chat).json()
    assert [one["name"] for one in answer["skills"]] == ["new"]
    assert bot.send("POST", "/resolve", [inline("plain")]).json()["skills"][0]["name"] == "plain"


@pytest.mark.parametrize(
    "body", [{}, {"skills": 5}, {"skills": "a"}, 5, "text", None, {"messages": 5}, {"messages": {"role": "user"}}]
)
def test_a_body_without_a_list_is_refused(bot: Api, body: Any) -> None:
    problem(bot.send("POST", "/resolve", body), 400, "invalid-request")


@pytest.mark.parametrize("body", ["{", "[" * 100_000, b"\xff"])
def test_a_body_that_is_not_json_is_refused(bot: Api, body: Any) -> None:
    problem(bot.send("POST", "/resolve", body), 400, "invalid-request")


def test_more_than_a_hundred_definitions_are_refused(bot: Api, volume: Path) -> None:
    body = problem(
        bot.send("POST", "/resolve", {"skills": [inline(f"a-{n}") for n in range(101)]}), 400, "invalid-request"
    )
    assert "101 definitions. 100 are allowed" in body["detail"]
    assert not (volume / "projects" / "demo" / "skills").exists()


def test_too_large_a_body_is_refused_before_it_is_read(bot: Api) -> None:
    problem(bot.send("POST", "/resolve", {"skills": [inline(text="x" * 5_000_000)]}), 413, "too-large")


def test_names_are_returned_as_sent_except_for_lone_surrogates(bot: Api) -> None:
    body = (
        '{"skills": [{"name": "a\\ud800", "url": "https://example.org/a.zip"}, {"name": "a\\u0000b", "content": "x"}]}'
    )
    first, second = bot.send("POST", "/resolve", body).json()["skills"]
    assert (first["name"], first["status"]) == ("a?", "skipped")
    assert second["name"] == "a\0b"


def test_resolving_does_not_change_the_project(bot: Api, project: Project) -> None:
    events, revision = Event.objects.count(), Project.objects.get(pk=project.pk).revision
    with nothing_left_behind():
        resolve(bot, inline())
    assert (Event.objects.count(), Project.objects.get(pk=project.pk).revision) == (events, revision)
    assert bot.get("/catalog").json()["skills"] == []


# -- Permissions -------------------------------------------------------------------------------------------


def test_resolving_needs_the_scope_read(project: Project, volume: Path, api: Callable[..., Api]) -> None:
    problem(api("propose").send("POST", "/resolve", {"skills": [inline()]}), 403, "forbidden")
    problem(Api(project, "").send("POST", "/resolve", {"skills": []}), 401, "unauthenticated")
    problem(ask(api("propose"), SKILL_MD), 403, "forbidden")
    problem(ask(Api(project, ""), SKILL_MD), 401, "unauthenticated")
    assert not volume.exists()


def test_projects_cannot_read_or_change_the_copies_of_others(
    bot: Api, other_project: Project, api: Callable[..., Api], volume: Path
) -> None:
    stranger = api("read", where=other_project)
    digest = resolve(bot, inline())[0]["digest"]
    problem(ask(stranger, SKILL_MD), 404, "not-found")
    resolve(stranger, inline(text=skill_text("a", body="theirs")))
    assert ask(bot, SKILL_MD, digest=digest).json()["content"] == TEXT
    there = f"/api/v1/projects/other/resolved/a/3/files/{SKILL_MD}"
    problem(bot.client.get(there, headers=bot.headers), 404, "not-found")
    problem(
        bot.client.post("/api/v1/projects/other/resolve", "[]", content_type="application/json", headers=bot.headers),
        404,
        "not-found",
    )
    assert sorted(path.name for path in (volume / "projects").iterdir()) == ["demo", "other"]


def test_an_agent_with_allowed_skills_resolves_no_others(
    bot: Api, project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    resolve(bot, inline("secret", skill_text("secret")))
    agents.create(project, "narrow", Definition(allowed_skills=("a",)), by=operator)
    narrow = api("read", agent="narrow")
    found = resolve(narrow, inline("A"), inline("secret", skill_text("secret")), inline("b"))
    assert [one["status"] for one in found] == ["loaded", "skipped", "skipped"]
    assert "may see" in found[1]["reason"]
    problem(ask(narrow, SKILL_MD, "secret"), 404, "not-found")
    assert ask(narrow, SKILL_MD, "A").status_code == 200


# -- Two requests at a time --------------------------------------------------------------------------------


def test_a_third_concurrent_request_of_one_token_is_refused(
    bot: Api, project: Project, api: Callable[..., Api]
) -> None:
    token = _token_id(bot)
    with resolver.turn(project, token), resolver.turn(project, token):
        answer = bot.send("POST", "/resolve", {"skills": [inline()]})
        body = problem(answer, 429, "rate-limited")
        assert answer["Retry-After"] == str(body["retry_after"]) == "5"
        assert "at a time" in body["detail"]
        assert resolve(api("read", agent="other"), inline())[0]["status"] == "loaded"
    assert resolve(bot, inline())[0]["status"] == "loaded"


def test_a_refused_or_failed_request_frees_its_slot(bot: Api, volume: Path) -> None:
    for _ in range(5):
        problem(bot.send("POST", "/resolve", {"skills": 5}), 400, "invalid-request")
    assert list((volume / "projects" / "demo" / ".turns").iterdir()) == []


def _token_id(bot: Api) -> int:
    from django.utils import timezone

    from registry.services.agents import tokens

    return tokens.authenticate(bot.headers["Authorization"].removeprefix("Bearer "), now=timezone.now()).token_id


def test_a_slow_host_occupies_a_slot_while_it_is_asked(bot: Api, web: Web, project: Project, operator: Actor) -> None:
    """The slot is occupied while the request waits, and free after it gave up."""
    slow = {"name": "slow", "version": "1", "url": web.behave("/slow.md", hanging(web.receiver))}
    inside: list[str] = []

    def work() -> None:
        with resolver.turn(project, 7):
            inside.extend(one.reason for one in resolver.resolve(project, [slow], bounds=PATIENT, by=operator))

    worker = threading.Thread(target=work)
    worker.start()
    assert web.receiver.arrived.wait(effort.PATIENCE)
    turns = resolver.root("demo") / ".turns"
    assert [path.name for path in turns.iterdir()] == ["7-0"]
    web.receiver.released.set()  # The server closes the connection without an answer.
    worker.join()
    assert "connection" in inside[0]
    assert list(turns.iterdir()) == []


def test_requests_count_against_the_rate(bot: Api, settings: Any) -> None:
    settings.RATE_LIMIT_WRITE = 1
    resolve(bot)
    problem(bot.send("POST", "/resolve", {"skills": []}), 429, "rate-limited")


# -- /resolved ---------------------------------------------------------------------------------------------


@pytest.fixture
def packed(bot: Api, web: Web) -> dict[str, Any]:
    bundle = skill_bundle("a", FILES)
    return resolve(bot, {"name": "a", "version": "3", "url": web.put("/a.zip", zipped(dict(bundle)))})[0]


def test_a_text_file_is_returned_with_its_path_and_version(bot: Api, packed: dict[str, Any]) -> None:
    assert ask(bot, "references/tone.md", digest=packed["digest"]).json() == {
        "name": "a", "source": "resolved", "version": "3", "digest": packed["digest"], "path": "references/tone.md",
        "size": len(FILES["references/tone.md"]), "content": FILES["references/tone.md"].decode(),
        "origin": packed["origin"],
    }  # fmt: skip


def test_every_listed_file_can_be_read(bot: Api, packed: dict[str, Any]) -> None:
    for file in packed["files"]:
        answer = ask(bot, quote(file["path"]), digest=packed["digest"], download="1")
        assert content_digest(answer.content) == file["digest"]
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_a_file_that_a_browser_would_run_is_an_attachment(bot: Api, packed: dict[str, Any]) -> None:
    answer = ask(bot, "page.html", download="1")
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")


def test_without_a_digest_the_current_copy_is_read(bot: Api, packed: dict[str, Any]) -> None:
    assert ask(bot, SKILL_MD).json()["digest"] == packed["digest"]


@pytest.mark.parametrize(("path", "status", "code"), [("data.bin", 415, "not-text"), ("long.txt", 413, "too-large")])
def test_a_binary_or_long_file_answers_with_a_download_link(
    bot: Api, packed: dict[str, Any], path: str, status: int, code: str
) -> None:
    body = problem(ask(bot, path, digest=packed["digest"]), status, code)
    assert bot.client.get(body["download"], headers=bot.headers).content == FILES[path]
    assert quote(packed["digest"], safe="") in body["download"]


def test_a_copy_replaced_since_is_a_conflict(bot: Api) -> None:
    first = resolve(bot, inline())[0]["digest"]
    second = resolve(bot, inline(text=skill_text("a", body="other")))[0]["digest"]
    answer = problem(ask(bot, SKILL_MD, digest=first), 409, "conflict")
    assert answer["digest"] == second
    assert ask(bot, SKILL_MD, digest=second).status_code == 200


def test_a_copy_changed_on_disk_is_a_conflict(bot: Api, packed: dict[str, Any], volume: Path) -> None:
    file = volume / "projects" / "demo" / "skills" / "a" / "3" / "references" / "tone.md"
    file.write_text("changed")
    problem(ask(bot, "references/tone.md", digest=packed["digest"]), 409, "conflict")
    problem(ask(bot, "references/tone.md"), 409, "conflict")


def test_the_name_matches_as_sent_or_normalised(bot: Api) -> None:
    resolve(bot, inline("Odd Name", skill_text("odd-name")))
    resolve(bot, inline("plain", skill_text("plain")))
    assert ask(bot, SKILL_MD, "Odd%20Name").json()["name"] == "Odd Name"
    assert ask(bot, SKILL_MD, "%20PLAIN").json()["name"] == "plain"
    problem(ask(bot, SKILL_MD, "odd%20name"), 404, "not-found")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("missing.md", 404), ("references", 404), ("references/", 400), ("../x", 400), ("..%2f..%2fx", 400),
        ("%2fetc%2fpasswd", 400), ("~", 400), ("a%5cb", 400), (".", 400), ("references/../../x", 400),
    ],
)  # fmt: skip
def test_a_path_that_is_not_a_file_of_the_copy_is_refused(
    bot: Api, packed: dict[str, Any], path: str, status: int
) -> None:
    problem(ask(bot, path), status, "not-found" if status == 404 else "unsafe-path")


@pytest.mark.parametrize(
    ("name", "version", "status"),
    [("b", "3", 404), ("a", "4", 404), ("a", ".records", 400), ("..", "3", 400), ("a", "..", 400)],
)
def test_an_unresolved_skill_is_not_found(
    bot: Api, packed: dict[str, Any], name: str, version: str, status: int
) -> None:
    assert ask(bot, SKILL_MD, name, version).status_code == status


def test_a_repeated_read_answers_304(bot: Api, packed: dict[str, Any]) -> None:
    first = ask(bot, SKILL_MD)
    again = bot.get(f"/resolved/a/3/files/{SKILL_MD}", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    resolve(bot, inline(text=skill_text("a", body="other")))
    assert bot.get(f"/resolved/a/3/files/{SKILL_MD}", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_no_answer_contains_a_path_of_the_server(bot: Api, web: Web, volume: Path, packed: dict[str, Any]) -> None:
    web.behave("/bad.zip", answering(200, b"no zip"))
    texts = [
        json.dumps(resolve(bot, {"name": "bad", "url": web.url("/bad.zip")}, inline())),
        ask(bot, SKILL_MD).content.decode(),
        ask(bot, "missing").content.decode(),
    ]
    assert not any(str(volume) in text for text in texts)


# -- The S3 bucket of the site -----------------------------------------------------------------------------


def test_the_sites_own_bucket_is_refused_and_operators_may_allow_others(bot: Api, settings: Any) -> None:
    settings.S3_BUCKET, settings.SKILLS_S3_BUCKETS = "site-blobs", ["vendor-skills"]
    own, other = resolve(
        bot,
        {"name": "own", "s3_path": "s3://site-blobs/blobs"},
        {"name": "other", "s3_path": "s3://somebody-else/skills/x"},
    )
    assert "its own files" in own["reason"]
    assert "not one of those" in other["reason"]
