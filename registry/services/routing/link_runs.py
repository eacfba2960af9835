"""Runs of the routing chain in this process: its threads, its optional last link, its counters and its log."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Mapping

from registry.core.routing import chain, fusion, question_chain
from registry.core.routing.chain import Chained
from registry.core.routing.link import Link, Rows, Unavailable
from registry.core.routing.question import Question
from registry.lib.steps import OK, SKIPPED, StepRunner

log = logging.getLogger(__name__)

_THREADS = 32  # a run uses one, and a link that hangs keeps one
_LOG_SECONDS = 600  # between two messages about one link and one status
_MOST_LOGGED = 1_000

runner = StepRunner(_THREADS)
_lock = threading.Lock()
_counts: Counter[tuple[str, str]] = Counter()
_logged: dict[tuple[str, str], float] = {}


def run(question: Question, rows: Rows, *, most: int, alone: bool = True) -> Chained:
    """Ask the links of the chain about a question."""
    chained = question_chain.run(question, rows, most=most, runner=runner, alone=alone)
    _note(chained)
    return chained


def reorder(
    link: Link[Question], question: Question, chained: Chained, *, most: int, seconds: float, rest: float
) -> Chained:
    """Ask the last link about the best skills."""
    reordered = chain.reorder(
        link,
        question,
        chained,
        fuse=lambda matches: fusion.fuse(question, matches, most),
        runner=runner,
        seconds=seconds,
        rest=rest,
    )
    _note(reordered, only=link.name)
    return reordered


def counts() -> Mapping[tuple[str, str], int]:
    """Return how often each link ended with each status, since the process started."""
    with _lock:
        return dict(_counts)


def _note(chained: Chained, only: str = "") -> None:
    """Count the links, and log those that failed: once in a while for each link and status."""
    now = time.monotonic()
    for report in chained.reports:
        if only and report.name != only:
            continue
        kind = report.name, report.status
        with _lock:
            _counts[kind] += 1
            times = _counts[kind]
            due = report.status not in (OK, SKIPPED) and now - _logged.get(kind, -_LOG_SECONDS) >= _LOG_SECONDS
            if due and (kind in _logged or len(_logged) < _MOST_LOGGED):
                _logged[kind] = now
        if due:
            error = chained.errors.get(report.name)
            missing = isinstance(error, Unavailable)
            log.log(
                logging.INFO if missing else logging.WARNING,
                "The routing link %s was left out (%s, number %d since the start). %s",
                *kind,
                times,
                report.detail,
                exc_info=None if missing else error,
            )
