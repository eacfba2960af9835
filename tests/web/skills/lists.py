"""Skills to list, and the list of skills."""

from typing import Any

from django.test import Client

from registry.models import Project
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill

LIST = "/projects/demo/skills/"


def write(project: Project, *names: str, by: Actor, **more: Any) -> None:
    for name in names:
        create_skill(project, skill_bundle(name, **more), by=by)


def text(client: Client, query: str = "", **more: Any) -> str:
    response = client.get(f"{LIST}{query}", **more)
    assert response.status_code == 200
    return response.content.decode()


def names(client: Client, query: str = "") -> list[str]:
    return [row.name for row in client.get(f"{LIST}{query}").context["rows"]]


def tick(client: Client, act: str, *ticked: str, tag: str = "", query: str = "") -> Any:
    return client.post(f"{LIST}{query}", {"act": act, "skill": ticked, "tag": tag})
