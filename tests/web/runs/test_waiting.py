"""“Waiting for you”, and the counts that lead to it."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.models import Notification, Project, RunQuestion, User
from registry.services import permissions
from registry.services.people import members, projects
from registry.services.permissions import Actor
from registry.services.workflows import question_queue, questions
from tests.services.workflows.conftest import INPUT
from tests.web.conftest import Browser, signed_in
from tests.web.runs.pages import act, text, url

Asking = Callable[..., RunQuestion]
WAITING = "/projects/demo/waiting/"


@pytest.fixture
def reviewer(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))


def in_navigation(client: Client, path: str = "/projects/demo/members/") -> str:
    """Return the count beside “Runs”, empty if there is none."""
    link = text(client.get(path)).split('<span class="nav-label">Runs</span>')[1].split("</a>")[0]
    found = re.search(r"nav-count--yours\">(\d+)<span class=\"vh\"> waiting for you", link)
    return found[1] if found else ""


def test_the_list_says_what_waits_since_when_and_until_when(asking: Asking, reviewer: Client) -> None:
    first, second = asking(name="one"), asking(INPUT, name="two")
    RunQuestion.objects.filter(pk=first.pk).update(expires_at=timezone.now() + timedelta(hours=3, minutes=1))
    html = text(reviewer.get(WAITING))
    assert html.index(url(first)) < html.index(url(second)), "the oldest first"
    assert "Publish the text?" in html and "How many?" in html
    assert "in 3 hours" in html and "in 7 days" in html
    assert "Approval" in html and "Input" in html
    assert in_navigation(reviewer) == "2"


def test_the_list_names_the_person_who_started_the_run(asking: Asking, reviewer: Client) -> None:
    question = asking()
    User.objects.filter(pk=question.run.user_id).update(first_name="Ada", last_name="Okafor")
    assert "Ada Okafor" in text(reviewer.get(WAITING))


def test_an_answer_takes_the_question_off_the_list(asking: Asking, reviewer: Client) -> None:
    question = asking()
    act(reviewer, question, "deny")
    assert "No run waits for you" in text(reviewer.get(WAITING))
    assert in_navigation(reviewer) == ""


@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR])
def test_people_who_do_not_review_learn_who_answers(asking: Asking, browser_client: Browser, role: str) -> None:
    asking()
    client = signed_in(browser_client(role))
    assert "Reviewers and owners of the project answer" in text(client.get(WAITING))
    assert in_navigation(client) == ""


def test_questions_for_others_of_own_runs_late_ones_and_other_projects_do_not_count(
    project: Project, asking: Asking, reviewer: Client, operator: Actor, person: Callable[[str], User]
) -> None:
    asking(config="{approvers: {people: [owner]}}", name="named")
    asking(name="own", by=permissions.person(person(roles.REVIEWER), project))
    late = asking(name="late")
    RunQuestion.objects.filter(pk=late.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    other = projects.create(slug="other", name="Other", by=operator)
    members.set_role(other, person(roles.REVIEWER), roles.REVIEWER, by=operator)
    assert "No run waits for you" in text(reviewer.get(WAITING))
    assert "No run waits for you" in text(reviewer.get("/projects/other/waiting/"))
    assert in_navigation(reviewer) == ""


def test_the_projects_show_how_many_questions_wait(
    project: Project, asking: Asking, reviewer: Client, operator: Actor, person: Callable[[str], User]
) -> None:
    other = projects.create(slug="other", name="Other", by=operator)
    members.set_role(other, person(roles.REVIEWER), roles.REVIEWER, by=operator)
    assert "waiting for you" not in text(reviewer.get("/projects/"))
    asking(name="one"), asking(name="two")
    html = text(reviewer.get("/projects/"))
    assert re.search(r'href="/projects/demo/waiting/"><span class="yours">2</span> waiting for you', html)
    assert "/projects/other/waiting/" not in html


def test_the_number_of_queries_does_not_grow_with_the_questions(
    asking: Asking, reviewer: Client, django_assert_max_num_queries: Any
) -> None:
    counts = []
    for number in range(2):
        for name in range(1 + 3 * number):
            asking(name=f"flow-{number}-{name}")
        with django_assert_max_num_queries(15) as captured:
            text(reviewer.get(WAITING))
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_a_list_reads_no_large_values(asking: Asking, reviewer: Client) -> None:
    question = asking()
    question.shown["input"]["details"] = "long " * 100_000
    question.save(update_fields=["shown"])
    html = text(reviewer.get(WAITING))
    assert "Publish the text?" in html
    assert len(html) < 40_000
    assert {"shown", "value"} <= question_queue.lines(RunQuestion.objects.all())[0].get_deferred_fields()


def test_hidden_characters_of_a_question_are_marked(asking: Asking, reviewer: Client) -> None:
    question = asking()
    question.shown["input"]["question"] = "Pay\u202eeht bill?"
    question.save(update_fields=["shown"])
    assert "U+202E" in text(reviewer.get(WAITING))


# -- The inbox ----------------------------------------------------------------------------------------------


def test_an_entry_of_the_inbox_leads_to_the_question_and_shows_its_state(
    project: Project, asking: Asking, reviewer: Client, person: Callable[[str], User]
) -> None:
    question, owner = asking(), permissions.person(person(roles.OWNER), project)
    entry = Notification.objects.get(user=person(roles.REVIEWER), event="run.waiting")
    assert "Waiting for you" in text(reviewer.get("/inbox/"))
    assert reviewer.get(f"/inbox/{entry.pk}/")["Location"] == f"/projects/demo/runs/{question.run_id}/questions/"
    questions.deny(project, question.run_id, question.pk, digest=question.digest, by=owner)
    html = text(reviewer.get("/inbox/?show=all"))
    assert "Waiting for you" not in html
    assert "Denied" in html


def test_an_entry_does_not_wait_for_somebody_who_has_approved(
    project: Project, asking: Asking, reviewer: Client, person: Callable[[str], User]
) -> None:
    question = asking(config="{approvers: {count: 2}}")
    act(reviewer, question, "approve")
    assert RunQuestion.objects.get().state == "open"
    assert not any(row.still_waits for row in Notification.objects.of(person(roles.REVIEWER)).for_list())
    assert in_navigation(reviewer) == ""
    assert "No run waits for you" in text(reviewer.get(WAITING))
