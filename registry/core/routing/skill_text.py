"""SKILL.md as fields that routing reads: name, title, description, triggers, tags, lead, headings and body.

Parts that say when *not* to use a skill are left out, because their words belong to other skills. A part of the form
“for X, see other-skill” is collected as a mention: X describes the other skill.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from registry.core.errors import SkillsiteError
from registry.core.format import skill_md
from registry.core.routing import exclusions
from registry.core.routing.exclusions import Mention

DESCRIPTION_CHARS = 20_000  # read of a description, which may be longer in a built-in skill
BODY_CHARS = 60_000  # read of the instructions
PHRASES = 24  # of a description
MENTIONS = 40  # of other skills
_LEAD_CHARS = 4_000
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_LEAD_HEADING = re.compile(
    r"when to (?:use|activate|apply|call|invoke|run)|use (?:this|it|when|cases?)|scope|overview|purpose|triggers?"
    r"|about|introduction|what (?:this|it|you)|description|summary|goals?|capabilit|activat",
    re.IGNORECASE,
)
# Each part is bounded, so that openings without an end cost little.
_MARKUP = re.compile(
    r"!?\[([^\[\]]{0,300})\]\([^()\n]{0,500}\)|https?://\S+|<!--.{0,1000}?-->|</?[a-z][^<>]{0,500}>", re.DOTALL
)
_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»]{3,120})[\"“”«»]|(?<!\w)['‘]([^'‘’]{3,120})['’](?!\w)")
_SENTENCE = re.compile(r"(?<=[.!?;。！？])\s+|\n+|\s[–—]\s|:\s+")
_CLAUSE = re.compile(r",\s+(?:and\s+|or\s+)?|[、，]")
_LONG_PHRASE = 90  # characters; a longer sentence is also split at its commas


@dataclass(frozen=True, slots=True)
class SkillText:
    """The parts of one skill that are searched. Texts are plain, without Markdown links and code blocks."""

    name: str
    title: str
    description: str
    triggers: tuple[str, ...]
    tags: tuple[str, ...]
    lead: str
    headings: str
    body: str
    phrases: tuple[str, ...]
    mentions: tuple[Mention, ...]


def read(name: str, content: bytes | str) -> SkillText:
    """Read SKILL.md. A file that does not parse is read as plain text, so that it can still be found."""
    try:
        parsed = skill_md.read(content, fallback_name=name)
    except SkillsiteError:
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        return of_parts(name, "", "", text)
    return of_parts(
        name, parsed.title, parsed.description, parsed.document.body, triggers=parsed.triggers, tags=parsed.tags
    )


def of_parts(
    name: str,
    title: str,
    description: str,
    instructions: str,
    *,
    triggers: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> SkillText:
    """Return the fields of a skill whose SKILL.md is parsed already."""
    kept, mentions = exclusions.split(description[:DESCRIPTION_CHARS])
    sections = _sections(instructions[:BODY_CHARS])
    lead: list[str] = []
    headings: list[str] = []
    body: list[str] = []
    for at, (heading, text) in enumerate(sections):
        using, mentioned = exclusions.split_lines(text)
        mentions += mentioned
        if heading and exclusions.is_excluding_heading(heading):
            continue
        plain = _plain(using)
        if at > 0:
            headings.append(_plain(heading))
        (lead if at < 1 or _LEAD_HEADING.search(heading) else body).append(plain)
    opening = "\n".join(lead)
    body.append(opening[_LEAD_CHARS:])
    return SkillText(
        name,
        title,
        kept,
        tuple(triggers),
        tuple(tags),
        opening[:_LEAD_CHARS],
        "\n".join(headings),
        "\n".join(body),
        phrases(kept, triggers),
        tuple(mentions[:MENTIONS]),
    )


def phrases(description: str, triggers: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the quoted phrases, sentences and clauses of a description, which each name one use of the skill."""
    found = list(triggers)
    found += [a or b for a, b in _QUOTED.findall(description)]
    for sentence in _SENTENCE.split(_QUOTED.sub(" ", description)):
        found.append(sentence)
        if len(sentence) > _LONG_PHRASE:
            found += _CLAUSE.split(sentence)
    trimmed = (" ".join(phrase.split()).strip(" .,;:-–—") for phrase in found)
    return tuple(dict.fromkeys(phrase for phrase in trimmed if len(phrase) > 2))[:PHRASES]


def _sections(text: str) -> list[tuple[str, str]]:
    """Return (heading, text) of each section. The first has the title of the document, or none."""
    text = _FENCE.sub(lambda fence: fence.group().replace("#", " "), text.replace("\r\n", "\n"))
    found: list[tuple[str, str]] = []
    heading, start = "", 0
    for match in _HEADING.finditer(text):
        before = text[start : match.start()]
        if found or heading or before.strip():
            found.append((heading, before))
        heading, start = match.group(2), match.end()
    found.append((heading, text[start:]))
    return found


def _plain(text: str) -> str:
    return _MARKUP.sub(lambda match: match.group(1) or " ", text)
