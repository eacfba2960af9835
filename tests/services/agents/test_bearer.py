"""Bearer tokens of requests: every entrance refuses, limits and records callers in the same way."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.core.errors import Forbidden, NotFound, Unauthenticated
from registry.models import Agent, Project, Token
from registry.services.agents import agents, bearer, tokens
from registry.services.catalog import usage
from registry.services.permissions import Actor

Send = Callable[[Client, Project, dict[str, str]], Any]


def _read(client: Client, project: Project, headers: dict[str, str]) -> Any:
    return client.get(f"/api/v1/projects/{project.slug}/catalog", headers=headers)


def _write(client: Client, project: Project, headers: dict[str, str]) -> Any:
    return client.delete(f"/api/v1/projects/{project.slug}/skills/greeting", headers=headers)


def _mcp(client: Client, project: Project, headers: dict[str, str]) -> Any:
    return client.post("/mcp", {}, content_type="application/json", headers=headers)


ENTRANCES = pytest.mark.parametrize("send", [_read, _write, _mcp])


@pytest.fixture
def secret(project: Project, operator: Actor) -> str:
    agent = agents.ensure(project, "bot", by=operator)
    return tokens.create_token(project, agent=agent, scopes=("read",), by=operator)


@ENTRANCES
@pytest.mark.parametrize("header", ["", "sks_abc", "Basic sks_abc", "Bearer", "Bearer   "])
def test_a_request_without_a_bearer_token_is_refused(client: Client, project: Project, send: Send, header: str) -> None:
    response = send(client, project, {"Authorization": header} if header else {})
    assert response.status_code == 401
    assert "Send a token: Authorization: Bearer sks_…" in response.content.decode()
    assert response["WWW-Authenticate"].startswith(bearer.CHALLENGE)


@ENTRANCES
def test_a_caller_is_recorded_as_seen(client: Client, project: Project, secret: str, send: Send) -> None:
    began = timezone.now()
    assert send(client, project, {"Authorization": f"bearer  {secret} "}).status_code != 401
    usage.flush()
    seen, used = Agent.objects.get().last_seen_at, Token.objects.get().last_used_at
    assert seen is not None and seen == used
    assert timedelta(0) <= seen - began < timedelta(minutes=1)


@ENTRANCES
def test_every_entrance_has_a_rate_limit(
    client: Client, project: Project, secret: str, send: Send, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.services.throttle.time.time", lambda: 2_000_010.0)
    settings.RATE_LIMIT_READ = settings.RATE_LIMIT_WRITE = 1
    statuses = [send(client, project, {"Authorization": f"Bearer {secret}"}).status_code for _ in range(2)]
    assert statuses[0] != 429
    assert statuses[1] == 429


def test_a_token_of_another_project_gets_not_found_and_is_not_recorded(
    project: Project, other_project: Project, secret: str
) -> None:
    with pytest.raises(NotFound, match="no such project"):
        bearer.identify(f"Bearer {secret}", project=other_project.slug)
    usage.flush()
    assert Agent.objects.get().last_seen_at is None


def test_without_a_project_any_project_is_accepted(project: Project, secret: str) -> None:
    assert bearer.identify(f"Bearer {secret}").project_slug == project.slug


def test_an_unknown_token_is_refused(project: Project) -> None:
    with pytest.raises(Unauthenticated):
        bearer.identify("Bearer sks_unknown")


def test_a_missing_scope_is_named(project: Project, secret: str) -> None:
    caller = bearer.identify(f"Bearer {secret}")
    bearer.require_scope(caller, "read")
    with pytest.raises(Forbidden, match="“write”") as refused:
        bearer.require_scope(caller, "write")
    assert refused.value.data["scope"] == "write"
