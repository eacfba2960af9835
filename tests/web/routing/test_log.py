"""The log of questions, and the test questions that come from it."""

import pytest
from django.test import Client
from django.utils import timezone

from registry.models import GoldenCase, Project, RouteLog
from registry.services.permissions import Actor
from registry.services.routing import routing_settings
from tests.web.routing.pages import HOSTILE, LOG, QUESTIONS, ask, text


@pytest.fixture
def logged(skilled: Project, operator: Actor) -> list[RouteLog]:
    routing_settings.change(skilled, by=operator, log_days=30, log_share=0.5)
    rows = [
        RouteLog(caller="bot", query="Money, please", matches=[["refund-reply", 0.8]], found=True),
        RouteLog(caller="bot", query=HOSTILE, matches=[["parcel-sizes", 0.1]], found=False),
        RouteLog(caller="", query="zzz", matches=[], found=False),
    ]
    for row in rows:
        row.project, row.at, row.threshold = skilled, timezone.now(), 0.35
        row.save()
    return rows


def test_a_log_that_is_off_says_so_and_who_switches_it_on(project: Project, writing: Client, owning: Client) -> None:
    assert "An owner can switch it on" in text(writing.get(LOG))
    html = text(owning.get(LOG))
    assert "The log is off. No question is kept." in html
    assert "/routing/settings/#log" in html


def test_the_log_says_what_it_keeps(skilled: Project, operator: Actor, writing: Client) -> None:
    routing_settings.change(skilled, by=operator, log_days=7)
    html = text(writing.get(LOG))
    assert "kept for" in html
    assert "7 days" in html
    assert "No questions yet" in html


def test_the_log_is_filtered_by_the_answer(logged: list[RouteLog], writing: Client) -> None:
    html = text(writing.get(LOG))
    assert "About 50\xa0% of the" in html
    assert "found refund-reply, 80\xa0%" in html
    assert "<script>alert" not in html
    nothing = text(writing.get(f"{LOG}?show=nothing"))
    assert "Money, please" not in nothing
    assert "closest was parcel-sizes with 10\xa0%, below 35\xa0%" in nothing
    assert "zzz" not in text(writing.get(f"{LOG}?show=found"))


def test_a_miss_becomes_a_test_question_with_one_click(logged: list[RouteLog], writing: Client) -> None:
    new = f"{QUESTIONS}new/?log={logged[2].pk}"
    assert f'href="{new}"' in text(writing.get(LOG))
    form = text(writing.get(new))
    assert "nothing was found" in form
    assert ">\nzzz</textarea>" in form
    html = text(writing.post(new, {"query": "zzz", "expected": "parcel-sizes"}, follow=True))
    row = GoldenCase.objects.get()
    assert row.expected == ["parcel-sizes"]
    assert f'href="{QUESTIONS}{row.pk}/"' in html
    assert 'value="refund-reply"' in text(writing.get(f"{QUESTIONS}new/?log={logged[0].pk}"))


def test_a_logged_question_of_another_project_or_a_deleted_one_is_missing(
    logged: list[RouteLog], other_project: Project, writing: Client
) -> None:
    RouteLog.objects.filter(pk=logged[0].pk).update(project=other_project)
    for number in (logged[0].pk, logged[0].pk + 999):
        assert writing.get(f"{QUESTIONS}new/?log={number}").status_code == 404
    assert "Money, please" not in text(writing.get(LOG))
    assert writing.get(f"{QUESTIONS}new/?log=x").status_code == 200


def test_all_questions_of_the_log_are_deleted_and_test_questions_stay(
    logged: list[RouteLog], skilled: Project, author: Actor, writing: Client, viewing: Client
) -> None:
    ask(skilled, "Money, please", "refund-reply", by=author)
    assert viewing.get(LOG).status_code == viewing.post(f"{LOG}delete/").status_code == 403
    assert "3 logged questions deleted." in text(writing.post(f"{LOG}delete/", follow=True))
    assert GoldenCase.objects.count() == 1
