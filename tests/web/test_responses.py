"""Headers of every response, and error pages."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project
from registry.services.people import password_throttle
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill


@pytest.mark.parametrize(
    "page", ["/projects/", "/account/", "/projects/demo/skills/", "/projects/demo/skills/greeting/bundle.zip"]
)
def test_pages_are_not_stored_in_shared_caches(
    project: Project, operator: Actor, browser_client: Callable[[str], Client], page: str
) -> None:
    create_skill(project, skill_bundle(), by=operator)
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


def check_error_page(answer: Any, status: int, heading: str) -> None:
    page = answer.content.decode()
    assert answer.status_code == status
    assert f"<h1>{heading}</h1>" in page
    assert f"<title>{heading} ·" in page


def test_a_missing_project_gets_an_error_page(project: Project, browser_client: Callable[[str], Client]) -> None:
    answer = browser_client(roles.VIEWER).get("/projects/missing/skills/")
    check_error_page(answer, 404, "Page not found")


def test_a_page_for_another_role_gets_an_error_page(project: Project, browser_client: Callable[[str], Client]) -> None:
    answer = browser_client(roles.VIEWER).post("/projects/demo/skills/greeting/delete/")
    check_error_page(answer, 403, "You don’t have access")


def test_too_many_wrong_passwords_get_an_error_page(project: Project, browser_client: Callable[[str], Client]) -> None:
    browser = browser_client(roles.VIEWER)
    for _ in range(password_throttle.PER_NAME_AND_NETWORK):
        password_throttle.attempt(roles.VIEWER, address="127.0.0.1")
    check_error_page(browser.post("/account/password/", {}), 429, "Too many attempts")


def test_a_change_of_an_outdated_page_gets_an_error_page(
    project: Project, operator: Actor, browser_client: Callable[[str], Client]
) -> None:
    create_skill(project, skill_bundle(), by=operator)
    answer = browser_client(roles.AUTHOR).post("/projects/demo/skills/greeting/delete/", {"base": "sha256:0"})
    check_error_page(answer, 409, "That didn’t work")


@pytest.fixture
def static(tmp_path: Path, settings: Any) -> None:
    (tmp_path / "page.css").write_text("body {}")
    settings.STATIC_ROOT = tmp_path


@pytest.mark.parametrize(
    ("path", "status"),
    [("/sign-in/", 200), ("/nothing", 404), ("/healthz", 200), ("/static/page.css", 200), ("/api/v1/x", 404)],
)
def test_every_response_restricts_embedding_and_features(
    client: Client, db: None, static: None, path: str, status: int
) -> None:
    with closing(client.get(path)) as answer:
        assert answer.status_code == status
        assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "camera=()" in answer["Permissions-Policy"]
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
        assert "Strict-Transport-Security" not in answer
        assert "Access-Control-Allow-Origin" not in answer


def test_a_public_index_can_be_embedded(client: Client, db: None) -> None:
    answer = client.get("/.well-known/agent-skills/index.json")
    assert answer["Cross-Origin-Resource-Policy"] == "cross-origin"


@pytest.mark.parametrize("path", ["/sign-in/", "/healthz", "/static/page.css"])
def test_a_site_with_https_sends_hsts(client: Client, db: None, static: None, settings: Any, path: str) -> None:
    settings.SECURE_HSTS_SECONDS = 600
    with closing(client.get(path)) as answer:
        assert answer["Strict-Transport-Security"] == "max-age=600"
