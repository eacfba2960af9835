"""Evaluations: run the golden set of a project, store the results, and compare them with a baseline."""

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from registry.core.errors import Busy, NotFound
from registry.core.routing import confidence, gate, metrics
from registry.core.routing.confidence import Learned
from registry.core.routing.gate import Baseline, Verdict
from registry.core.routing.golden import Case, case_key
from registry.core.routing.metrics import Outcome, Report, StaleCase
from registry.models import Evaluation, Project, RoutingSettings
from registry.services import audit
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from registry.services.routing import golden_set, ranking, routing_settings
from registry.services.routing.ranking import Ranked

KEPT = 200  # evaluations of a project, and its baseline
KEPT_WITH_OUTCOMES = 20  # of them; the others keep their rates
KEEP = 0.95  # of the right answers have a confidence above the learned threshold
LEARN_FROM = 5  # right answers at least
_NO_PROJECT = 0  # is no id of a row
_QUERY_KEPT = 2_000  # characters of a question
_STALE = "stale"
_RETRY_SECONDS = 5
_running = threading.Lock()
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a run that is not stored. `origin` of the threshold is as in `Routed`.

    `learned` is None if the project fixed its threshold, or if too few answers are right to learn from.
    """

    report: Report
    verdict: Verdict
    threshold: float
    origin: str
    revision: int
    learned: Learned | None = None


def run(project: Project, *, by: Actor, learn: bool = True) -> Evaluation:
    return run_in_full(project, by=by, learn=learn)[0]


def run_in_full(project: Project, *, by: Actor, learn: bool = True) -> tuple[Evaluation, Measured]:
    """Measure the golden set as agents get it, store the result, and return both.

    The threshold and the calibration of the confidence are learned from the set, unless the project fixed the
    threshold. They are used from then on, and the result is measured with them.
    """
    golden_set.require_person(by, project)
    with one_at_a_time():
        measured = measure(project, golden_set.all_of(project.pk), learn=learn)
    report = measured.report
    with audit.change(project, "evaluation.run", by=by, target=project.slug) as change:
        evaluation = Evaluation.objects.create(
            project=project,
            by=by.name[:150],
            cases=report.cases,
            p_at_1=report.p_at_1,
            mrr=report.mrr,
            recall_at_5=report.recall_at_5,
            false_triggers=report.false_triggers,
            threshold=measured.threshold,
            passed=measured.verdict.passed,
            reasons=list(measured.verdict.reasons),
            outcomes=[*map(_outcome_row, report.outcomes), *map(_stale_row, report.stale)],
            per_skill=[_skill_row(skill) for skill in report.per_skill],
            revision=measured.revision,
            fingerprint=built_in.snapshot().fingerprint,
        )
        change.data.update(
            evaluation=evaluation.pk, cases=report.cases, p_at_1=report.p_at_1, mrr=report.mrr,
            passed=evaluation.passed, threshold=measured.threshold, threshold_from=measured.origin,
        )  # fmt: skip
        if measured.learned:
            routing_settings.store_learned(project.pk, measured.learned)
        _forget_old(project)
    return evaluation, measured


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Raise Busy if this process is already running an evaluation, because a large one takes some seconds."""
    if not _running.acquire(blocking=False):
        raise Busy("Another evaluation is running. Try again in a few seconds.", retry_after=_RETRY_SECONDS)
    try:
        yield
    finally:
        _running.release()


def measure(project: Project, cases: Sequence[Case], *, learn: bool = True, threshold: float | None = None) -> Measured:
    """Measure cases in a project without storing anything. Without `learn` the current threshold is used."""
    revision = Project.objects.values_list("revision", flat=True).get(pk=project.pk)
    return _measure(project.pk, revision, cases, baseline(project), learn, threshold)


def measure_library(
    cases: Sequence[Case], *, limits: gate.Limits, learn: bool = True, threshold: float | None = None
) -> Measured:
    """Measure cases with the built-in skills alone, as in a project without skills of its own."""
    measured = _measure(_NO_PROJECT, 0, cases, None, learn, threshold)
    return replace(measured, verdict=gate.verdict(measured.report, limits))


def _measure(
    project_id: int, revision: int, cases: Sequence[Case], before: Baseline | None, learn: bool, threshold: float | None
) -> Measured:
    live, stale = golden_set.split(project_id, revision, cases)
    settings = routing_settings.of(project_id, revision)
    used, origin = settings.threshold_for(threshold)
    ranked = _ranked(project_id, revision, [case.query for case in live], used)
    fixed = origin in (routing_settings.REQUEST, routing_settings.PROJECT)
    learned = _learned(live, ranked) if learn and not fixed else None
    if learned:
        used, origin = learned.threshold, routing_settings.LEARNED
    outcomes = [judge(case, answer, learned) for case, answer in zip(live, ranked, strict=True)]
    report = metrics.report(outcomes, stale)
    return Measured(report, gate.verdict(report, settings.limits, before), used, origin, revision, learned)


def _ranked(project_id: int, revision: int, queries: Sequence[str], threshold: float) -> list[Ranked | None]:
    """Return the ranking for each question, or None where routing failed."""
    try:
        return [*ranking.rank_each(project_id, revision, queries, threshold=threshold)]
    except Exception:
        if len(queries) == 1:
            _log.exception("A test question could not be routed.")
            return [None]
        return [answer for query in queries for answer in _ranked(project_id, revision, [query], threshold)]


def _learned(cases: Sequence[Case], ranked: Sequence[Ranked | None]) -> Learned | None:
    """Learn from the first match of each case, unless it is only acceptable. Too few right ones say too little."""
    firsts = [
        (answer.signals, case, answer.names[0])
        for case, answer in zip(cases, ranked, strict=True)
        if answer and answer.names and answer.signals
    ]
    observations = [(signals, name in case.expected) for signals, case, name in firsts if name not in case.acceptable]
    enough = sum(right for _, right in observations) >= LEARN_FROM
    return confidence.learn(observations, keep=KEEP) if enough else None


def judge(case: Case, ranked: Ranked | None, learned: Learned | None = None) -> Outcome:
    """Return the outcome of a case. With `learned`, as if it had been routed with what was learned."""
    if ranked is None:
        return metrics.failed(case)
    sure, found = ranked.confidence, ranked.found
    if learned and ranked.names:
        if ranked.signals and not ranked.answered_by:
            sure = confidence.probability(ranked.signals, learned.calibration)
        found = sure >= learned.threshold
    return metrics.judge(case, ranked.names, found=found, confidence=sure)


def history(project: Project, limit: int = 50) -> list[Evaluation]:
    """Return the last evaluations, newest first. The results of single cases are read only when they are used."""
    rows = Evaluation.objects.filter(project=project).order_by("-at", "-pk")
    return list(rows.defer("outcomes", "per_skill")[:limit])


def find(project: Project, evaluation_id: int) -> Evaluation:
    evaluation = Evaluation.objects.filter(project=project, pk=evaluation_id).first()
    if evaluation is None:
        raise NotFound("There is no such evaluation in this project.")
    return evaluation


def baseline_row(project: Project) -> Evaluation | None:
    """Return the evaluation that a person chose as the baseline, otherwise the last one that passed."""
    chosen = RoutingSettings.objects.filter(project=project).select_related("baseline").first()
    if chosen and chosen.baseline:
        return chosen.baseline
    return Evaluation.objects.filter(project=project, passed=True).order_by("-at", "-pk").first()


def baseline(project: Project) -> Baseline | None:
    row = baseline_row(project)
    return Baseline({one["key"]: (one["verdict"], one["rank"]) for one in _judged(row)}) if row else None


def set_baseline(project: Project, evaluation_id: int | None, *, by: Actor) -> None:
    """Choose the evaluation that later ones must not be worse than. None returns to the last one that passed."""
    golden_set.require_person(by, project)
    with audit.change(project, "baseline.set", by=by, target=project.slug) as change:
        row = routing_settings.row_of(project.pk)
        if evaluation_id is not None:
            _require_outcomes(find(project, evaluation_id))
        change.data["evaluation"] = evaluation_id
        if row.baseline_id == evaluation_id:
            change.cancel()
            return
        row.baseline_id = evaluation_id
        row.save()


def _require_outcomes(evaluation: Evaluation) -> None:
    if evaluation.cases and not evaluation.outcomes:
        raise NotFound("The single results of this evaluation are no longer stored. Choose a newer one.")


def report_of(evaluation: Evaluation) -> Report:
    """Return the report of a stored evaluation. Long questions are cut."""
    stale = [
        StaleCase(_case(row), tuple(row["names"]), row["reason"])
        for row in evaluation.outcomes
        if row["verdict"] == _STALE
    ]
    outcomes = [
        Outcome(_case(row), tuple(row["ranking"]), row["picked"], row["confidence"], row["verdict"], row["rank"])
        for row in _judged(evaluation)
    ]
    return metrics.report(outcomes, stale)


def _judged(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [row for row in evaluation.outcomes if row["verdict"] != _STALE]


def _case(row: dict[str, Any]) -> Case:
    return Case(row["query"], tuple(row["expected"]), tuple(row["acceptable"]), row["category"])


def _case_row(case: Case) -> dict[str, Any]:
    return {
        "key": case_key(case),
        "query": case.query[:_QUERY_KEPT],
        "expected": list(case.expected),
        "acceptable": list(case.acceptable),
        "category": case.category,
    }


def _outcome_row(outcome: Outcome) -> dict[str, Any]:
    return {
        **_case_row(outcome.case),
        "picked": outcome.picked,
        "confidence": outcome.confidence,
        "verdict": outcome.verdict,
        "rank": outcome.rank,
        "ranking": list(outcome.ranking[: metrics.LIMIT]),
    }


def _stale_row(stale: StaleCase) -> dict[str, Any]:
    return {**_case_row(stale.case), "verdict": _STALE, "names": list(stale.names), "reason": stale.reason}


def _skill_row(skill: metrics.SkillMetrics) -> dict[str, Any]:
    return {
        "name": skill.name,
        "expected": skill.expected,
        "picked": skill.picked,
        "right": skill.right,
        "precision": skill.precision,
        "recall": skill.recall,
    }


def _forget_old(project: Project) -> None:
    """Bound the rows of a project. The baseline keeps its outcomes."""
    row = baseline_row(project)
    kept = Evaluation.objects.filter(project=project).order_by("-at", "-pk").values_list("pk", flat=True)
    rows = Evaluation.objects.filter(project=project).exclude(pk=row.pk if row else 0)
    rows.exclude(pk__in=list(kept[:KEPT])).delete()
    rows.exclude(pk__in=list(kept[:KEPT_WITH_OUTCOMES])).exclude(outcomes=[]).update(outcomes=[], per_skill=[])
