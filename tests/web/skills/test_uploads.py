"""The upload page: clear errors, and nothing is published before the person confirms."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from registry.core.archive import zip_bundle as bundle_files
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.limits import Limits
from registry.models import Project, Proposal, Upload, User, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.core.hostile import ONE_OF_EACH, READ_ELSEWHERE, UTF8, Entry, skill_and
from tests.prepared import create_skill
from tests.services.footprint import footprint, nothing_left_behind, stored_files

UPLOAD = "/projects/demo/upload/"


@pytest.fixture
def visited(browser_client: Callable[..., Client]) -> Callable[..., Client]:
    """Return a browser that visited before, so that its session is no trace of the test."""

    def make(role: str, **more: Any) -> Client:
        client = browser_client(role, **more)
        client.get("/projects/")
        return client

    return make


@pytest.fixture
def browser(visited: Callable[..., Client]) -> Client:
    return visited("author")


def sent(content: bytes, name: str = "skill.zip") -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, content)}


def zipped(bundle: Bundle) -> dict[str, Any]:
    return sent(bundle_files.write_zip(bundle))


def send(browser: Client, bundle: Bundle) -> str:
    """Upload a bundle and return the address of the preview."""
    answer = browser.post(UPLOAD, zipped(bundle))
    assert answer.status_code == 302, answer.content.decode()
    return answer.headers["Location"]


# -- Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_hostile_zip_of_each_kind_is_refused_with_a_message_and_leaves_nothing(browser: Client) -> None:
    before = footprint()
    for name, content in ONE_OF_EACH.items():
        answer = browser.post(UPLOAD, sent(content))
        page = answer.content.decode()
        assert answer.status_code in (413, 422), name
        assert 'role="alert"' in page, name
        assert "Nothing was saved." in page, name
        assert 'id="f-file"' in page, name
    assert footprint() == before


@pytest.mark.parametrize("path", READ_ELSEWHERE)
def test_a_path_that_git_or_windows_reads_as_another_is_refused(browser: Client, path: str) -> None:
    with nothing_left_behind():
        answer = browser.post(UPLOAD, sent(skill_and(Entry(path.encode(), b"x", flags=UTF8))))
        assert answer.status_code == 422 and "cannot be used" in answer.content.decode()


@pytest.mark.parametrize(
    "form",
    [
        {},
        sent(b"", "empty.zip"),
        sent(b"not a zip"),
        sent(b"no header", "a.md"),
        sent(b"\xff\xfe", "a.md"),
        sent(b"---\nname: a\nname: b\ndescription: c\n---\n", "a.md"),
        {"file": [SimpleUploadedFile("a.zip", b"x"), SimpleUploadedFile("b.zip", b"y")]},
        {**sent(b"x", "SKILL.md"), "path": ["a/SKILL.md", "a/more.md"]},
        {**sent(b"x", "SKILL.md"), "path": ["../SKILL.md"]},
        {"file": [SimpleUploadedFile("a", b"x"), SimpleUploadedFile("b", b"y")], "path": ["d/a", "d/a"]},
    ],
)
def test_an_invalid_upload_is_refused_and_leaves_nothing(browser: Client, form: dict[str, Any]) -> None:
    with nothing_left_behind():
        answer = browser.post(UPLOAD, form)
    assert answer.status_code == 422
    assert 'id="f-file"' in answer.content.decode()


def test_a_too_large_upload_names_both_sizes(browser: Client, settings: Any) -> None:
    settings.LIMITS = Limits(archive_bytes=1_000)
    with nothing_left_behind():
        answer = browser.post(UPLOAD, sent(b"x" * 100_000))
        smaller = browser.post(UPLOAD, sent(b"x" * 1_500))
    assert (answer.status_code, smaller.status_code) == (413, 413)
    assert "1,000 are allowed" in answer.content.decode()
    assert "1,500 bytes. 1,000 are allowed" in smaller.content.decode()


def test_too_many_files_are_refused_before_reading(browser: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 3
    files = [SimpleUploadedFile(f"{n}.md", b"x") for n in range(5)]
    with nothing_left_behind():
        answer = browser.post(UPLOAD, {"file": files, "path": [f"d/{n}.md" for n in range(5)]})
    assert answer.status_code == 413
    assert "1,000 allowed" in answer.content.decode()


@pytest.mark.parametrize(("role", "protected"), [("viewer", False), ("author", True), ("owner", True)])
def test_a_viewer_proposes_an_upload(
    visited: Callable[..., Client], project: Project, role: str, protected: bool
) -> None:
    Project.objects.update(protected=protected)
    client = visited(role)
    assert UPLOAD in client.get("/projects/demo/skills/").content.decode()
    preview = send(client, skill_bundle())
    html = client.get(preview).content.decode()
    assert 'value="propose"' in html
    assert 'value="confirm"' not in html
    with nothing_left_behind():
        assert client.post(preview, {"do": "confirm", "seen": ""}).status_code == 403
        refused = client.post(preview, {"do": "propose", "seen": "", "justification": " "})
    assert refused.status_code == 422
    assert "The justification is missing." in refused.content.decode()
    answer = client.post(preview, {"do": "propose", "seen": "", "justification": "We need it."}, follow=True)
    assert "is waiting for review" in answer.content.decode()
    made = Proposal.objects.get()
    assert (made.kind, made.result_digest) == ("create", skill_bundle().digest)
    assert not Version.objects.exists()
    assert not Upload.objects.exists()


def test_an_upload_with_errors_for_authors_is_not_proposed(visited: Callable[..., Client]) -> None:
    client = visited("viewer")
    preview = send(client, skill_bundle("Odd_Name"))
    with nothing_left_behind():
        refused = client.post(preview, {"do": "propose", "seen": "", "justification": "My words."})
    assert refused.status_code == 422
    html = refused.content.decode()
    assert "<code>SKILL.md:2</code>" in html
    assert "My words." in html


def test_a_proposed_upload_is_previewed_again_after_another_save(
    visited: Callable[..., Client], project: Project, author: Actor
) -> None:
    client = visited("viewer")
    preview = send(client, skill_bundle(body="New."))
    create_skill(project, skill_bundle(), by=author)
    with nothing_left_behind():
        answer = client.post(preview, {"do": "propose", "seen": "", "justification": "Why."})
    assert (answer.status_code, answer.headers["Location"]) == (302, preview)
    assert "This becomes a proposal to change greeting." in client.get(preview).content.decode()


def test_a_member_of_another_project_finds_nothing(project: Project, django_user_model: type[User]) -> None:
    stranger = Client()
    stranger.force_login(django_user_model.objects.create(username="stranger"))
    assert stranger.get(UPLOAD).status_code == 404
    assert stranger.post(UPLOAD, zipped(skill_bundle())).status_code == 404
    assert not Upload.objects.exists()


def test_an_upload_needs_a_csrf_token(visited: Callable[..., Client], browser: Client) -> None:
    strict = visited("author", strict=True)
    preview = send(browser, skill_bundle())
    with nothing_left_behind():
        assert strict.post(UPLOAD, zipped(skill_bundle("other"))).status_code == 403
        assert strict.post(preview, {"do": "confirm", "seen": ""}).status_code == 403
        assert strict.post(preview, {"do": "leave"}).status_code == 403


def test_another_person_cannot_open_the_preview(browser: Client, browser_client: Callable[..., Client]) -> None:
    preview = send(browser, skill_bundle())
    other = browser_client("reviewer")
    assert other.get(preview).status_code == 404
    assert other.post(preview, {"do": "confirm", "seen": ""}).status_code == 404
    other.post(preview, {"do": "leave"})
    assert browser.get(preview).status_code == 200
    assert not Version.objects.exists()


# -- The preview --------------------------------------------------------------------------------------------------


def test_the_preview_shows_the_effect_and_stores_nothing(browser: Client) -> None:
    page = browser.get(send(browser, skill_bundle(files={"references/lonely.md": b"x"}))).content.decode()
    for words in (
        "greeting",
        "references/lonely.md",
        "This is a new skill, version 1.",
        "Publish greeting",
        "The skill never mentions",
    ):
        assert words in page
    assert not Version.objects.exists()
    assert all(name.startswith("uploads/") for name in stored_files())


def test_a_new_version_shows_the_difference(browser: Client, project: Project, author: Actor) -> None:
    create_skill(project, skill_bundle(files={"references/gone.md": b"x"}), by=author)
    page = browser.get(send(browser, skill_bundle(body="Quite new."))).content.decode()
    for words in ("This becomes version 2 of greeting.", "references/gone.md", "Publish version 2", "Quite"):
        assert words in page


def test_the_preview_of_a_customisation_names_the_built_in_skill(browser: Client, library: Any) -> None:
    on_disk(library, "greeting")
    page = browser.get(send(browser, skill_bundle(body="Ours."))).content.decode()
    assert "instead of the built-in skill and its files" in page


def test_uploading_the_same_files_changes_nothing(browser: Client, project: Project, author: Actor) -> None:
    create_skill(project, skill_bundle(), by=author)
    preview = send(browser, skill_bundle())
    assert "already has exactly these files" in browser.get(preview).content.decode()
    current = catalog.get(project.pk, "greeting").winner
    assert current is not None
    browser.post(preview, {"do": "confirm", "seen": current.digest})
    assert Version.objects.count() == 1


def test_hostile_content_cannot_run_on_the_preview(browser: Client) -> None:
    evil = "<script>alert(1)</script>"
    bundle = skill_bundle(description=f"Says {evil}. Use when asked.", body=evil, files={"references/a&b.md": b"<b>"})
    browser.post(UPLOAD, sent(bundle_files.write_zip(bundle), f'"{evil}.zip'))
    key = Upload.objects.get().key
    assert evil not in browser.get(f"{UPLOAD}{key}/").content.decode()


# -- Deciding -----------------------------------------------------------------------------------------------------


def test_publishing_an_upload_stores_the_bytes_and_deletes_it(browser: Client, project: Project) -> None:
    bundle = skill_bundle()
    preview = send(browser, bundle)
    answer = browser.post(preview, {"do": "confirm", "seen": "", "note": "From the wiki"})
    assert answer.headers["Location"] == "/projects/demo/skills/greeting/"
    assert (Version.objects.get().digest, Version.objects.get().note) == (bundle.digest, "From the wiki")
    assert not Upload.objects.exists()
    assert browser.get(preview).status_code == 404
    assert browser.post(preview, {"do": "confirm", "seen": ""}).status_code == 404
    assert Version.objects.count() == 1


@pytest.mark.parametrize(("do", "status"), [("discard", 302), ("leave", 204)])
def test_discarding_or_leaving_deletes_the_upload(browser: Client, do: str, status: int) -> None:
    with nothing_left_behind():
        preview = send(browser, skill_bundle())
        assert browser.post(preview, {"do": do}).status_code == status
    gone = browser.get(preview)
    assert gone.status_code == 404
    assert "This upload no longer exists" in gone.content.decode()
    assert 'id="f-file"' in gone.content.decode()


def test_a_note_that_is_too_long_keeps_the_upload(browser: Client) -> None:
    answer = browser.post(send(browser, skill_bundle()), {"do": "confirm", "seen": "", "note": "x" * 301})
    assert answer.status_code == 422
    assert "301 characters. 300 are allowed" in answer.content.decode()
    assert Upload.objects.count() == 1
    assert not Version.objects.exists()


def test_an_upload_is_previewed_again_after_another_save(browser: Client, project: Project, author: Actor) -> None:
    preview = send(browser, skill_bundle(body="New."))
    create_skill(project, skill_bundle(), by=author)
    answer = browser.post(preview, {"do": "confirm", "seen": ""})
    assert answer.headers["Location"] == preview
    assert "Somebody else saved greeting since you opened this page" in browser.get(preview).content.decode()
    assert Version.objects.count() == 1


def test_a_folder_or_a_single_file_is_accepted(browser: Client) -> None:
    text = skill_text().encode()
    folder = {
        "file": [SimpleUploadedFile("SKILL.md", text), SimpleUploadedFile("a.md", b"x")],
        "path": ["greeting/SKILL.md", "greeting/references/a.md"],
    }
    assert "references/a.md" in browser.get(browser.post(UPLOAD, folder).headers["Location"]).content.decode()
    single = browser.post(UPLOAD, sent(text, "anything.md"))
    assert SKILL_MD in browser.get(single.headers["Location"]).content.decode()
