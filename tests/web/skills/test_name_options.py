"""Skill names that the forms suggest while a member types."""

from pathlib import Path

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project
from registry.services.catalog import built_in
from registry.services.people import accounts
from registry.services.permissions import Actor
from registry.web.skills import name_options
from tests.conftest import on_disk
from tests.web.agents.pages import NEW
from tests.web.conftest import Browser

NAMES = "/projects/demo/names"


@pytest.fixture
def very_many(project: Project, library: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(name_options, "MOST", 3)
    for name in ("alpha", "beta", "delta", "gamma", "metal-alloy"):
        on_disk(library, name)
    built_in.index().refresh()
    return project


@pytest.mark.parametrize("where", [NEW, "/projects/demo/new/"])
def test_the_form_contains_some_names_and_links_to_the_others(
    very_many: Project, browser_client: Browser, where: str
) -> None:
    page = browser_client(roles.OWNER).get(where)
    assert page.context["known_names"] == ["alpha", "beta", "delta"]
    assert f'<datalist id="known-names" data-more="{NAMES}">' in page.content.decode()


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("", ["alpha", "beta", "delta"]),
        ("al", ["alpha", "metal-alloy"]),
        (" GA ", ["gamma"]),
        ("lta", ["delta"]),
        ("nothing", []),
        ("</datalist><script>", []),
    ],
)
def test_names_that_start_with_the_word_are_suggested_first(
    very_many: Project, browser_client: Browser, typed: str, names: list[str]
) -> None:
    answer = browser_client(roles.VIEWER).get(NAMES, {"q": typed})
    assert answer.content.decode() == "".join(f'<option value="{name}"></option>' for name in names)
    assert answer["Cache-Control"] == "private, no-store"


def test_only_members_get_name_suggestions(very_many: Project, client: Client, operator: Actor) -> None:
    assert client.get(NAMES).status_code == 302
    client.force_login(accounts.create_user("stranger", by=operator))
    assert client.get(NAMES).status_code == 404
    assert client.post(NAMES).status_code in (404, 405)
