"""`/resolve`: an answer for each definition, permissions, and concurrent requests."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle, content_digest
from registry.core.catalog.visibility import Definition
from registry.models import Event, Project
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.resolve import resolver
from tests import effort
from tests.api.contract import problem
from tests.api.resolve.requests import TEXT, ask, inline, resolve
from tests.conftest import Api, skill_text
from tests.remote.conftest import PATIENT
from tests.remote.web import Web, zipped
from tests.services.footprint import nothing_left_behind
from tests.services.receivers import hanging

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
    assert "list of this agent" in found[1]["reason"]
    problem(ask(narrow, SKILL_MD, "secret"), 404, "not-found")
    assert ask(narrow, SKILL_MD, "A").status_code == 200


# -- Two requests at a time --------------------------------------------------------------------------------


def test_a_third_concurrent_request_of_one_token_is_refused(
    bot: Api, project: Project, api: Callable[..., Api]
) -> None:
    token = _token_id(bot)
    with resolver.slot(project, token), resolver.slot(project, token):
        answer = bot.send("POST", "/resolve", {"skills": [inline()]})
        body = problem(answer, 429, "rate-limited")
        assert answer["Retry-After"] == str(body["retry_after"]) == "5"
        assert "requests in progress" in body["detail"]
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
        with resolver.slot(project, 7):
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


# -- The S3 bucket of the site -----------------------------------------------------------------------------


def test_the_sites_own_bucket_is_refused_and_operators_may_allow_others(bot: Api, settings: Any) -> None:
    settings.S3_BUCKET, settings.SKILLS_S3_BUCKETS = "site-blobs", ["vendor-skills"]
    own, other = resolve(
        bot,
        {"name": "own", "s3_path": "s3://site-blobs/blobs"},
        {"name": "other", "s3_path": "s3://somebody-else/skills/x"},
    )
    assert "its own files" in own["reason"]
    assert "not allowed to load skills" in other["reason"]
