"""The golden set of a project: all or nothing, one event, and never for agents."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.core.errors import AlreadyExists, Forbidden, InvalidRequest, NotFound
from registry.core.routing import golden
from registry.core.routing.golden import Case
from registry.models import Event, GoldenCase, Project
from registry.services import permissions
from registry.services.permissions import Actor
from registry.services.routing import golden_set
from tests.conftest import skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill, ensure_agent
from tests.services.footprint import nothing_left_behind

REFUND = Case("How do I get my money back?", ("refunds",), (), "positive", "From the help desk")
WEATHER = Case("Will it rain?", (), (), "negative")


@pytest.fixture
def cases(project: Project, author: Actor) -> list[GoldenCase]:
    return list(golden_set.add(project, [REFUND, WEATHER], by=author).rows)


def stored(project: Project) -> list[Case]:
    return list(golden_set.all_of(project.pk))


def test_cases_keep_their_order_and_content(project: Project, author: Actor, cases: list[GoldenCase]) -> None:
    assert [golden_set.as_case(row) for row in golden_set.cases(project, by=author)] == [REFUND, WEATHER]


def test_an_equal_question_replaces_and_an_equal_case_changes_nothing(
    project: Project, author: Actor, cases: list[GoldenCase]
) -> None:
    other = Case("how do I  get my MONEY back?", ("payments",))
    result = golden_set.add(project, [other, WEATHER, Case("New?", ("refunds",))], by=author)
    assert (result.added, result.replaced, result.unchanged) == (1, 1, 1)
    assert [case.expected for case in stored(project)] == [("payments",), (), ("refunds",)]
    with nothing_left_behind():
        golden_set.add(project, [WEATHER], by=author)


def test_one_bad_case_saves_nothing_and_is_named(project: Project, author: Actor) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="Question 2: The question is empty") as refused:
        golden_set.add(project, [REFUND, Case("  "), Case("x", category="odd")], by=author)
    assert (refused.value.field, refused.value.data["index"]) == ("query", 1)
    assert "Question 3: There is no category" in refused.value.message


def test_two_answers_to_one_question_are_refused(project: Project, author: Actor) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="Question 2: This is the same question as in"):
        golden_set.add(project, [REFUND, Case(REFUND.query, ("other",))], by=author)


@pytest.mark.parametrize(
    ("case", "field", "message"),
    [
        (Case("x" * (golden.QUERY_CHARS + 1)), "query", "20,001 characters"),
        (Case("a\0b"), "query", "The question contains a NUL"),
        (Case("a\ud800b"), "query", "surrogate"),
        (Case("x", ("a" * 129,)), "expected", "not a valid skill name"),
        (Case("x", ("",)), "expected", "not a valid skill name"),
        (Case("x", ("a",), ("",)), "acceptable", "not a valid skill name"),
        (Case("x", tuple(f"s{number}" for number in range(21))), "expected", "at most 20 skills"),
        (Case("x", note="n" * 301), "note", "301 characters"),
        (Case("x", note="a\0b"), "note", "The note contains a NUL"),
        (Case("x", category="positive"), "category", "needs an expected skill"),
        (Case("x", ("a",), category="negative"), "category", "has no expected skill"),
    ],
)
def test_limits_of_a_case(project: Project, author: Actor, case: Case, field: str, message: str) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=message) as refused:
        golden_set.add(project, [case], by=author)
    assert refused.value.field == field


def test_a_project_has_a_limited_number_of_cases(project: Project, author: Actor) -> None:
    golden_set.add(project, [Case(f"question {number}") for number in range(golden.CASES - 1)], by=author)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=f"would have {golden.CASES + 1} test questions"):
        golden_set.add(project, [Case("1"), Case("2")], by=author)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="There are no test questions"):
        golden_set.add(project, [], by=author)
    golden_set.add(project, [Case("1"), Case("question 1", note="replaced")], by=author)


def test_the_questions_of_a_project_have_a_limited_length_together(project: Project, author: Actor) -> None:
    long = [Case(f"{number} {'long ' * 3_999}x") for number in range(6)]
    golden_set.add(project, long, by=author)
    too_long = "would have 12[0-9],[0-9]{3} characters together. 125,000 are allowed"
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=too_long):
        golden_set.add(project, [Case("x" * 6_000)], by=author)
    added = golden_set.add(project, [Case("short")], by=author)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=too_long):
        golden_set.change(project, added.rows[0].pk, Case("y" * 6_000), by=author)
    golden_set.add(project, long, by=author)  # replaces itself


def test_a_case_is_changed(project: Project, author: Actor, cases: list[GoldenCase]) -> None:
    golden_set.change(project, cases[0].pk, Case("Refund please", ("refunds", "payments")), by=author)
    assert stored(project)[0] == Case("Refund please", ("refunds", "payments"), (), "positive")
    with nothing_left_behind():
        golden_set.change(project, cases[1].pk, WEATHER, by=author)


def test_a_case_cannot_become_another_one(project: Project, author: Actor, cases: list[GoldenCase]) -> None:
    with nothing_left_behind(), pytest.raises(AlreadyExists, match="same words"):
        golden_set.change(project, cases[0].pk, Case(" will it RAIN? "), by=author)
    with nothing_left_behind(), pytest.raises(NotFound):
        golden_set.change(project, 0, REFUND, by=author)


def test_cases_are_deleted_together_or_not_at_all(project: Project, author: Actor, cases: list[GoldenCase]) -> None:
    with nothing_left_behind(), pytest.raises(NotFound, match="Nothing was deleted"):
        golden_set.delete(project, [cases[0].pk, 0], by=author)
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        golden_set.delete(project, [], by=author)
    assert golden_set.delete(project, [row.pk for row in cases], by=author) == 2
    assert stored(project) == []
    assert Event.objects.filter(verb="golden.deleted").count() == 1


CALLS: list[Callable[[Project, Actor, int], object]] = [
    lambda project, by, case: golden_set.cases(project, by=by),
    lambda project, by, case: golden_set.find(project, case, by=by),
    lambda project, by, case: golden_set.add(project, [Case("New?")], by=by),
    lambda project, by, case: golden_set.change(project, case, Case("New?"), by=by),
    lambda project, by, case: golden_set.delete(project, [case], by=by),
]


def test_agents_are_refused_whatever_their_scopes_are(
    project: Project, operator: Actor, cases: list[GoldenCase]
) -> None:
    agent = permissions.agent(ensure_agent(project, "bot", by=operator), frozenset(roles.SCOPES))
    for call in CALLS:
        with nothing_left_behind(), pytest.raises(Forbidden, match="Agents cannot"):
            call(project, agent, cases[0].pk)


def test_viewers_and_other_projects_see_nothing(
    project: Project, other_project: Project, viewer: Actor, author: Actor, cases: list[GoldenCase]
) -> None:
    for call in CALLS:
        with nothing_left_behind(), pytest.raises(Forbidden):
            call(project, viewer, cases[0].pk)
        with nothing_left_behind(), pytest.raises(NotFound):
            call(other_project, author, cases[0].pk)


def test_a_case_is_stale_if_agents_do_not_get_its_skill(project: Project, author: Actor) -> None:
    for name in ("refunds", "off", "gone"):
        create_skill(project, skill_bundle(name), by=author)
    golden_set.add(
        project,
        [
            REFUND,
            WEATHER,
            Case("Off?", ("off",)),
            Case("Gone?", ("refunds", "gone")),
            Case("Misspelt?", ("refund",)),
            Case("Accepts what is gone?", ("refunds",), ("gone",)),
        ],
        by=author,
    )
    disable_skill(project, "off", by=author)
    delete_skill(project, "gone", by=author)
    assert [(one.case.query, one.names, one.reason) for one in golden_set.stale(project)] == [
        ("Off?", ("off",), "off is switched off."),
        ("Gone?", ("gone",), "There is no skill gone."),
        (
            "Misspelt?",
            ("refund",),
            "There is no skill refund. If it was renamed to refunds, change the question.",
        ),
    ]


def test_similar_names_are_looked_for_within_a_limit(
    project: Project, author: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page with 500 stale questions in a project of 10,000 skills would take more than a minute."""
    for name in ("refunds", "invoices"):
        create_skill(project, skill_bundle(name), by=author)
    monkeypatch.setattr(golden_set, "MOST_COMPARED", 2)
    queries = [("1", "refund"), ("2", "invoice"), ("3", "refund")]
    golden_set.add(project, [Case(query, (name,)) for query, name in queries], by=author)
    hints = ["renamed to" in one.reason for one in golden_set.stale(project)]
    assert hints == [True, False, True]
