"""The export of a project as one zip: its content for each caller, its ETag, and its permissions."""

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
from tests.prepared import create_skill, disable_skill


@pytest.fixture
def filled(project: Project, library: Path, operator: Actor) -> Project:
    on_disk(library, "bundled-one")
    built_in.index().refresh()
    for name in ("one", "two", "off"):
        create_skill(project, skill_bundle(name, {"a.bin": b"\0"}), by=operator)
    disable_skill(project, "off", by=operator)
    return project


@pytest.fixture
def member(filled: Project, person: Callable[[str], User], operator: Actor) -> Api:
    return Api(filled, tokens.create_token(filled, user=person(roles.VIEWER), scopes=("read",), by=operator))


def exported(response: Any) -> list[str]:
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    content = b"".join(response.streaming_content)
    assert len(content) == int(response["Content-Length"])
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    return [name.removesuffix("/SKILL.md") for name in names if name.endswith("SKILL.md")]


def test_a_member_exports_all_skills_including_disabled_ones(member: Api) -> None:
    response = member.get("/export.zip")
    assert exported(response) == ["off", "one", "two"]
    assert response["Content-Disposition"] == 'attachment; filename="demo-skills.zip"'
    assert response["Cache-Control"] == "private, no-cache"


def test_an_agent_exports_enabled_skills(filled: Project, api: Callable[..., Api]) -> None:
    assert exported(api("read").get("/export.zip")) == ["one", "two"]


def test_effective_exports_built_in_skills_too(member: Api) -> None:
    assert exported(member.get("/export.zip", effective="1")) == ["bundled-one", "one", "two"]


def test_an_agent_with_allowed_skills_exports_only_those(
    filled: Project, api: Callable[..., Api], operator: Actor
) -> None:
    bot = api("read")
    agents.update(filled, "bot", Definition(allowed_skills=("two", "bundled-one", "off")), by=operator)
    assert exported(bot.get("/export.zip")) == ["two"]
    assert exported(bot.get("/export.zip", effective="1")) == ["bundled-one", "two"]


def test_an_export_answers_304_until_a_change(filled: Project, member: Api, operator: Actor) -> None:
    etag = member.get("/export.zip")["ETag"]
    again = member.get("/export.zip", headers={"If-None-Match": etag})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    skills.enable(filled, "off", by=operator)
    assert member.get("/export.zip", headers={"If-None-Match": etag}).status_code == 200


def test_etags_differ_between_people_agents_and_kinds_of_export(
    filled: Project, member: Api, api: Callable[..., Api]
) -> None:
    bot = api("read")
    tags = [who.get("/export.zip", **query)["ETag"] for who in (member, bot) for query in ({}, {"effective": "1"})]
    assert len(set(tags)) == 4


def test_head_reads_no_skill(member: Api) -> None:
    head = member.client.head(f"{member.base}/export.zip", headers=member.headers)
    assert (head.status_code, b"".join(head.streaming_content)) == (200, b"")
    assert int(head["Content-Length"]) == len(b"".join(member.get("/export.zip").streaming_content))


def test_queries_do_not_grow_with_the_number_of_exported_skills(filled: Project, member: Api, operator: Actor) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            exported(member.get("/export.zip"))
        return len(captured)

    few = cost()
    for number in range(10):
        create_skill(filled, skill_bundle(f"more-{number}"), by=operator)
    assert cost() == few == 2


@pytest.mark.parametrize(("query", "status"), [({"effective": "maybe"}, 400), ({"effective": "0"}, 200)])
def test_an_invalid_flag_is_refused(member: Api, query: dict[str, str], status: int) -> None:
    assert member.get("/export.zip", **query).status_code == status


def test_an_export_without_a_token_is_refused(filled: Project, operator: Actor) -> None:
    assert Api(filled, "").get("/export.zip").status_code == 401
    projects.set_public(filled, True, by=operator)
    assert Api(filled, "").get("/export.zip").status_code == 401


def test_a_token_without_the_scope_is_refused(filled: Project, api: Callable[..., Api]) -> None:
    assert api("propose").get("/export.zip").status_code == 403


def test_a_token_of_another_project_gets_404(filled: Project, other_project: Project, api: Callable[..., Api]) -> None:
    stranger = api("read", where=other_project)
    stranger.base = f"/api/v1/projects/{filled.slug}"
    assert stranger.get("/export.zip").status_code in (401, 404)


def test_other_methods_are_refused(member: Api) -> None:
    assert member.send("POST", "/export.zip").status_code in (403, 405)
