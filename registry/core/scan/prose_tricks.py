"""Orders to deceive people, to overrule them, to destroy, to spend and to leak, composed from the phrases of tricks."""

import re

from registry.core.scan import prose_signs, trick_parts, trick_signs, trick_words
from registry.core.scan.any_case import AnyCase
from registry.core.scan.matches import Rule
from registry.core.scan.prose_facts import Sentence
from registry.core.scan.prose_words import Fact

_CONDITION = AnyCase(
    r"\b(?:only (?:if|when|after|once)|after (?:the )?(?:user|owner|customer|they|he|she)|once (?:the )?(?:user|owner)"
    r"|unless (?:the )?(?:user|owner) (?:has|agree|confirm|approv)|asks? (?:the user |them )?(?:before|first)"
    r"|let the user|wait for a yes)\b",
)
_BEFORE = 3
_ANY_TRIGGER = frozenset().union(*(trick.triggers for trick in trick_words.TRICKS))  # most sentences have none


def rule(found: list[Sentence], index: int) -> Rule | None:
    """Return the rule that the sentence breaks, with the sentences around it."""
    sentence = found[index]
    if prose_signs.OTHER_SCRIPT.search(sentence.text) and (signed := _signed(sentence)):
        return signed
    text = " ".join(sentence.text.split())
    for trick in () if sentence.vocabulary.isdisjoint(_ANY_TRIGGER) else trick_words.TRICKS:
        if sentence.vocabulary.isdisjoint(trick.triggers):
            continue
        match = trick.pattern.search(text)
        if match and not _refused(text, match, trick):
            return trick.rule
    if _destroys(found, index, text) or _spends(found, index, text):
        return Rule.OVERRIDE
    if _leaks(found, index, text):
        return Rule.DATA_SENT
    if _takes_orders(found, index, text):
        return Rule.REMOTE_ORDERS
    return None


def _signed(sentence: Sentence) -> Rule | None:
    for each, pattern in trick_signs.TRICKS:
        if pattern.search(sentence.text):
            return each
    return None


def _refused(text: str, match: re.Match[str], trick: trick_words.Trick) -> bool:
    """Check if the phrase is denied, or holds only on a condition that people control."""
    if trick.veto and trick.veto.search(text):
        return True
    before = text[max(0, match.start() - 25) : match.start()]
    return bool(trick_parts.DENIAL.search(before))


def _unasked(found: list[Sentence], index: int) -> bool:
    """Check if the sentence or the next one says that nobody is asked, and neither sets a condition."""
    around = found[index : index + 2]
    if _CONDITION.search(found[index].text):
        return False
    return any(each.unasked() or trick_parts.UNASKED.search(each.text) for each in around)


def _destroys(found: list[Sentence], index: int, text: str) -> bool:
    sentence = found[index]
    if sentence.vocabulary.isdisjoint(trick_parts.DESTROY) or not trick_parts.DESTROYED.search(text):
        return False
    match = trick_parts.DESTROYED.search(text)
    if trick_parts.WORTHLESS.search(text) or (match and trick_parts.DENIAL.search(text[: match.start()][-25:])):
        return False
    return _unasked(found, index)


def _spends(found: list[Sentence], index: int, text: str) -> bool:
    sentence = found[index]
    if sentence.vocabulary.isdisjoint(trick_parts.SPEND):
        return False
    match = trick_parts.SPENT.search(text)
    if not match or trick_parts.DENIAL.search(text[: match.start()][-25:]):
        return False
    return _unasked(found, index)


def _leaks(found: list[Sentence], index: int, text: str) -> bool:
    """Check for private text that is put into an address or another place that strangers read."""
    sentence = found[index]
    if sentence.vocabulary.isdisjoint(trick_parts.CARRIERS) or sentence.any(Fact.NOT, Fact.WITHOUT):
        return False
    if trick_parts.REDACTED.search(text):
        return False
    carrier = trick_parts.CARRIER.search(text)
    if not carrier:
        return bool(trick_parts.PUBLISHED.search(text))
    window = found[max(0, index - _BEFORE) : index + 1]
    if any(each.any(Fact.NOT, Fact.CONSENT) for each in window):
        return False
    joined = " ".join(" ".join(each.text.split()) for each in window)
    secret = trick_parts.PRIVATE.search(joined)
    if not secret:
        return False
    carried = trick_parts.CARRIED.search(text) is not None
    return carried and bool(trick_parts.ENCODED.search(joined) or trick_parts.PRIVATE.search(text))


def _takes_orders(found: list[Sentence], index: int, text: str) -> bool:
    """Check for a place without an address that others write to, whose orders are obeyed without a review."""
    sentence = found[index]
    placed = not sentence.vocabulary.isdisjoint(trick_parts.PLACES) and trick_parts.PLACE.search(text)
    if not placed and Fact.ADDRESS not in sentence.at:
        return False
    window = found[index : index + 3]
    joined = " ".join(" ".join(each.text.split()) for each in window)
    match = trick_parts.CARRY_OUT.search(joined)
    if not match or trick_parts.DENIAL.search(joined[: match.start()][-25:]):
        return False
    if trick_parts.GUIDE.search(joined):
        return False
    return bool(trick_parts.BLINDLY.search(joined))
