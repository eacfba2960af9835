"""The conflict page of an outdated draft."""

from collections.abc import Callable

import pytest
from django.test import Client

from registry.core.bundle import SKILL_MD
from registry.models import Draft, User, Version
from registry.services import permissions
from registry.services.catalog import catalog
from tests.conftest import skill_bundle, skill_text
from tests.prepared import save_skill
from tests.web.editor.forms import CONFLICT, EDIT, raw


@pytest.fixture
def outdated(browser: Client, greeting: Version, person: Callable[[str], User]) -> Version:
    """Save a draft of the author, then version 2 by the reviewer; both changed the same line."""
    ours = skill_text("greeting", body="Say good morning.")
    raw(browser, EDIT, "save", ours, base=greeting.digest)
    project = greeting.skill.project
    reviewer = permissions.person(person("reviewer"), project)
    theirs = skill_bundle("greeting", {"references/names.md": b"Grace\n"}, body="Say good evening.")
    return save_skill(project, "greeting", theirs, base=greeting.digest, by=reviewer).version


def test_publishing_an_outdated_draft_leads_to_the_conflict_page(browser: Client, outdated: Version) -> None:
    ours = skill_text("greeting", body="Say good morning.")
    answer = raw(browser, EDIT, "publish", ours)
    assert answer.headers["Location"] == CONFLICT
    page = browser.get(CONFLICT).content.decode()
    for words in ("reviewer published version 2", "Publish version 3", "morning", "evening", "Keep yours"):
        assert words in page
    assert "Somebody else saved greeting since you started" in browser.get(EDIT).content.decode()
    assert Version.objects.count() == 2


@pytest.mark.parametrize(("answer", "line"), [("theirs", b"evening"), ("mine", b"morning")])
def test_the_chosen_side_is_published(browser: Client, outdated: Version, answer: str, line: bytes) -> None:
    page = browser.get(CONFLICT).content.decode()
    key = page.split('type="radio" name="')[1].split('"')[0]
    browser.post(CONFLICT, {"theirs": outdated.digest, key: answer, "do": "save"})
    assert Version.objects.count() == 2
    text = Draft.objects.get().content["text"] if answer == "mine" else ""
    assert ("morning" in text) == (answer == "mine")
    browser.post(CONFLICT, {"theirs": outdated.digest, key: answer, "do": "publish"})
    if answer == "mine":
        raw(browser, EDIT, "publish", text)
    stored = catalog.load(outdated.skill.project_id, "greeting").bundle()
    assert line in stored[SKILL_MD]
    assert stored["references/names.md"] == b"Grace\n"


def test_old_answers_do_not_overwrite_a_later_version(browser: Client, outdated: Version) -> None:
    answer = browser.post(CONFLICT, {"theirs": "sha256:" + "0" * 64, "do": "publish"})
    assert answer.headers["Location"] == CONFLICT
    assert Version.objects.count() == 2
    assert "morning" in Draft.objects.get().content["text"]


def test_without_a_conflict_the_page_redirects_to_the_editor(browser: Client, greeting: Version) -> None:
    assert browser.get(CONFLICT).headers["Location"] == EDIT
    assert browser.post(CONFLICT, {"theirs": greeting.digest, "do": "publish"}).status_code == 302
    assert Version.objects.count() == 1
