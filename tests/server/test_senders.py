"""Senders of large bodies are known by their token or session, and counted by person."""

from collections.abc import Callable

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from registry.core import roles
from registry.models import Project
from registry.services import permissions
from registry.services.agents import tokens
from skillsite.server import senders
from tests.conftest import agent_token

Person = Callable[[str], User]


class Headers:
    def __init__(self, **values: str) -> None:
        self.values = values

    def get(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def items(self) -> list[tuple[str, str]]:
        return list(self.values.items())


def test_a_person_is_the_same_sender_with_every_token_and_session(project: Project, person: Person) -> None:
    owner = person(roles.OWNER)
    by = permissions.person(owner, project)
    secrets = [tokens.create_token(project, user=owner, by=by), agent_token(project, "bot", ("read",), by)]
    browser = Client()
    browser.force_login(owner)
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"
    found = {senders.find(Headers(authorization=f"Bearer {secret}")) for secret in secrets}
    assert found | {senders.find(Headers(cookie=cookie))} == {str(owner.pk)}


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer sks_unknown"}, {"authorization": "Basic eDp5"}, {"cookie": "sessionid=unknown"}],
)
def test_a_stranger_has_no_number(db: None, headers: dict[str, str]) -> None:
    assert senders.find(Headers(**headers)) == ""


def test_a_session_without_a_person_belongs_to_a_stranger(db: None) -> None:
    browser = Client()
    browser.session.save()
    assert senders.find(Headers(cookie="; ".join(f"{name}={one.value}" for name, one in browser.cookies.items()))) == ""
