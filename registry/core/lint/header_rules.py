"""Lint rules about the header of SKILL.md: the description, and what some clients refuse."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

import yaml

from registry.core.bundle import SKILL_MD
from registry.core.findings import Finding, Severity
from registry.core.lint.context import Subject

SPEC_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
OUR_KEYS = ("kind", "tags", "requires", "triggers", "inputs", "outputs", "version")
COMPATIBILITY_CHARS = 500
SHORT_DESCRIPTION_CHARS = 20

_WHEN = re.compile(
    r"\b(when|whenever|use (it|this|for|if|to|before|after)|used? (when|for)|if (the|a|an|you|your|someone)|"
    r"before|after|while|during|triggers?|wenn|falls|sobald|verwende|nutze|bei|quand|lorsque|cuando|al)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"(^|[.!?] )(I|We)\b|\bI (can|will|help|am|do)\b|\bI['’](m|ll|ve|d)\b|\blet me\b")
_VAGUE = re.compile(
    r"\b(various (things|tasks|stuff)|all (kinds|sorts) of|does everything|stuff|general[- ]purpose|"
    r"helps? with (things|tasks|work)|miscellaneous|and (much )?more|etc)\b",
    re.IGNORECASE,
)
_TEXT_KEYS = ("name", "description", "license", "compatibility", "allowed-tools")
_READ_AS = {
    "int": "a number", "float": "a number", "bool": "true or false", "null": "nothing", "timestamp": "a date",
}  # fmt: skip


def description_length(subject: Subject) -> Iterator[Finding]:
    length, most = len(subject.skill.description), subject.limits.description_chars
    if length > most:
        yield subject.about(
            "description-length",
            subject.strict,
            "description",
            f"The description has {length:,} characters. {most:,} are allowed. "
            "With more, MCP and the discovery index leave the skill out.",
            "Keep what it does and when to use it; move the rest to the instructions.",
        )
    elif length < SHORT_DESCRIPTION_CHARS:
        yield subject.about(
            "description-short",
            Severity.WARNING,
            "description",
            f"The description has {length} characters, too few for an agent to choose by.",
            "Say what the skill does and when to use it.",
        )


def description_when(subject: Subject) -> Iterator[Finding]:
    if not _WHEN.search(subject.skill.description):
        yield subject.about(
            "description-when",
            Severity.HINT,
            "description",
            "The description does not say when to use the skill.",
            "Add a sentence that starts with “Use when”, in the words people ask with.",
        )


def description_person(subject: Subject) -> Iterator[Finding]:
    if found := _FIRST_PERSON.search(subject.skill.description):
        yield subject.about(
            "description-first-person",
            Severity.HINT,
            "description",
            f"The description speaks as “{found[0].strip(' .!?')}”, which an agent takes for itself.",
            "Write what the skill does: “Checks an expense report”.",
        )


def description_vague(subject: Subject) -> Iterator[Finding]:
    if found := _VAGUE.search(subject.skill.description):
        yield subject.about(
            "description-vague",
            Severity.HINT,
            "description",
            f"“{found[0]}” in the description fits any task.",
            "Name the tasks it is for.",
        )


def description_brackets(subject: Subject) -> Iterator[Finding]:
    if found := re.search(r"[<>]", subject.skill.description):
        yield subject.about(
            "description-brackets",
            Severity.WARNING,
            "description",
            f"The description holds “{found[0]}”; some clients refuse angle brackets there.",
            "Write it in words.",
        )


def header_dashes(subject: Subject) -> Iterator[Finding]:
    layout = subject.skill.document.layout
    at = layout.text.find("---")
    if at >= 0:
        yield Finding(
            "frontmatter-dashes",
            Severity.WARNING,
            SKILL_MD,
            layout.text.count("\n", 0, at) + 2,
            "The header holds `---` inside a line, and some readers end the header there.",
            "Use a dash (–) or a comma.",
        )


def header_flow(subject: Subject) -> Iterator[Finding]:
    loaded = subject.skill.document.layout.loaded
    if loaded.flow:
        yield Finding(
            "frontmatter-flow",
            Severity.HINT,
            SKILL_MD,
            2,
            "The whole header is written in brackets, which strict readers refuse.",
            "Write one `key: value` a line.",
        )
    for path, key in loaded.keys.items():
        if not key.block and key.read_as in ("seq", "map"):
            yield Finding(
                "frontmatter-flow",
                Severity.HINT,
                SKILL_MD,
                key.line + 2,
                f"`{'.'.join(path)}` is written in brackets, which strict readers refuse.",
                "Write it as one quoted text, or one item a line.",
            )


def header_anchors(subject: Subject) -> Iterator[Finding]:
    source = subject.skill.document.layout.source
    if "&" in source:
        for token in yaml.scan(source):
            if isinstance(token, yaml.AnchorToken):
                yield Finding(
                    "frontmatter-anchor",
                    Severity.HINT,
                    SKILL_MD,
                    cast(yaml.Mark, token.start_mark).line + 2,
                    "The header uses a YAML anchor (`&`), which strict readers refuse.",
                    "Write the value out where it is used.",
                )


def header_keys(subject: Subject) -> Iterator[Finding]:
    for key in subject.skill.document.fields:
        if key in OUR_KEYS:
            yield subject.about(
                "frontmatter-key-place",
                Severity.WARNING,
                key,
                f"`{key}` stands at the top level, where strict clients refuse it.",
                f'Move it under `metadata`: `{key}: "…"`.',
            )
        elif key not in SPEC_KEYS:
            yield subject.about(
                "frontmatter-key-unknown",
                Severity.HINT,
                key,
                f"`{key[:60]}` is not a key of the format; strict clients refuse the file.",
                "Keep it if a client of yours reads it; else move it under `metadata`.",
            )


def metadata_nested(subject: Subject) -> Iterator[Finding]:
    for key, value in _metadata(subject).items():
        if isinstance(value, tuple | Mapping):
            what = "a list" if isinstance(value, tuple) else "a map"
            yield subject.about(
                "metadata-nested",
                Severity.WARNING,
                f"metadata.{key}",
                f"`metadata.{key}` is {what}; only texts are allowed there.",
                "Write it as one quoted text, items separated by commas.",
            )


def values_read_as_text(subject: Subject) -> Iterator[Finding]:
    """Strict clients refuse a name or description that their reader makes a number or a date of."""
    document = subject.skill.document
    for key in (*_TEXT_KEYS, *(f"metadata.{key}" for key in _metadata(subject))):
        read_as = document.read_as.get(key, "str")
        if read_as in ("str", "seq", "map") or (key == "name" and read_as == "null"):  # a missing name is said already
            continue
        yield subject.about(
            "metadata-text" if key.startswith("metadata.") else "frontmatter-text",
            Severity.WARNING,
            key,
            f"`{key}` is read as {_READ_AS.get(read_as, read_as)}, not as text.",
            "Put the value in double quotes.",
        )


def _metadata(subject: Subject) -> Mapping[str, object]:
    inside = subject.skill.document.fields.get("metadata")
    return inside if isinstance(inside, Mapping) else {}


def allowed_tools(subject: Subject) -> Iterator[Finding]:
    if isinstance(subject.skill.document.fields.get("allowed-tools"), tuple | Mapping):
        yield subject.about(
            "allowed-tools-list",
            Severity.WARNING,
            "allowed-tools",
            "`allowed-tools` is a list; the format asks for one text.",
            "Write the tools in one quoted text, separated by spaces.",
        )


def compatibility(subject: Subject) -> Iterator[Finding]:
    length = len(subject.skill.compatibility)
    if length > COMPATIBILITY_CHARS:
        yield subject.about(
            "compatibility-length",
            Severity.WARNING,
            "compatibility",
            f"`compatibility` has {length:,} characters. {COMPATIBILITY_CHARS} are allowed.",
            "Shorten it, and move the rest to the instructions.",
        )


RULES = {
    "description-length": "Descriptions have at most 1,024 characters.",
    "description-short": "Descriptions say enough to choose by.",
    "description-when": "Descriptions say when to use the skill.",
    "description-first-person": "Descriptions speak about the skill, not as “I”.",
    "description-vague": "Descriptions name tasks.",
    "description-brackets": "Descriptions have no angle brackets.",
    "frontmatter-dashes": "The header has no `---` inside a line.",
    "frontmatter-flow": "The header has no lists or maps in brackets.",
    "frontmatter-anchor": "The header has no YAML anchors.",
    "frontmatter-key-place": "Keys that the format does not know stand under `metadata`.",
    "frontmatter-key-unknown": "Keys at the top level are those of the format.",
    "frontmatter-text": "The name, the description and other texts are texts to every reader.",
    "metadata-nested": "Values under `metadata` are texts, not lists or maps.",
    "metadata-text": "Values under `metadata` are texts, not numbers or dates.",
    "allowed-tools-list": "`allowed-tools` is one text.",
    "compatibility-length": "`compatibility` has at most 500 characters.",
}

CHECKS = (
    description_length, description_when, description_person, description_vague, description_brackets,
    header_dashes, header_flow, header_anchors, header_keys, metadata_nested, values_read_as_text,
    allowed_tools, compatibility,
)  # fmt: skip
