"""Test questions: the list with its filters, adding, changing, deleting and exporting them."""

import json
from typing import Any

import pytest
from django.test import Client

from registry.core.routing.golden import NOTE_CHARS
from registry.models import GoldenCase, Project
from registry.services.permissions import Actor
from registry.services.routing import evaluations
from registry.services.skills import skills
from tests.services.footprint import nothing_left_behind
from tests.web.routing.pages import HOSTILE, QUESTIONS, ask, text

NEW = f"{QUESTIONS}new/"


def test_an_empty_list_says_what_a_test_question_is_and_where_to_start(project: Project, writing: Client) -> None:
    html = text(writing.get(QUESTIONS))
    assert "No test questions yet" in html
    assert f'href="{NEW}"' in html


def test_a_question_is_added_changed_and_deleted(skilled: Project, writing: Client) -> None:
    html = text(writing.post(NEW, {"query": "My money!", "expected": "refund-reply, parcel-sizes"}, follow=True))
    assert "Test question saved." in html
    assert "refund-reply or parcel-sizes" in html
    row = GoldenCase.objects.get()
    page = f"{QUESTIONS}{row.pk}/"
    assert 'value="refund-reply, parcel-sizes"' in text(writing.get(page))
    text(writing.post(page, {"query": "Weather?", "expected": "", "note": "Off topic"}, follow=True))
    row.refresh_from_db()
    assert (row.query, row.expected, row.category, row.note) == ("Weather?", [], "negative", "Off topic")
    assert "1 test question deleted." in text(writing.post(f"{QUESTIONS}delete/", {"case": row.pk}, follow=True))
    assert not GoldenCase.objects.exists()


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"query": ""}, "Enter what somebody would ask."),
        ({"query": "a\0"}, "The question contains a NUL character. Remove it."),
        ({"query": "a", "note": "x" * (NOTE_CHARS + 1)}, f"The note has {NOTE_CHARS + 1} characters."),
        ({"query": "a", "category": "positive"}, "Name the skill that should be found, or"),
        ({"query": "a", "expected": "b", "category": "negative"}, "Remove the skill that should be found, or"),
        ({"query": "a", "expected": "x" * 200}, "not a valid skill name"),
        ({"query": "a", "category": "odd"}, "Select a valid choice."),
    ],
)
def test_an_invalid_question_is_shown_again(
    project: Project, writing: Client, sent: dict[str, str], error: str
) -> None:
    with nothing_left_behind():
        assert error in text(writing.post(NEW, sent), 422)


def test_two_questions_never_have_the_same_words(skilled: Project, author: Actor, writing: Client) -> None:
    first = ask(skilled, "One", "refund-reply", by=author)
    second = ask(skilled, "Two", "refund-reply", by=author)
    assert "same words" in text(writing.post(f"{QUESTIONS}{second.pk}/", {"query": " oNE "}), 422)
    with nothing_left_behind():
        html = text(writing.post(NEW, {"query": "one ", "expected": "parcel-sizes"}), 422)
    assert "There is already a test question with these words." in html
    assert f'<a href="{QUESTIONS}{first.pk}/">Open the question with these words</a>' in html


def test_a_name_in_capitals_is_the_skill_in_lower_case(skilled: Project, writing: Client) -> None:
    html = text(writing.post(NEW, {"query": "Money back", "expected": "Refund-Reply"}, follow=True))
    assert "Test question saved." in html
    row = GoldenCase.objects.get()
    html = text(writing.post(f"{QUESTIONS}{row.pk}/", {"query": "Money", "expected": "REFUND-REPLY"}, follow=True))
    assert "Test question saved." in html
    row.refresh_from_db()
    assert row.expected == ["refund-reply"]


def test_a_question_for_a_skill_that_does_not_exist_is_saved_with_a_word_about_it(
    skilled: Project, writing: Client
) -> None:
    html = text(writing.post(NEW, {"query": "Money back", "expected": "refund-repli"}, follow=True))
    assert "Test question saved, but not counted. There is no skill refund-repli." in html
    case = GoldenCase.objects.get()
    html = text(
        writing.post(f"{QUESTIONS}{case.pk}/", {"query": "Money back", "expected": "refund-reply"}, follow=True)
    )
    assert "Test question saved.</p>" in html


def test_filters_narrow_the_list(skilled: Project, author: Actor, writing: Client) -> None:
    ask(skilled, "Alpha question", "refund-reply", by=author)
    ask(skilled, "Beta question", by=author, note="special")
    ask(skilled, "Gamma question", "gone-skill", by=author)

    def listed(query: str) -> set[str]:
        html = text(writing.get(f"{QUESTIONS}?{query}"))
        return {name for name in ("Alpha", "Beta", "Gamma") if f"{name} question</a>" in html}

    assert listed("") == {"Alpha", "Beta", "Gamma"}
    assert listed("category=negative") == {"Beta"}
    assert listed("skill=refund-reply") == {"Alpha"}
    assert listed("stale=yes") == {"Gamma"}
    assert listed("q=SPECIAL") == {"Beta"}
    assert listed("q=no-such") == set()
    assert "There is no skill gone-skill." in text(writing.get(QUESTIONS))


def test_a_skill_that_is_switched_off_makes_its_questions_stale(
    skilled: Project, author: Actor, writing: Client
) -> None:
    ask(skilled, "Money", "refund-reply", by=author)
    skills.disable(skilled, "refund-reply", by=author)
    html = text(writing.get(QUESTIONS))
    assert "1 question is not counted." in html
    assert "refund-reply is switched off." in html
    assert "not counted</span>" in html
    assert "not run yet" not in html


def test_the_list_shows_the_last_result(skilled: Project, author: Actor, writing: Client) -> None:
    ask(skilled, "refund request money", "refund-reply", by=author)
    assert "not run yet" in text(writing.get(QUESTIONS))
    evaluations.run(skilled, by=author)
    assert "Right skill" in text(writing.get(QUESTIONS))


def test_deleting_nothing_or_what_is_gone_is_refused(skilled: Project, author: Actor, writing: Client) -> None:
    row = ask(skilled, "Money", "refund-reply", by=author)
    for sent, error in (
        ({}, "No test question is selected."),
        ({"case": ["x", "-1", "9" * 30]}, "No test question is selected."),
        ({"case": [row.pk, row.pk + 1]}, "Nothing was deleted."),
    ):
        assert error in text(writing.post(f"{QUESTIONS}delete/", sent), 422)
    assert GoldenCase.objects.count() == 1


def test_a_question_of_another_project_is_a_missing_page(
    skilled: Project, other_project: Project, operator: Actor, writing: Client
) -> None:
    row = ask(other_project, "Secret question", by=operator)
    assert writing.get(f"{QUESTIONS}{row.pk}/").status_code == 404
    assert writing.post(f"{QUESTIONS}{row.pk}/", {"query": "Mine"}).status_code == 404
    assert "Secret" not in text(writing.post(f"{QUESTIONS}delete/", {"case": row.pk}), 422)
    assert GoldenCase.objects.count() == 1


@pytest.mark.parametrize("path", ["", "new/", "import/", "export.json"])
def test_viewers_never_see_the_questions(project: Project, viewing: Client, path: str) -> None:
    assert viewing.get(f"{QUESTIONS}{path}").status_code == 403


def test_hostile_questions_are_only_text(skilled: Project, author: Actor, writing: Client) -> None:
    row = ask(skilled, HOSTILE, "a<b", by=author, note=HOSTILE)
    for page in (QUESTIONS, f"{QUESTIONS}{row.pk}/"):
        assert "<script>alert" not in text(writing.get(page))


def test_hidden_characters_in_a_question_are_drawn(skilled: Project, author: Actor, writing: Client) -> None:
    ask(skilled, "Money \u202eback", by=author)
    html = text(writing.get(QUESTIONS))
    assert "U+202E" in html
    assert "\u202eback</a>" not in html


def test_the_export_has_every_question(skilled: Project, author: Actor, writing: Client) -> None:
    ask(skilled, "Money", "refund-reply", by=author)
    ask(skilled, "Weather", by=author)
    whole: Any = writing.get(f"{QUESTIONS}export.json")
    assert whole["Content-Disposition"] == 'attachment; filename="demo-questions.json"'
    assert [case["query"] for case in json.loads(whole.content)["cases"]] == ["Money", "Weather"]
    response: Any = writing.get(f"{QUESTIONS}export.json?form=lines")
    assert [whole["Content-Type"], response["Content-Type"]] == [
        "application/json; charset=utf-8", "application/jsonl; charset=utf-8",
    ]  # fmt: skip
    lines = text(response).splitlines()
    assert json.loads(lines[1]) == {"query": "Weather", "expected": [], "category": "negative"}
