"""Adding many test questions at once: pasted lines, files, and the questions of a skill."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from registry.models import GoldenCase, Project
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind
from tests.web.routing.pages import HOSTILE, QUESTIONS, ask, text

PAGE = f"{QUESTIONS}import/"
LINES = "Money back?\trefund-reply\nWeather?\t-\n"


def test_questions_are_checked_before_they_are_saved(skilled: Project, author: Actor, writing: Client) -> None:
    ask(skilled, "money back?", by=author)
    with nothing_left_behind():
        html = text(writing.post(PAGE, {"text": LINES, "do": "check"}))
    assert "2 questions can be saved:" in html
    assert "1 new, 1 in place of a question with the same words. Nothing is saved yet." in " ".join(html.split())
    assert "Money back?" in html
    html = text(writing.post(PAGE, {"text": LINES, "do": "save"}, follow=True))
    assert "1 test question added, 1 replaced." in html
    assert set(GoldenCase.objects.values_list("query", "category")) == {
        ("Money back?", "positive"),
        ("Weather?", "negative"),
    }


def test_a_file_is_read_and_its_text_can_be_corrected(skilled: Project, writing: Client) -> None:
    entries = json.dumps([{"query": "Möney?", "should_trigger": True}]).encode()
    sent = {"file": SimpleUploadedFile("cases.json", entries), "skill": "refund-reply", "do": "check"}
    html = text(writing.post(PAGE, sent))
    assert "1 question can be saved:" in html
    assert "should find refund-reply" in html
    assert "should_trigger&quot;: true" in html


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ("", "the text is empty"),
        ("only a question", "Line 1: There is no answer."),
        ("a\tb\nc\n\nd\te\tnonsense", "Line 2: There is no answer."),
        ("[{]", "This is not valid JSON"),
        ('[{"query": "a"}]', "Entry 1: The answer is missing."),
        ('[{"query": "a", "should_trigger": true}]', "does not say which skill"),
        ("a\tb\nA\tc", "the same question as in line 1"),
        ("question\tskill\tcolour\na\tb\tred", "is not known. Rename or remove it."),
    ],
)
def test_errors_name_their_line_and_nothing_is_saved(project: Project, writing: Client, sent: str, error: str) -> None:
    for do in ("check", "save"):
        with nothing_left_behind():
            html = text(writing.post(PAGE, {"text": sent, "do": do}), 422)
        assert error in html
        assert html.count("Nothing was saved.") == 1


@pytest.mark.parametrize(
    ("content", "error"),
    [(b"\xff\xfe\0", "Save a spreadsheet as CSV in UTF-8"), (b"x" * (1024 * 1024 + 1), "1,048,576 are allowed")],
)
def test_a_file_that_cannot_be_read_is_refused(project: Project, writing: Client, content: bytes, error: str) -> None:
    sent = {"file": SimpleUploadedFile("cases.json", content), "do": "save"}
    assert error in text(writing.post(PAGE, sent), 422)


def test_a_preview_warns_about_a_skill_that_agents_do_not_get(skilled: Project, writing: Client) -> None:
    html = text(writing.post(PAGE, {"text": f"{HOSTILE}\tno-such-skill", "do": "check"}))
    assert "Will not be counted: There is no skill no-such-skill." in html
    assert "<script>alert" not in html


def test_the_shipped_questions_need_the_built_in_skills(
    project: Project, author: Actor, library: Path, writing: Client
) -> None:
    create_skill(project, skill_bundle("code-review"), by=author)
    assert "built-in skills" not in text(writing.get(PAGE)), "the project’s own skill of this name is another one"
    assert "can be saved" not in text(writing.get(f"{PAGE}?built-in"))
    on_disk(library, "sql-review")
    built_in.index().refresh()
    assert 'href="?built-in"' in text(writing.get(PAGE))
    html = text(writing.get(f"{PAGE}?built-in"))
    assert "should find sql-review" in html
    assert "should find code-review" not in html


@pytest.mark.parametrize(("content", "error"), [(b"{", "This is not valid JSON"), (b"\xff", "The file is not UTF-8")])
def test_damaged_questions_of_a_skill_are_reported(
    project: Project, author: Actor, writing: Client, content: bytes, error: str
) -> None:
    create_skill(project, skill_bundle("greeting", {"evals/evals.json": content}), by=author)
    assert error in text(writing.get(f"{PAGE}?from=greeting"), 422)
    assert not GoldenCase.objects.exists()


def test_the_questions_of_a_skill_are_shown_and_saved(project: Project, author: Actor, writing: Client) -> None:
    evals = {"skill_name": "other", "evals": [{"prompt": "Say hello to Ann"}]}
    bundle = skill_bundle("greeting").with_changes({"evals/evals.json": json.dumps(evals).encode()})
    create_skill(project, bundle, by=author)
    create_skill(project, skill_bundle("plain"), by=author)
    assert f'href="{PAGE}?from=greeting"' in text(writing.get("/projects/demo/skills/greeting/files/"))
    assert PAGE not in text(writing.get("/projects/demo/skills/plain/files/"))
    html = text(writing.get(f"{PAGE}?from=greeting"))
    assert "Test questions of greeting" in html
    assert "Say hello to Ann" in html
    assert "should find greeting" in html
    assert not GoldenCase.objects.exists()
    for name in ("plain", "absent"):
        assert writing.get(f"{PAGE}?from={name}").status_code == 404
