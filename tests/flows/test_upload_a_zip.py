"""An author uploads a zip, looks at the preview and publishes it; the next agent gets the same bytes."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from registry.core import roles
from registry.models import Project, Version
from tests.conftest import Api, skill_text
from tests.flows.conftest import hidden_field, visible_text, write

LIMITS = b"# Limits\n\n25 a day.\n"


def make_zip(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return content.getvalue()


def upload(client: Client, files: dict[str, bytes]) -> Any:
    """Choose a zip on the upload page and send it; a browser follows the redirect to the preview."""
    file = SimpleUploadedFile("greeting.zip", make_zip(files), content_type="application/zip")
    return client.post("/projects/demo/upload/", {"file": file}, follow=True)


def press(client: Client, preview: Any, button: str, **fields: str) -> Any:
    """Press a button of the preview."""
    form = {"do": button, "seen": hidden_field(preview, "seen"), **fields}
    return client.post(preview.request["PATH_INFO"], form, follow=True)


def test_an_author_uploads_a_zip_and_publishes_it(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    author = browser(roles.AUTHOR)
    files = {"greeting/SKILL.md": skill_text(body="Say hello.").encode(), "greeting/references/limits.md": LIMITS}

    preview = upload(author, files)
    page = visible_text(preview)
    assert "From greeting.zip" in page
    assert "references/limits.md" in page
    assert agent.get("/catalog").json()["skills"] == [], "a preview publishes nothing"

    assert press(author, preview, "confirm", note="From the old wiki").status_code == 200
    skill = agent.get("/skills/greeting").json()
    assert (skill["instructions"], skill["version"]) == ("Say hello.", "1")
    assert agent.get("/skills/greeting/files/references/limits.md").json()["content"] == LIMITS.decode()
    assert "From the old wiki" in visible_text(author.get("/projects/demo/skills/greeting/versions/"))


def test_an_author_who_discards_an_upload_leaves_nothing(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    author = browser(roles.AUTHOR)
    preview = upload(author, {"SKILL.md": skill_text().encode()})
    press(author, preview, "discard")

    assert author.get(preview.request["PATH_INFO"]).status_code == 404
    assert agent.get("/skills/greeting").status_code == 404


def test_a_zip_with_a_path_outside_the_skill_is_refused(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    response = upload(browser(roles.AUTHOR), {"SKILL.md": skill_text().encode(), "../evil.py": b"print()"})

    assert response.status_code == 422
    assert "../evil.py" in visible_text(response)
    assert agent.get("/catalog").json()["skills"] == []
    assert not Version.objects.exists()


def test_an_author_looks_again_if_the_skill_changed_after_the_preview(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    author, colleague = browser(roles.AUTHOR), browser(roles.REVIEWER)
    write(author, skill_text(body="First."), "publish")
    preview = upload(author, {"SKILL.md": skill_text(body="From the zip.").encode()})
    base = agent.get("/skills/greeting").json()["digest"]
    write(colleague, skill_text(body="From a colleague."), "publish", name="greeting", base=base)

    second_preview = press(author, preview, "confirm")
    assert "From a colleague." in visible_text(second_preview)
    assert agent.get("/skills/greeting").json()["instructions"] == "From a colleague."

    press(author, second_preview, "confirm")
    skill = agent.get("/skills/greeting").json()
    assert (skill["instructions"], skill["version"]) == ("From the zip.", "3")


def test_a_viewer_proposes_an_upload_and_publishes_nothing(
    project: Project, browser: Callable[[str], Client], agent: Api
) -> None:
    viewer = browser(roles.VIEWER)
    preview = upload(viewer, {"SKILL.md": skill_text(body="A suggestion.").encode()})
    proposal = press(viewer, preview, "propose", justification="We have no greeting yet.")

    assert "We have no greeting yet." in visible_text(proposal)
    assert agent.get("/skills/greeting").status_code == 404
