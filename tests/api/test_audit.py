"""The audit log over the API: filtered, paged, exported, verified, and shown to reviewers only."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from registry.core import roles
from registry.models import Event, Project, User
from registry.services.agents import tokens
from registry.services.people import projects
from registry.services.permissions import Actor
from tests.conftest import Api, skill_bundle, skill_text
from tests.prepared import create_skill, disable_skill, save_skill


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    user = person(roles.REVIEWER)
    return Api(project, tokens.create_token(project, user=user, scopes=("review",), by=operator))


@pytest.fixture
def busy(project: Project, author: Actor) -> Project:
    first = create_skill(project, skill_bundle(), by=author).version
    save_skill(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author)
    create_skill(project, skill_bundle("other"), by=author)
    return project


def found(caller: Api, **query: str) -> list[dict[str, Any]]:
    answer = caller.get("/audit", **query)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def test_events_name_actor_verb_and_target_newest_first(busy: Project, reviewer: Api) -> None:
    events = found(reviewer, target="greeting")
    assert [event["verb"] for event in events] == ["skill.saved", "skill.created"]
    saved, created = events
    author = {"kind": "person", "name": "author", "id": User.objects.get(username="author").pk}
    assert (saved["actor"], saved["before"]) == (author, created["after"])
    assert (created["before"], saved["details"]["version"]) == (None, "2")
    assert saved["previous"] == created["hash"]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({"verb": "skill.saved"}, 1),
        ({"verb": "skill."}, 3),
        ({"verb": "skill"}, 0),
        ({"actor": "author"}, 3),
        ({"actor": "nobody"}, 0),
        ({"target": "other"}, 1),
        ({"verb": "skill.created", "target": "greeting"}, 1),
        ({"verb": "skill.", "since": "2000-01-31"}, 3),
        ({"verb": "skill.", "since": "2000-01-31T12:00:00Z"}, 3),
        ({"verb": "skill.", "since": "2999-01-31"}, 0),
    ],
)
def test_events_are_filtered(busy: Project, reviewer: Api, query: dict[str, str], number: int) -> None:
    assert len(found(reviewer, **query)) == number


def test_since_takes_a_time(busy: Project, reviewer: Api) -> None:
    later = (timezone.now() + timedelta(minutes=1)).isoformat()
    assert found(reviewer, since=later) == []


@pytest.mark.parametrize(
    "query",
    [
        {"since": "yesterday"}, {"since": "2026-13-01"}, {"since": "9999-12-31T23:00:00-14:00"},
        {"since": "0001-01-01T00:00:00+14:00"}, {"format": "xml"}, {"limit": "x"},
    ],
)  # fmt: skip
def test_an_invalid_filter_is_refused(busy: Project, reviewer: Api, query: dict[str, str]) -> None:
    answer = reviewer.get("/audit", **query)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-request")


def test_events_are_paged(busy: Project, reviewer: Api) -> None:
    first = reviewer.get("/audit", limit="2").json()
    assert [event["sequence"] for event in first["results"]] == sorted(
        (event["sequence"] for event in first["results"]), reverse=True
    )
    assert len(first["results"]) == 2 and "offset=2" in first["next"]


def test_the_log_is_exported_as_json_lines_oldest_first(busy: Project, reviewer: Api) -> None:
    answer = reviewer.get("/audit", format="jsonl")
    assert answer["Content-Type"] == "application/x-ndjson"
    assert "demo-audit.jsonl" in answer["Content-Disposition"]
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[::-1] == found(reviewer)
    some = reviewer.get("/audit", format="jsonl", verb="skill.saved")
    assert len(b"".join(some.streaming_content).splitlines()) == 1


def test_an_exported_log_can_be_verified_without_the_site(
    busy: Project, reviewer: Api, api: Callable[..., Api]
) -> None:
    """Run the code in docs/proposals.md."""
    api("write").send("POST", "/skills", {"skill_md": skill_text("by-an-agent")})
    page = (settings.BASE_DIR / "docs" / "proposals.md").read_text()
    documented: dict[str, Callable[[list[dict[str, object]]], bool]] = {}
    exec(page.split("```python\n")[1].split("```")[0], documented)  # noqa: S102 - our own page
    answer = reviewer.get("/audit", format="jsonl")
    events = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert {event["actor"]["kind"] for event in events} == {"person", "agent", "operator"}
    assert documented["holds"](events)
    for place, change in ((2, {"target": "else"}), (-1, {"actor": {**events[-1]["actor"], "id": 0}})):
        changed = [dict(event) for event in events]
        changed[place].update(change)
        assert not documented["holds"](changed)
    assert not documented["holds"](events[:2] + events[3:])


def test_json_lines_have_an_etag_and_answer_head(busy: Project, reviewer: Api, operator: Actor) -> None:
    answer = reviewer.get("/audit", format="jsonl")
    assert answer["Vary"].startswith("Authorization, Accept") and "RateLimit-Remaining" in answer
    again = {"If-None-Match": answer["ETag"]}
    assert reviewer.get("/audit", again, format="jsonl").status_code == 304
    head = reviewer.client.head(f"{reviewer.base}/audit?format=jsonl", headers=reviewer.headers)
    assert (head.status_code, head["ETag"], b"".join(head.streaming_content)) == (200, answer["ETag"], b"")
    disable_skill(busy, "greeting", by=operator)
    assert reviewer.get("/audit", again, format="jsonl").status_code == 200


def test_an_intact_log_is_verified(busy: Project, reviewer: Api) -> None:
    answer = reviewer.get("/audit/verify").json()
    assert answer == {"verified": True, "events": len(found(reviewer)), "broken": []}


def test_a_changed_log_names_the_broken_event(busy: Project, reviewer: Api) -> None:
    assert reviewer.get("/audit/verify").json()["verified"]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE registry_event SET target = 'else' WHERE verb = 'skill.saved'")
    answer = reviewer.get("/audit/verify").json()
    assert (answer["verified"], len(answer["broken"])) == (False, 1)
    assert answer["broken"][0]["reason"] == "its content was changed"


def test_another_project_has_its_own_log(busy: Project, reviewer: Api, other_project: Project, operator: Actor) -> None:
    projects.describe(other_project, name="Elsewhere", description="", by=operator)
    assert found(reviewer, verb="project.described") == []


@pytest.mark.parametrize("path", ["/audit", "/audit?format=jsonl", "/audit/verify"])
def test_only_reviewers_read_the_log(
    busy: Project, api: Callable[..., Api], person: Callable[[str], User], operator: Actor, path: str
) -> None:
    agent = api(*(scope for scope in roles.SCOPES if scope not in roles.NEVER_FOR_AGENTS))
    author = Api(busy, tokens.create_token(busy, user=person(roles.AUTHOR), scopes=("read", "write"), by=operator))
    for caller in (agent, author):
        assert caller.get(path).status_code == 403
    assert Api(busy, "").get(path).status_code == 401


def test_an_event_contains_the_address_of_the_request(project: Project, api: Callable[..., Api]) -> None:
    api("write").send("POST", "/skills", {"skill_md": skill_text("greeting")}, headers={"X-Forwarded-For": "192.0.2.7"})

    event = Event.objects.filter(verb="skill.created").get()
    assert event.address == "127.0.0.1"
