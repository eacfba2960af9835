"""Results of the test questions: the last evaluation, all of them over time, and one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.core.routing.gate import Limits
from registry.core.routing.golden import query_digest
from registry.core.routing.metrics import Confused, Outcome, Report
from registry.models import Evaluation, GoldenCase, RoutingSettings, User
from registry.services.routing import evaluations, golden_set, routing_settings
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.navigation import may
from registry.web.render.heat_map import heat_map
from registry.web.render.plot import Plot, plot
from registry.web.routing import tabs, verdict_words
from registry.web.routing.link_words import percent
from registry.web.routing.verdict_words import VerdictWords

_PLOTTED, _HEATED, _CONFUSED = 50, 8, 10
_MISSES, _FEW_MISSES = 100, 20  # wrong answers of one evaluation, and on the page of all


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric in plain words. `within` is None if nothing could be measured or nothing limits it."""

    label: str
    term: str
    value: str
    meaning: str
    limit: str
    within: bool | None


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation of the history, with its figures as the other pages write them."""

    row: Evaluation
    by: str
    p_at_1: str
    mrr: str
    false_triggers: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A question that got the wrong answer. `case_id` is None if it has been deleted or changed."""

    outcome: Outcome
    words: VerdictWords
    case_id: int | None


@in_project
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    history = evaluations.history(request.project, limit=_PLOTTED)
    context = tabs.page(
        request,
        "routing-results",
        history=_runs(history),
        baseline=evaluations.baseline_row(request.project),
        plot=_plot(history),
        first=history[-1] if history else None,
        questions=GoldenCase.objects.filter(project=request.project).count(),
    )
    if history:
        context |= _details(request, history[0], misses=_FEW_MISSES)
    return render(request, "routing/results.html", context)


@in_project
@require_safe
def evaluation(request: ProjectRequest, evaluation: int) -> HttpResponse:
    found = evaluations.find(request.project, evaluation)
    context = tabs.page(
        request,
        "routing-results",
        baseline=evaluations.baseline_row(request.project),
        chosen_baseline=RoutingSettings.objects.filter(project=request.project, baseline=found).exists(),
    )
    return render(request, "routing/evaluation.html", context | _details(request, found))


@in_project
@needs(roles.WRITE, to="run the test questions")
@require_POST
def run(request: ProjectRequest) -> HttpResponse:
    done = evaluations.run(request.project, by=request.actor)
    words = {True: "It passes.", False: "It fails.", None: "There is no verdict."}[done.passed]
    messages.success(request, f"The evaluation of {counted(done.cases, 'test question')} is finished. {words}")
    return redirect("routing-results", request.project.slug)


@in_project
@needs(roles.WRITE, to="choose the baseline")
@require_POST
def baseline(request: ProjectRequest) -> HttpResponse:
    """Choose the evaluation in `evaluation` as the baseline; an empty value returns to the last one that passed."""
    chosen = request.POST.get("evaluation", "")
    if chosen and not (chosen.isdecimal() and len(chosen) < 19):
        raise InvalidRequest("This is not an evaluation. Reload the page.")
    evaluations.set_baseline(request.project, int(chosen) if chosen else None, by=request.actor)
    words = "This evaluation is the baseline now." if chosen else "The last evaluation that passed is the baseline now."
    messages.success(request, words)
    if chosen:
        return redirect("routing-result", request.project.slug, int(chosen))
    return redirect("routing-results", request.project.slug)


def _runs(history: Sequence[Evaluation]) -> list[Run]:
    names = _full_names(history)
    return [
        Run(
            row,
            names.get(row.by, row.by),
            "–" if row.p_at_1 is None else percent(row.p_at_1),
            "–" if row.mrr is None else f"{row.mrr:.2f}",
            "–" if row.false_triggers is None else percent(row.false_triggers),
        )
        for row in history
    ]


def _full_names(history: Sequence[Evaluation]) -> dict[str, str]:
    """Return the full names of the people who ran these evaluations, by their usernames."""
    people = User.objects.filter(username__in={row.by for row in history})
    return {user.username: user.display_name for user in people}


def _plot(history: Sequence[Evaluation]) -> Plot | None:
    """Return the plot of P@1 and MRR, oldest first, or None if there is nothing to plot."""
    runs = list(reversed(history))
    if not any(run.p_at_1 is not None for run in runs):
        return None
    return plot([("P@1", [run.p_at_1 for run in runs]), ("MRR", [run.mrr for run in runs])])


def _details(request: ProjectRequest, found: Evaluation, *, misses: int = _MISSES) -> dict[str, Any]:
    """Return the context of one evaluation. Only people who write skills see the questions."""
    report = evaluations.report_of(found)
    limits = routing_settings.of(request.project.pk, request.project.revision).limits
    reads_questions = may(request, roles.WRITE)
    wrong = [pair for pair in report.confusion if pair.expected != pair.picked]
    return {
        "evaluation": found,
        "evaluation_by": _full_names([found]).get(found.by, found.by),
        "figures": _figures(found, limits),
        "threshold": percent(found.threshold),
        "most_heated": _HEATED,
        "heat": heat_map(report.confusion, most=_HEATED) if report.confusion else None,
        "confused": sorted(wrong, key=_most_first)[:_CONFUSED],
        "misses": _misses(request, report)[:misses] if reads_questions else [],
        "missed": len(report.misses),
        "stale": report.stale if reads_questions else (),
        "stale_count": len(report.stale),
        "kept": bool(report.outcomes) or not found.cases,
        "reads_questions": reads_questions,
    }


def _most_first(pair: Confused) -> tuple[int, str, str]:
    return -pair.count, pair.expected, pair.picked


def _misses(request: ProjectRequest, report: Report) -> list[Miss]:
    ids = {row.query_digest: row.pk for row in golden_set.cases(request.project, by=request.actor)}
    return [
        Miss(outcome, verdict_words.verdict(outcome.verdict), ids.get(query_digest(outcome.case.query)))
        for outcome in report.misses
    ]


def _figures(found: Evaluation, limits: Limits) -> list[Figure]:
    return [
        _figure("Right skill first", "P@1", found.p_at_1, least=limits.least_p_at_1,
                meaning="How often the right skill is offered first, of the questions that have one."),
        _figure("Place of the right skill", "MRR", found.mrr, least=limits.least_mrr, share=False,
                meaning="1 if the right skill is always first, 0.5 if it is always second, 0 if it is never found."),
        _figure("Right skill among five", "recall@5", found.recall_at_5,
                meaning="How often the right skill is one of the first five, so that an agent can still choose it."),
        _figure("False triggers", "", found.false_triggers, most=limits.most_false_triggers,
                meaning="How often a skill is offered, of the questions that none should answer."),
    ]  # fmt: skip


def _figure(
    label: str, term: str, value: float | None, *, meaning: str, least: float | None = None,
    most: float | None = None, share: bool = True,
) -> Figure:  # fmt: skip
    def written(number: float) -> str:
        return percent(number) if share else f"{number:.2f}"

    limit = (
        f"at least {written(least)}" if least is not None else f"at most {written(most)}" if most is not None else ""
    )
    if value is None:
        return Figure(label, term, "–", meaning, limit, None)
    within = value >= least if least is not None else value <= most if most is not None else None
    return Figure(label, term, written(value), meaning, limit, within)
