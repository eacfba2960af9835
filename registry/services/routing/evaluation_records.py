"""Test questions and evaluations as JSON, for the API, the command and exports."""

from collections.abc import Mapping
from typing import Annotated, TypedDict

from registry.core.routing.golden import CATEGORIES
from registry.core.routing.metrics import LIMIT, VERDICTS, Outcome, Report, StaleCase
from registry.lib.json_types import OneOf, Timestamp
from registry.models import Evaluation, GoldenCase
from registry.services.routing.evaluations import Measured
from registry.services.routing.routing_settings import ORIGINS

PASS, FAIL, NO_VERDICT = "pass", "fail", "no verdict"

_Category = Annotated[str, OneOf(CATEGORIES)]


class CaseShape(TypedDict):
    id: int
    query: str
    expected: Annotated[list[str], "Each of these skills is right. Empty if none should be found."]
    acceptable: Annotated[list[str], "Each of these skills is neither right nor wrong."]
    category: _Category
    note: str
    stale: Annotated[str | None, "The reason for which the case is not counted, such as a skill that was deleted."]
    created_at: Timestamp
    changed_at: Timestamp


class CaseOutcomeShape(TypedDict):
    query: str
    expected: list[str]
    acceptable: list[str]
    category: _Category
    picked: Annotated[str | None, "The first skill that an agent gets, or null for “none of these”."]
    rank: Annotated[int, "The place of the first expected skill among the first five; 0 if it is not among them."]
    confidence: float
    verdict: Annotated[str, OneOf(VERDICTS)]
    ranking: Annotated[list[str], "The first five skills, also if the confidence is below the threshold."]


class StaleShape(TypedDict):
    query: str
    expected: list[str]
    skills: Annotated[list[str], "The expected skills that agents do not get."]
    reason: str


class SkillMetricsShape(TypedDict):
    name: str
    expected: int
    picked: int
    right: int
    precision: float | None
    recall: float | None


class ConfusedShape(TypedDict):
    expected: Annotated[str | None, "Null if no skill is expected."]
    picked: Annotated[str | None, "Null if no skill was picked."]
    count: int


class RatesShape(TypedDict):
    """The rates of a run. A rate is null if no case counts for it."""

    cases: Annotated[int, "Cases that were judged. Stale ones are not among them."]
    p_at_1: float | None
    mrr: float | None
    recall_at_5: float | None
    false_triggers: float | None
    threshold: float
    passed: Annotated[bool | None, "Null if there is no verdict."]
    verdict: Annotated[str, OneOf((PASS, FAIL, NO_VERDICT))]
    reasons: list[str]


class ReportShape(RatesShape):
    threshold_from: Annotated[str, OneOf(ORIGINS)]
    positives: Annotated[int, "Cases behind P@1, MRR and recall."]
    negatives: Annotated[int, "Cases behind the rate of false triggers."]
    verdicts: Annotated[dict[str, int], "The number of cases of each verdict."]
    outcomes: list[CaseOutcomeShape]
    stale: list[StaleShape]
    per_skill: list[SkillMetricsShape]
    confusion: list[ConfusedShape]


class EvaluationShape(RatesShape):
    id: int
    at: Timestamp
    by: str
    revision: Annotated[int, "The revision of the project that was measured."]


class EvaluationReportShape(ReportShape):
    id: int
    at: Timestamp
    by: str
    revision: Annotated[int, "The revision of the project that was measured."]


def case_shape(row: GoldenCase, stale: Mapping[str, StaleCase]) -> CaseShape:
    """Return a test question. `stale` has the stale ones by their question."""
    reason = stale[row.query].reason if row.query in stale else None
    return {
        "id": row.pk,
        "query": row.query,
        "expected": list(row.expected),
        "acceptable": list(row.acceptable),
        "category": row.category,
        "note": row.note,
        "stale": reason,
        "created_at": row.created_at.isoformat(),
        "changed_at": row.changed_at.isoformat(),
    }


def report_shape(measured: Measured) -> ReportShape:
    report, verdict = measured.report, measured.verdict
    return {
        "cases": report.cases,
        "p_at_1": report.p_at_1,
        "mrr": report.mrr,
        "recall_at_5": report.recall_at_5,
        "false_triggers": report.false_triggers,
        "threshold": measured.threshold,
        "passed": verdict.passed,
        "verdict": verdict_word(verdict.passed),
        "reasons": list(verdict.reasons),
        "threshold_from": measured.origin,
        "positives": report.positives,
        "negatives": report.negatives,
        "verdicts": report.verdicts,
        "outcomes": [_outcome(one) for one in report.outcomes],
        "stale": [_stale(one) for one in report.stale],
        "per_skill": _per_skill(report),
        "confusion": [
            {"expected": cell.expected or None, "picked": cell.picked or None, "count": cell.count}
            for cell in report.confusion
        ],
    }


def evaluation_shape(row: Evaluation) -> EvaluationShape:
    return {
        "id": row.pk,
        "at": row.at.isoformat(),
        "by": row.by,
        "revision": row.revision,
        "cases": row.cases,
        "p_at_1": row.p_at_1,
        "mrr": row.mrr,
        "recall_at_5": row.recall_at_5,
        "false_triggers": row.false_triggers,
        "threshold": row.threshold,
        "passed": row.passed,
        "verdict": verdict_word(row.passed),
        "reasons": list(row.reasons),
    }


def evaluation_report_shape(row: Evaluation, measured: Measured) -> EvaluationReportShape:
    stored = evaluation_shape(row)
    return {
        **report_shape(measured),
        "id": stored["id"],
        "at": stored["at"],
        "by": stored["by"],
        "revision": stored["revision"],
    }


def verdict_word(passed: bool | None) -> str:
    return NO_VERDICT if passed is None else PASS if passed else FAIL


def _outcome(one: Outcome) -> CaseOutcomeShape:
    return {
        "query": one.case.query,
        "expected": list(one.case.expected),
        "acceptable": list(one.case.acceptable),
        "category": one.case.category,
        "picked": one.picked or None,
        "rank": one.rank,
        "confidence": one.confidence,
        "verdict": one.verdict,
        "ranking": list(one.ranking[:LIMIT]),
    }


def _stale(one: StaleCase) -> StaleShape:
    case = one.case
    return {"query": case.query, "expected": list(case.expected), "skills": list(one.names), "reason": one.reason}


def _per_skill(report: Report) -> list[SkillMetricsShape]:
    return [
        {
            "name": skill.name,
            "expected": skill.expected,
            "picked": skill.picked,
            "right": skill.right,
            "precision": skill.precision,
            "recall": skill.recall,
        }
        for skill in report.per_skill
    ]
