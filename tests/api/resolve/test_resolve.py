"""`/resolve`: an answer for each definition, permissions, and concurrent requests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle, content_digest
from registry.core.catalog.visibility import Definition
from registry.models import Event, Project
from registry.services.agents import agents
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.api.resolve.requests import TEXT, ask, inline, resolve
from tests.conftest import Api, skill_text
from tests.cpu import within
from tests.remote.web import Web, zipped
from tests.services.footprint import nothing_left_behind

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
    assert "more than 100 active definitions. 100 are allowed" in body["detail"]
    assert not (volume / "projects" / "demo").exists()


def test_ten_large_texts_are_resolved_in_one_request(bot: Api) -> None:
    texts = [skill_text(f"a-{n}", body="Grüße. " * (440_000 // 9)) for n in range(10)]
    found = resolve(bot, *(inline(f"a-{n}", text) for n, text in enumerate(texts)))
    assert [one.get("reason", one["status"]) for one in found] == ["loaded"] * 10
    assert all(one["files"][0]["size"] > 430_000 for one in found)


def test_one_text_over_the_limit_is_skipped_and_the_others_are_resolved(bot: Api) -> None:
    long, good = resolve(bot, inline("long", skill_text("long") + "x" * 512_000), inline())
    assert (long["status"], good["status"]) == ("skipped", "loaded")
    assert "512,000 are allowed" in long["reason"]


def test_too_large_a_body_is_refused_before_it_is_read(bot: Api) -> None:
    body = problem(bot.send("POST", "/resolve", {"skills": [inline(text="x" * 17_000_000)]}), 413, "too-large")
    assert "8,388,608 are allowed" in body["detail"]
    assert "each inline SKILL.md 512,000 bytes" in body["detail"]
    assert body["allowed"] == 8 * 1024 * 1024


@pytest.mark.parametrize("unit", ["{},", "[],", "0,", '"",', '""', '"\\"', "[{},"])
def test_values_are_counted_before_they_are_parsed(bot: Api, unit: str) -> None:
    """8 MiB of empty objects would take 200 MB and several seconds."""
    body = '{"skills": [' + unit * (4_000_000 // len(unit))
    answer = within(0.5, lambda: bot.send("POST", "/resolve", body))
    problem(answer, 400, "invalid-request")


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
    there = f"/api/v1/projects/other/resolved/a/3/files/{SKILL_MD}?digest={digest}"
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
    secret = Bundle({SKILL_MD: skill_text("secret").encode()}).digest
    assert ask(bot, SKILL_MD, "secret", digest=secret).status_code == 200
    problem(ask(narrow, SKILL_MD, "secret", digest=secret), 404, "not-found")
    assert ask(narrow, SKILL_MD, "A").status_code == 200


# -- Limits ---------------------------------------------------------------------------------------------------


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
