"""Words for the results of routing: links, states and probabilities, for people who do not know the terms."""

from dataclasses import dataclass

from registry.lib.percent import in_percent

# Label and explanation of each link. A link that is not listed shows its own name.
_LINKS = {
    "names": ("Name", "Looks for the name of the skill in the question."),
    "triggers": ("Triggers and tags", "Looks for the phrases and tags that the author gave the skill."),
    "summary": ("Name and description", "Compares words with the name, title and description."),
    "full_text": ("Whole text", "Compares words with the whole instructions."),
    "meaning": ("Meaning", "Compares what is meant, so that other words for the same thing count too."),
    "rerank": ("Language model", "Asks a language model to put the first results in order."),
}
_STATES = {
    "ok": "Done",
    "skipped": "Skipped",
    "unavailable": "Not available",
    "failed": "Failed",
    "timeout": "Too slow",
    "invalid": "Unusable answer",
}
_THRESHOLDS = {
    "request": "chosen for this question",
    "project": "set by an owner of this project",
    "learned": "learned from your test questions",
    "default": "the default until the next run of the test questions",
}
_CERTAINTY = (
    (1.0, "certain"),
    (0.98, "almost certainly right"),
    (0.9, "very likely right"),
    (0.7, "probably right"),
    (0.5, "more likely right than wrong"),
    (0.3, "more likely wrong than right"),
    (0.0, "probably wrong"),
)


@dataclass(frozen=True, slots=True)
class LinkWords:
    label: str
    hint: str


def link(name: str) -> LinkWords:
    label, hint = _LINKS.get(name, (name.replace("_", " ").capitalize(), ""))
    return LinkWords(label, hint)


def state(status: str) -> str:
    return _STATES.get(status, status.capitalize())


def threshold_from(origin: str) -> str:
    return _THRESHOLDS.get(origin, origin)


def percent(share: float) -> str:
    """Return 0.837 as "84 %". Only 1 is "100 %" and only 0 is "0 %"."""
    whole = round(100 * share)
    if 0 < share < 1:
        whole = min(99, max(1, whole))
    return f"{whole}\u00a0%"


def probability(confidence: float) -> str:
    """Return the probability that a match is right, such as "84 %" or "<1 %"."""
    return f"{in_percent(confidence)}\u00a0%"


def certainty(confidence: float) -> str:
    return next(words for least, words in _CERTAINTY if confidence >= least)
