"""Quarantine in the browser."""

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill, save_skill
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in

HERE = "/projects/demo/skills/greeting/"
HOLD, RELEASE = f"{HERE}version/2/quarantine/", f"{HERE}version/2/release/"


@pytest.fixture
def two(project: Project, author: Actor) -> None:
    first = create_skill(project, skill_bundle(body="One."), by=author).version
    save_skill(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author)


@pytest.fixture
def reviewing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))


def test_a_reviewer_puts_a_version_in_quarantine_and_lifts_it(project: Project, two: None, reviewing: Client) -> None:
    assert HOLD in reviewing.get(f"{HERE}versions/").content.decode()
    assert "Agents get version 1 instead." in reviewing.get(HOLD).content.decode()
    shown = reviewing.post(HOLD, {"reason": "Sends <b>keys</b> away."}, follow=True).content.decode()
    assert "Version 2 is in quarantine. Agents can’t load it." in shown
    assert "Sends &lt;b&gt;keys&lt;/b&gt; away." in shown
    assert "Two." in shown
    assert "Restore version 2" not in shown
    assert "bundle.zip" not in shown
    assert catalog.load(project.pk, "greeting").candidate.version == "1"
    history = reviewing.get(f"{HERE}versions/").content.decode()
    assert "In quarantine" in history
    assert RELEASE in history
    assert "put it in quarantine" in history
    assert "is lifted. Agents can load it again." in reviewing.post(RELEASE, follow=True).content.decode()
    assert catalog.load(project.pk, "greeting").candidate.version == "2"


def test_the_page_says_what_happens_with_the_only_version(project: Project, author: Actor, reviewing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    page = f"{HERE}version/1/quarantine/"
    assert "No other version is left, so agents can’t use greeting" in reviewing.get(page).content.decode()
    reviewing.post(page, {"reason": "Odd."})
    shown = reviewing.get(HERE)
    assert shown.status_code == 404
    assert "All versions of greeting are in quarantine or were withdrawn." in shown.content.decode()


@pytest.mark.parametrize("reason", ["", "  ", "x" * 301])
def test_a_reason_is_needed(two: None, reviewing: Client, reason: str) -> None:
    with nothing_left_behind():
        assert reviewing.post(HOLD, {"reason": reason}).status_code == 422


@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR])
def test_others_neither_see_the_buttons_nor_may_press_them(two: None, browser_client: Browser, role: str) -> None:
    client = signed_in(browser_client(role))
    with nothing_left_behind():
        assert HOLD not in client.get(f"{HERE}versions/").content.decode()
        assert client.get(HOLD).status_code == 403
        assert client.post(HOLD, {"reason": "Odd."}).status_code == 403
        assert client.post(RELEASE).status_code == 403


def test_everybody_sees_the_notice_and_nobody_the_button_without_the_role(
    two: None, reviewing: Client, viewing: Client
) -> None:
    reviewing.post(HOLD, {"reason": "Odd."})
    shown = viewing.get(f"{HERE}version/2/").content.decode()
    assert "is in quarantine" in shown
    assert RELEASE not in shown


def test_the_zip_of_a_quarantined_version_is_refused(two: None, reviewing: Client) -> None:
    reviewing.post(HOLD, {"reason": "Odd."})
    assert reviewing.get(f"{HERE}version/2/bundle.zip").status_code == 404
    assert reviewing.get(f"{HERE}bundle.zip").status_code == 200


def test_lifting_needs_a_quarantine(two: None, reviewing: Client) -> None:
    with nothing_left_behind():
        assert reviewing.post(RELEASE).status_code == 409
        assert reviewing.get(RELEASE).status_code == 405
    assert Version.objects.filter(quarantined_at=None).count() == 2
