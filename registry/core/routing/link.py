"""The interface of a link: one matcher of the routing chain.

A link is one file in `links/` and one line in `chain.LINKS`. It scores rows of an index, which are candidates that the
caller may name. Its scores are additive evidence in one unit, so that a missing link takes only its own evidence away.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Scores = NDArray[np.float32] | NDArray[np.float64]
QuestionType = TypeVar("QuestionType", contravariant=True)


class Unavailable(Exception):
    """A link cannot work here, for example because a package is missing. The message is a sentence for people."""


class Invalid(Exception):
    """A link returned something else than finite scores of the rows that it was given. The message is for people."""


def no_reason(row: int) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Matches:
    """The scores of a link, one for each of `rows`, in any order. Rows that do not match are left out.

    `reason` returns a sentence for one of the rows; it is called only for skills that are shown. A link that is
    `certain` answers alone, with its best row first.
    """

    rows: Rows
    scores: Scores
    reason: Callable[[int], str] = no_reason
    certain: bool = False


class Link(Protocol[QuestionType]):
    """One matcher. `cost` is its usual time in microseconds at 10,000 skills: the chain is in the order of cost."""

    @property
    def name(self) -> str: ...

    @property
    def cost(self) -> int: ...

    def rank(self, question: QuestionType, rows: Rows) -> Matches:
        """Score some of `rows`, or raise Unavailable if the link cannot work here.

        `rows` are distinct and in rising order. Only the last link, which reorders them, gets them best first.
        """
        ...


def above_zero(
    rows: Rows, scores: NDArray[np.float64], reason: Callable[[int], str], *, certain: bool = False
) -> Matches:
    """Return the rows with a score above zero. `scores` has one for each of `rows`."""
    matched = np.flatnonzero(scores > 0)
    return Matches(rows[matched], scores[matched], reason, certain)
