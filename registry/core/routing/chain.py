"""The routing chain: runs links in order, cheap first, and fuses the scores of those that answered.

A link that raises, takes too long, cannot work here or returns something else than scores of the rows it was given is
left out and reported. It never fails the question.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from registry.core.routing.fusion import Fused
from registry.core.routing.link import Invalid, Link, Matches, Rows, Unavailable
from registry.core.routing.links.full_text import FullText
from registry.core.routing.links.meaning import Meaning
from registry.core.routing.links.names import Names
from registry.core.routing.links.summary import Summary
from registry.core.routing.links.triggers import Triggers
from registry.core.routing.question import Question
from registry.lib import steps
from registry.lib.steps import FAILED, OK, UNAVAILABLE, Outcome, Prepared, Step, StepRunner

# In the order in which they run, cheap first. A new link is one file and one line here.
LINKS: tuple[Link[Question], ...] = (
    Names(),
    Triggers(),
    Summary(),
    FullText(),
    Meaning(),
)

INVALID = "invalid"
STATUSES = (OK, steps.SKIPPED, UNAVAILABLE, FAILED, steps.TIMEOUT, INVALID)

LINK_SECONDS = 1.0  # for one link in memory, a thousand times its usual cost
MOST_SCORE = 1e6  # larger scores are a mistake, and their sum could be infinite
REORDERED = 20  # skills that the last link may reorder
_DETAIL_CHARS = 200

QuestionType = TypeVar("QuestionType")
Fuse = Callable[[Mapping[str, Matches]], Fused]


@dataclass(frozen=True, slots=True)
class LinkReport:
    """Report one link of the chain. `status` is one of STATUSES."""

    name: str
    ms: float
    status: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Chained:
    """The answer of the chain: one ranking, and the matches it was made of.

    `by_link` has the scores of each link that answered. `answered_by` names the link that was certain. `errors` are
    for the log: their messages may quote anything.
    """

    fused: Fused
    by_link: Mapping[str, Matches]
    reports: tuple[LinkReport, ...]
    answered_by: str = ""
    errors: Mapping[str, Exception] = field(default_factory=dict)


def run(
    links: Sequence[Link[QuestionType]],
    question: QuestionType,
    rows: Rows,
    *,
    fuse: Fuse,
    runner: StepRunner,
    shorten: Callable[[Rows], Rows] | None = None,
    seconds: float = LINK_SECONDS,
    alone: bool = True,
) -> Chained:
    """Ask each link about a question and fuse the answers. `rows` are distinct and in rising order.

    `shorten` chooses the rows that links are asked about, within the time limit of the first link. If it fails or
    hangs, they are asked about all rows. If `alone`, a link that is certain answers alone, and the links behind it are
    skipped.
    """
    asked = Prepared(rows, shorten)

    def step(link: Link[QuestionType]) -> Step[Matches]:
        def call() -> Matches:
            rows = asked.get()
            return _checked(link.rank(question, rows), rows)

        return Step(link.name, seconds, call)

    outcomes = runner.run(list(map(step, links)), enough=lambda found: alone and found.certain)
    by_link = {outcome.name: outcome.value for outcome in outcomes if outcome.value is not None}
    certain = next((name for name, found in by_link.items() if alone and found.certain), "")
    fused = fuse({certain: by_link[certain]} if certain else by_link)
    return Chained(fused, by_link, tuple(map(_report, outcomes)), certain, _errors(outcomes))


def reorder(
    link: Link[QuestionType],
    question: QuestionType,
    chained: Chained,
    *,
    fuse: Fuse,
    runner: StepRunner,
    seconds: float,
    rest: float = 0.0,
) -> Chained:
    """Ask one more link about the best rows only, best first, and add its scores.

    After a failure it is not asked again for `rest` seconds. It is skipped if a link was certain.
    """
    if chained.answered_by or not len(chained.fused.rows):
        return replace(chained, reports=(*chained.reports, LinkReport(link.name, 0.0, steps.SKIPPED)))
    best = chained.fused.rows[:REORDERED]
    step = Step(link.name, seconds, lambda: _checked(link.rank(question, best), np.sort(best)), rest)
    (outcome,) = runner.run([step])
    reports = (*chained.reports, _report(outcome))
    if outcome.value is None:
        return replace(chained, reports=reports, errors={**chained.errors, **_errors([outcome])})
    by_link = {**chained.by_link, link.name: outcome.value}
    return Chained(fuse(by_link), by_link, reports, errors=chained.errors)


def reason_for(matches: Matches, row: int) -> str:
    """Return the sentence of a link about a row, or an empty string if the link fails."""
    try:
        return str(matches.reason(row))
    except Exception:
        return ""


def _checked(found: object, rows: Rows) -> Matches:
    """Return the matches of a link in rising order of rows, with arrays of one type, or raise Invalid.

    `rows` are those that the link was asked about, in rising order.
    """
    if not isinstance(found, Matches):
        raise Invalid(f"It returned {type(found).__name__}, not matches.")
    if not isinstance(found.certain, bool) or not callable(found.reason):
        raise Invalid("Its matches have no reason, or are neither certain nor uncertain.")
    named, scores = _numbers(found.rows, "iu", "rows"), _numbers(found.scores, "iuf", "scores")
    if len(named) != len(scores):
        raise Invalid(f"It returned {len(named)} rows and {len(scores)} scores.")
    named, scores = _rising(named.astype(np.intp, copy=False), scores.astype(np.float64, copy=False))
    if not len(named):
        return replace(found, rows=named, scores=scores)
    largest = max(float(scores.max()), -float(scores.min()))
    if not math.isfinite(largest):
        raise Invalid("A score is infinite or not a number.")
    if largest > MOST_SCORE:
        raise Invalid(f"A score is beyond {MOST_SCORE:,.0f}.")
    at = np.searchsorted(rows, named)
    if at[-1] == len(rows) or not (rows[at] == named).all():
        raise Invalid("It named a skill that it was not given.")
    return found if named is found.rows and scores is found.scores else replace(found, rows=named, scores=scores)


def _rising(rows: Rows, scores: NDArray[np.float64]) -> tuple[Rows, NDArray[np.float64]]:
    """Return rows in rising order with their scores. Raise Invalid if a row occurs twice."""
    if (rows[1:] > rows[:-1]).all():  # as in most links
        return rows, scores
    order = np.argsort(rows)
    rows, scores = rows[order], scores[order]
    if (rows[1:] == rows[:-1]).any():
        raise Invalid("It named a skill twice.")
    return rows, scores


def _numbers(values: object, kinds: str, what: str) -> NDArray[np.generic]:
    """Return a one-dimensional array of numbers. Booleans are refused, also in a list of numbers."""
    if isinstance(values, (list, tuple)):
        mixed = any(
            isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)) for value in values
        )
        values = np.array([] if mixed else values, dtype=np.float64 if "f" in kinds else np.intp)
        if mixed:
            raise Invalid(f"Its {what} are not all numbers.")
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in kinds:
        raise Invalid(f"Its {what} are not numbers.")
    return values


def _errors(outcomes: Sequence[Outcome[Matches]]) -> dict[str, Exception]:
    return {outcome.name: outcome.error for outcome in outcomes if outcome.error is not None}


def _report(outcome: Outcome[Matches]) -> LinkReport:
    status, detail = outcome.status, outcome.detail
    if isinstance(outcome.error, (Invalid, Unavailable)):
        status = INVALID if isinstance(outcome.error, Invalid) else UNAVAILABLE
        detail = str(outcome.error)
    elif outcome.error is not None:
        detail = f"It raised {type(outcome.error).__name__}."
    return LinkReport(outcome.name, round(outcome.seconds * 1_000, 3), status, detail[:_DETAIL_CHARS])
