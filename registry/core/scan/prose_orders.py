"""Orders in prose, found by what a sentence says and not by how it says it.

Each sentence has facts, such as an address, an order to obey, and “nobody is asked”. An alarm is a combination of
facts in one sentence or its neighbours. Quotes and sentences about attacks raise no alarm.
"""

import re
from collections.abc import Iterator

from registry.core.findings import shorten
from registry.core.scan import prose_harm, prose_remote, prose_tricks
from registry.core.scan.matches import Match, Rule
from registry.core.scan.prose_facts import Sentence, sentences
from registry.core.scan.prose_words import Fact
from registry.core.scan.quoting import about_harm, about_people, in_quotes

_OF_AGENT = re.compile(r"\bmcp\b|permission|allow[- ]?list|Bash\(", re.IGNORECASE)
# An address in a block of its own, in the middle of a sentence.
_APART = re.compile(r"([\w,:])\n\n( {0,8}`{0,3}https?://\S{4,300})\n\n(?=\S)")
_MOST_PARAGRAPHS = 4_000


def find(text: str, *, first_line: int = 1) -> Iterator[Match]:
    """Yield the orders of a text. Lines that quote a warning are blank already."""
    at = line = 0
    text = _APART.sub(r"\1\n \n\2\n \n", text)
    for paragraph in text.split("\n\n")[:_MOST_PARAGRAPHS]:
        found = list(sentences(paragraph, at))
        some = any(sentence.words or sentence.at for sentence in found)  # a paragraph of signs alone has no orders
        for index, sentence in enumerate(found if some else ()):
            rule = _rule(found, index)
            if rule and not (about_harm(sentence.text) or _is_quote(paragraph, sentence.start - at, sentence)):
                lead = len(sentence.text) - len(sentence.text.lstrip())
                within = paragraph.count("\n", 0, sentence.start - at + lead)
                yield Match(line + within + first_line, rule, shorten(" ".join(sentence.text.split())))
        line += paragraph.count("\n") + 2
        at += len(paragraph) + 2


def _rule(found: list[Sentence], index: int) -> Rule | None:
    sentence = found[index]
    around = found[max(0, index - 1) : index + 2]
    if Fact.ADDRESS in sentence.at and not about_people(sentence.text) and prose_remote.remote(found, index):
        return Rule.REMOTE_ORDERS
    if prose_harm.sends_data(sentence, around) or prose_harm.fills_address(sentence):
        return Rule.DATA_SENT
    after = found[index + 1] if index + 1 < len(found) else None
    if prose_harm.opens_access(sentence, after):
        return Rule.PERMISSIONS if _OF_AGENT.search(sentence.text) else Rule.ACCESS
    if prose_harm.collects_secret(sentence):
        return Rule.ACCESS
    if prose_harm.lifts_guards(sentence):
        return Rule.PERMISSIONS
    if prose_remote.outranks(sentence) or prose_remote.against_user(sentence) or prose_harm.rigs(found, index):
        return Rule.OVERRIDE
    if prose_harm.conceals(sentence) or prose_harm.goes_unnoticed(found, index):
        return Rule.CONCEAL
    return prose_tricks.rule(found, index)


def _is_quote(paragraph: str, start: int, sentence: Sentence) -> bool:
    """Check if the middle of the sentence is inside quotation marks."""
    return in_quotes(paragraph, start + len(sentence.text) // 2)
