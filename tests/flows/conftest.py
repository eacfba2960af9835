"""Fixtures of the stories: signed-in browsers, agents with tokens, and storage that is empty at the start."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from registry.models import Project, User
from tests.conftest import Api
from tests.services.isolation import blob_directory, empty_caches
from tests.services.resolving import volume, web

__all__ = ["blob_directory", "empty_caches", "volume", "web"]


@pytest.fixture
def browser(person: Callable[[str], User]) -> Callable[[str], Client]:
    """Return a function that signs a member with the given role in."""

    def sign_in(role: str) -> Client:
        client = Client()
        client.force_login(person(role))
        return client

    return sign_in


@pytest.fixture
def agent(project: Project, api: Callable[..., Api]) -> Api:
    """Return an agent that may read the skills of the project."""
    return api("read")


def visible_text(response: Any) -> str:
    """Return the text of a page as a person reads it."""
    return " ".join(html.unescape(strip_tags(response.content.decode())).split())


def hidden_field(response: Any, name: str) -> str:
    """Return the value of a hidden field of the page, as a browser would send it back."""
    values = re.findall(rf'<input type="hidden" name="{name}" value="([^"]*)"', response.content.decode())
    assert values, f"The page has no hidden field {name}."
    return html.unescape(values[0])


def write(client: Client, text: str, do: str, *, name: str = "", base: str = "", note: str = "") -> Any:
    """Type the text of a SKILL.md into the editor and press the button `do`."""
    address = f"/projects/demo/skills/{name}/edit/" if name else "/projects/demo/new/"
    return client.post(address, {"mode": "raw", "text": text, "do": do, "base": base, "note": note})
