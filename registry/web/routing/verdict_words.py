"""Words, tones and icons for the verdicts and categories of test questions."""

from dataclasses import dataclass

from registry.core.routing import metrics
from registry.core.routing.golden import NEAR_MISS, NEGATIVE, POSITIVE

CATEGORIES = {
    POSITIVE: "Finds a skill",
    NEAR_MISS: "Near miss",
    NEGATIVE: "Finds nothing",
}


@dataclass(frozen=True, slots=True)
class VerdictWords:
    """A verdict as a badge, and one sentence that explains it."""

    label: str
    tone: str
    icon: str
    meaning: str


_VERDICTS = {
    metrics.CORRECT_TRIGGER: VerdictWords("Right skill", "ok", "check", "The expected skill was offered first."),
    metrics.TRUE_NEGATIVE: VerdictWords("Right: no skill", "ok", "check", "No skill was offered, as expected."),
    metrics.ACCEPTABLE: VerdictWords("Also fine", "", "check", "An acceptable skill was offered. It does not count."),
    metrics.MISSED_TRIGGER: VerdictWords("Nothing found", "warn", "warning", "A skill was expected, and none offered."),
    metrics.WRONG_SKILL: VerdictWords("Wrong skill", "danger", "error", "Another skill was offered first."),
    metrics.FALSE_TRIGGER: VerdictWords("False trigger", "danger", "error", "A skill was offered, and none expected."),
    metrics.ERROR: VerdictWords("Error", "danger", "error", "The question could not be routed."),
}


def verdict(name: str) -> VerdictWords:
    return _VERDICTS.get(name, VerdictWords(name, "", "info", ""))
