"""The download of all skills, from the page that lists them."""

import io
import zipfile
from collections.abc import Callable

from django.test import Client

from registry.core import roles
from registry.models import Project, User
from registry.services.people import accounts
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill

LIST, ZIP = "/projects/demo/skills/", "/projects/demo/export.zip"


def test_every_member_downloads_all_skills(
    project: Project, browser_client: Callable[..., Client], operator: Actor
) -> None:
    create_skill(project, skill_bundle(files={"ü.bin": b"\0"}), by=operator)
    viewer = browser_client(roles.VIEWER)
    assert ZIP in viewer.get(LIST).content.decode()
    response = viewer.get(ZIP)
    content = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    assert zipfile.ZipFile(io.BytesIO(content)).namelist() == [
        ".skillsite.json", "greeting/SKILL.md", "greeting/ü.bin",
    ]  # fmt: skip
    assert response["Content-Length"] == str(len(content))
    assert response["Content-Disposition"] == 'attachment; filename="demo-skills.zip"'


def test_a_project_without_skills_has_no_download_button(
    project: Project, browser_client: Callable[..., Client]
) -> None:
    assert ZIP not in browser_client(roles.OWNER).get(LIST).content.decode()


def test_a_member_of_another_project_cannot_download(project: Project, operator: Actor, client: Client) -> None:
    assert client.get(ZIP).status_code == 302
    client.force_login(User.objects.get(pk=accounts.create_user("stranger", by=operator).pk))
    assert client.get(ZIP).status_code == 404


def test_the_download_accepts_only_get_and_changes_nothing(
    project: Project, browser_client: Callable[..., Client]
) -> None:
    assert browser_client(roles.OWNER).post(ZIP).status_code == 405
