"""Workflows in the project, a token that may run them, and the command."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.client import Retrying, settings
from registry.client.command import main
from registry.core import roles
from registry.models import Project, User
from registry.services import permissions
from registry.services.permissions import Actor
from tests.client.between import Between
from tests.client.runs import carrying
from tests.client.runs.carrying import Command, Meanwhile
from tests.conftest import agent_token


@pytest.fixture
def token(project: Project, operator: Actor) -> str:
    for name in carrying.WORKFLOWS:
        carrying.publish(project, name)
    return agent_token(project, "bot", ("read", "run"), operator)


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.REVIEWER), project)


@pytest.fixture
def environment(site: Between, token: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"URL": site.url, "PROJECT": "demo", "TOKEN": token, "CACHE": str(cache)}.items():
        monkeypatch.setenv(f"SKILLSITE_{name}", value)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Return a function that sets what happens while the command pauses."""

    def set_actions(*actions: Callable[[], object]) -> None:
        connect, retrying = settings.connect, Retrying(sleep=carrying.meanwhile(*actions), chance=lambda: 0.0)

        def connect_patiently(**given: Any) -> Any:
            client = connect(**given)
            client._http.retrying = replace(retrying, attempts=1)
            return client

        monkeypatch.setattr(settings, "connect", connect_patiently)

    return set_actions


@pytest.fixture
def command(environment: None, capfd: pytest.CaptureFixture[str], token: str) -> Command:
    """Run the command in this process, and check that its output never contains the token."""

    def act(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capfd.readouterr()
        assert token not in out + err
        return code, out, err

    return act
