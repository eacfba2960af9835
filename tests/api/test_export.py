"""A whole project over the API as one zip: who gets what of it, and when it is sent again."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Project, User
from registry.services.agents import agents, tokens
from registry.services.catalog import built_in
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import Api, on_disk, skill_bundle


@pytest.fixture
def filled(project: Project, library: Path, operator: Actor) -> Project:
    on_disk(library, "bundled-one")
    built_in.index().refresh()
    for name in ("one", "two", "off"):
        skills.create(project, skill_bundle(name, {"a.bin": b"\0"}), by=operator)
    skills.disable(project, "off", by=operator)
    return project


@pytest.fixture
def member(filled: Project, person: Callable[[str], User], operator: Actor) -> Api:
    return Api(filled, tokens.create_token(filled, user=person(roles.VIEWER), scopes=("read",), by=operator))


def held(response: Any) -> list[str]:
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    content = b"".join(response.streaming_content)
    assert len(content) == int(response["Content-Length"])
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    return [name.removesuffix("/SKILL.md") for name in names if name.endswith("SKILL.md")]


def test_a_member_gets_all_skills_of_the_project_those_switched_off_too(member: Api) -> None:
    response = member.get("/export.zip")
    assert held(response) == ["off", "one", "two"]
    assert response["Content-Disposition"] == 'attachment; filename="demo-skills.zip"'
    assert response["Cache-Control"] == "private, no-cache"


def test_an_agent_gets_what_is_switched_on(filled: Project, api: Callable[..., Api]) -> None:
    assert held(api("read").get("/export.zip")) == ["one", "two"]


def test_all_that_agents_get_is_asked_for(member: Api) -> None:
    assert held(member.get("/export.zip", effective="1")) == ["bundled-one", "one", "two"]


def test_an_agent_with_a_list_of_skills_gets_those(filled: Project, api: Callable[..., Api], operator: Actor) -> None:
    bot = api("read")
    agents.update(filled, "bot", Definition(allowed_skills=("two", "bundled-one", "off")), by=operator)
    assert held(bot.get("/export.zip")) == ["two"]
    assert held(bot.get("/export.zip", effective="1")) == ["bundled-one", "two"]


def test_it_is_sent_again_only_after_a_change(filled: Project, member: Api, operator: Actor) -> None:
    etag = member.get("/export.zip")["ETag"]
    again = member.get("/export.zip", headers={"If-None-Match": etag})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    skills.enable(filled, "off", by=operator)
    assert member.get("/export.zip", headers={"If-None-Match": etag}).status_code == 200


def test_people_and_agents_and_the_two_kinds_have_etags_of_their_own(
    filled: Project, member: Api, api: Callable[..., Api]
) -> None:
    bot = api("read")
    tags = [who.get("/export.zip", **query)["ETag"] for who in (member, bot) for query in ({}, {"effective": "1"})]
    assert len(set(tags)) == 4


def test_asked_for_its_head_nothing_is_read(member: Api) -> None:
    head = member.client.head(f"{member.base}/export.zip", headers=member.headers)
    assert (head.status_code, b"".join(head.streaming_content)) == (200, b"")
    assert int(head["Content-Length"]) == len(b"".join(member.get("/export.zip").streaming_content))


def test_it_costs_as_many_queries_for_many_skills_as_for_few(filled: Project, member: Api, operator: Actor) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            held(member.get("/export.zip"))
        return len(captured)

    few = cost()
    for number in range(10):
        skills.create(filled, skill_bundle(f"more-{number}"), by=operator)
    assert cost() == few == 2


@pytest.mark.parametrize(("query", "status"), [({"effective": "maybe"}, 400), ({"effective": "0"}, 200)])
def test_what_is_asked_for_is_yes_or_no(member: Api, query: dict[str, str], status: int) -> None:
    assert member.get("/export.zip", **query).status_code == status


def test_without_a_token_nothing_is_told(filled: Project, operator: Actor) -> None:
    assert Api(filled, "").get("/export.zip").status_code == 401
    projects.set_public(filled, True, by=operator)
    assert Api(filled, "").get("/export.zip").status_code == 401


def test_a_token_without_the_scope_is_refused(filled: Project, api: Callable[..., Api]) -> None:
    assert api("propose").get("/export.zip").status_code == 403


def test_a_token_of_another_project_finds_nothing(
    filled: Project, other_project: Project, api: Callable[..., Api]
) -> None:
    stranger = api("read", where=other_project)
    stranger.base = f"/api/v1/projects/{filled.slug}"
    assert stranger.get("/export.zip").status_code in (401, 404)


def test_it_is_only_ever_read(member: Api) -> None:
    assert member.send("POST", "/export.zip").status_code in (403, 405)
