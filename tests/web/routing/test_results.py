"""Results of the test questions: the verdict, the figures, the plot, confusion, misses and the baseline."""

import pytest
from django.test import Client

from registry.models import Evaluation, Project, User
from registry.services.permissions import Actor
from registry.services.routing import evaluations, routing_settings
from tests.web.routing.pages import HOSTILE, RESULTS, ask, text

RUN, BASELINE = f"{RESULTS}run/", f"{RESULTS}baseline/"


@pytest.fixture
def measured(skilled: Project, author: Actor, operator: Actor) -> Evaluation:
    """One right answer, one wrong skill, and one question that is not counted."""
    routing_settings.change(skilled, by=operator, fixed_threshold=0.0)
    ask(skilled, "refund request money", "refund-reply", by=author)
    ask(skilled, f"refund request money {HOSTILE}", "parcel-sizes", by=author)
    ask(skilled, "anything", "gone-skill", by=author)
    return evaluations.run(skilled, by=author)


def test_a_project_without_questions_says_what_to_do(project: Project, viewing: Client, writing: Client) -> None:
    assert "Write test questions" in text(writing.get(RESULTS))
    html = text(viewing.get(RESULTS))
    assert "No results yet" in html
    assert RUN not in html


def test_a_run_shows_its_verdict_and_its_figures(skilled: Project, author: Actor, writing: Client) -> None:
    ask(skilled, "refund request money", "refund-reply", by=author)
    html = text(writing.post(RUN, follow=True))
    assert "The evaluation of 1 test question is finished. It fails." in html
    assert "1 test question could be judged, and at least 8 are needed." in html
    assert "100\xa0%" in html
    assert "No test question measures it yet." in html


def test_the_author_sees_wrong_answers_and_a_viewer_only_figures(
    measured: Evaluation, viewing: Client, writing: Client
) -> None:
    for page in (RESULTS, f"{RESULTS}{measured.pk}/"):
        html = text(writing.get(page))
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
        assert "<script>alert" not in html
        assert "should find parcel-sizes" in html
        assert "1 question was not counted" in html
        seen = text(viewing.get(page))
        assert "50\xa0%" in seen
        assert "1 question for parcel-sizes:" in seen
        assert "refund request money" not in seen
        assert "Viewers don’t see the test questions." in seen


def test_the_plot_and_the_table_show_every_run(measured: Evaluation, author: Actor, writing: Client) -> None:
    evaluations.run(measured.project, by=author)
    html = text(writing.get(RESULTS))
    assert html.count("P@1 50\xa0%") == 2
    assert "P@1 and MRR of 2 evaluations." in html
    assert 'd="M0.0 ' in html
    assert "L720.0 " in html


def test_a_baseline_is_chosen_and_taken_back(measured: Evaluation, writing: Client) -> None:
    html = text(writing.post(BASELINE, {"evaluation": measured.pk}, follow=True))
    assert "baseline for later evaluations" in html
    assert "Baseline</span>" in text(writing.get(RESULTS))
    assert "Baseline</span>" not in text(writing.post(BASELINE, {"evaluation": ""}, follow=True))


def test_only_a_chosen_baseline_can_be_taken_back(measured: Evaluation, writing: Client) -> None:
    Evaluation.objects.update(passed=True)
    page, taken_back = f"{RESULTS}{measured.pk}/", "Use the last one that passed as the baseline"
    html = text(writing.get(page))
    assert "baseline for later evaluations" in html
    assert taken_back not in html
    assert "Keep this as the baseline" in html
    assert taken_back in text(writing.post(BASELINE, {"evaluation": measured.pk}, follow=True))


def test_a_run_names_the_person_in_full(measured: Evaluation, writing: Client) -> None:
    User.objects.filter(username=measured.by).update(first_name="Ada", last_name="Okafor")
    assert text(writing.get(RESULTS)).count("<span>Ada Okafor") == 2


@pytest.mark.parametrize(("number", "status"), [("0", 404), ("99999", 404), ("x", 422), ("9" * 30, 422)])
def test_an_unknown_evaluation_is_not_a_baseline(
    measured: Evaluation, writing: Client, number: str, status: int
) -> None:
    assert writing.post(BASELINE, {"evaluation": number}).status_code == status


def test_an_evaluation_of_another_project_is_a_missing_page(
    skilled: Project, other_project: Project, operator: Actor, writing: Client
) -> None:
    other = evaluations.run(other_project, by=operator)
    assert writing.get(f"{RESULTS}{other.pk}/").status_code == 404
    assert writing.post(BASELINE, {"evaluation": other.pk}).status_code == 404


def test_an_old_evaluation_says_that_its_results_are_gone(measured: Evaluation, writing: Client) -> None:
    Evaluation.objects.update(outcomes=[], per_skill=[])
    html = text(writing.get(f"{RESULTS}{measured.pk}/"))
    assert "no longer stored" in html
    assert "Make this the baseline" not in html


def test_the_page_of_all_evaluations_lists_few_wrong_answers_and_leads_to_the_others(
    skilled: Project, author: Actor, writing: Client
) -> None:
    for number in range(21):
        ask(skilled, f"zyx{number}", "refund-reply", by=author)
    evaluation = evaluations.run(skilled, by=author)
    html = " ".join(text(writing.get(RESULTS)).split())
    assert f'The first 20 of 21 are shown. <a href="{RESULTS}{evaluation.pk}/">Show more</a>' in html
    assert "zyx20" not in html
    assert "zyx20" in text(writing.get(f"{RESULTS}{evaluation.pk}/"))
