"""Tokens in the address of well-known discovery, which never reach a log."""

import io
import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.core.bundle import Bundle
from registry.models import Project
from registry.services.agents import agents
from registry.services.agents.agents import Definition
from registry.services.permissions import Actor
from skillsite.logs import Masked, masked
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.protocols.discovery import NEW, OLD, digest, names, revoke_all
from tests.protocols.mcp_client import Mcp


def test_a_read_only_token_in_the_url_reads_its_project(
    client: Client, offers: Bundle, secret: Callable[..., str]
) -> None:
    base = f"/t/{secret()}"
    (entry,) = client.get(f"{base}{NEW}/index.json").json()["skills"]
    answer = client.get(entry["url"])
    assert digest(answer.content) == entry["digest"]
    assert answer["Cache-Control"] == "private, no-cache"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert names(client.get(f"{base}/skills/offers{NEW}/index.json")) == ["offers"]
    assert names(client.get(f"{base}{OLD}/index.json")) == ["offers"]
    assert Mcp("", f"{base}/mcp").ask("skills/list")["skills"][0]["uri"] == "skill://offers/SKILL.md"


@pytest.mark.parametrize("scopes", [("read", "propose"), ("propose",), ("read", "write"), ("read", "run")])
def test_a_token_with_more_scopes_is_refused_in_the_url(
    client: Client, offers: Bundle, secret: Callable[..., str], scopes: tuple[str, ...]
) -> None:
    base = f"/t/{secret(*scopes)}"
    answer = client.get(f"{base}{NEW}/index.json")
    assert answer.status_code == 403
    assert "must have “read” as its only scope" in answer.content.decode()
    assert answer["Referrer-Policy"] == "no-referrer"
    refused = Mcp("", f"{base}/mcp").request("skills/list")
    assert refused.status_code == 403
    assert "only scope" in refused.json()["error"]["message"]


def test_a_revoked_token_in_the_url_is_refused(
    client: Client, project: Project, offers: Bundle, secret: Callable[..., str], operator: Actor
) -> None:
    base = f"/t/{secret()}"
    assert client.get(f"{base}{NEW}/offers.zip").status_code == 200
    revoke_all(project, operator)
    for path in (f"{NEW}/index.json", f"{NEW}/offers.zip", f"{OLD}/offers/SKILL.md"):
        assert client.get(base + path).status_code == 401
    assert Mcp("", f"{base}/mcp").request("skills/list").status_code == 401


@pytest.mark.parametrize("wrong", ["sks_wrong", "x", "%2e%2e", "sks_%C3%BF"])
def test_an_unknown_token_is_refused(client: Client, offers: Bundle, wrong: str) -> None:
    answer = client.get(f"/t/{wrong}{NEW}/index.json")
    assert answer.status_code == 401
    assert b"offers" not in answer.content


def test_a_token_reads_no_other_project(
    client: Client, offers: Bundle, other_project: Project, secret: Callable[..., str]
) -> None:
    base = f"/t/{secret(where=other_project)}"
    assert names(client.get(f"{base}{NEW}/index.json")) == []
    assert client.get(f"{base}{NEW}/offers.zip").status_code == 404


def test_discovery_respects_the_visible_skills_of_an_agent(
    client: Client, project: Project, offers: Bundle, secret: Callable[..., str], operator: Actor
) -> None:
    create_skill(project, skill_bundle("greeting"), by=operator)
    base = f"/t/{secret()}"
    assert names(client.get(f"{base}{NEW}/index.json")) == ["greeting", "offers"]
    agents.update(project, "bot", Definition(allowed_skills=("greeting",)), by=operator)
    assert names(client.get(f"{base}{NEW}/index.json")) == ["greeting"]
    assert names(client.get(f"{base}{OLD}/index.json")) == ["greeting"]
    assert client.get(f"{base}{NEW}/offers.zip").status_code == 404
    assert client.get(f"{base}/skills/offers{NEW}/index.json").status_code == 404


def test_a_token_in_a_url_is_never_logged(
    client: Client, offers: Bundle, secret: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    token = secret()
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Masked("%(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        client.get(f"/t/{token}{NEW}/absent.zip")
        logging.getLogger("registry").error("token %s at /t/%s/mcp", token, token)
        try:
            raise ValueError(token)
        except ValueError:
            logging.getLogger("registry").exception("crash")
    finally:
        root.removeHandler(handler)
    written = stream.getvalue() + capsys.readouterr().err
    assert "/t/***/.well-known/agent-skills/absent.zip" in written
    assert "ValueError" in written
    assert token not in written


def test_every_log_handler_masks_tokens(settings: Any) -> None:
    said = settings.LOGGING
    assert all(
        said["formatters"][one["formatter"]]["class"] == "skillsite.logs.Masked" for one in said["handlers"].values()
    )
    assert logging.getLogger("django").handlers == []
    assert logging.getLogger("django.server").handlers == []


@pytest.mark.parametrize(
    "line",
    [
        "GET /t/sks_SECRET/mcp", "GET /t/SECRET", "/sign-in/SECRET/", "/invitation/SECRET/", "Bearer sks_SECRET-x_y",
        "%2Ft%2FSECRET%2Fmcp", "?next=%2faccount%2fmail%2fSECRET%2f", "http://host/t/SECRET?x", "'/t/SECRET/'",
    ],
)  # fmt: skip
def test_secrets_are_masked_anywhere_in_a_line(line: str) -> None:
    assert "SECRET" not in masked(line)
    assert "***" in masked(line)


@pytest.mark.parametrize("line", ["GET /tools/x", "/test/abc", "/projects/t", "/sign-in/", "risks_are low"])
def test_other_words_are_not_masked(line: str) -> None:
    assert masked(line) == line
