"""Headers of every response, and pages for the errors that Django raises."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle


@pytest.mark.parametrize(
    "page", ["/projects/", "/account/", "/projects/demo/skills/", "/projects/demo/skills/greeting/bundle.zip"]
)
def test_pages_are_not_stored_in_shared_caches(
    project: Project, operator: Actor, browser_client: Callable[[str], Client], page: str
) -> None:
    skills.create(project, skill_bundle(), by=operator)
    answer = browser_client(roles.VIEWER).get(page)
    assert answer.status_code == 200
    assert "private" in answer["Cache-Control"]


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_form_over_the_size_limit_gets_an_error_page(
    project: Project, browser_client: Callable[[str], Client], settings: Any, headers: dict[str, str]
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    answer = browser_client(roles.AUTHOR).post(
        "/projects/demo/new/",
        "instructions=" + "a" * 1_000,
        content_type="application/x-www-form-urlencoded",
        headers=headers,
    )
    assert answer.status_code == 413
    assert "This is too large" in answer.content.decode()
