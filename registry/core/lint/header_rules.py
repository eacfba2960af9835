"""Lint rules about the header of SKILL.md."""

import re
from collections.abc import Iterator, Mapping
from typing import cast

import yaml

from registry.core.bundle import SKILL_MD
from registry.core.findings import Finding, Severity
from registry.core.format.client_compat import COMPATIBILITY_CHARS
from registry.core.lint.context import LintContext

SPEC_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
OUR_KEYS = ("kind", "tags", "requires", "triggers", "inputs", "outputs", "version")
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


def description_length(context: LintContext) -> Iterator[Finding]:
    length, limit = len(context.skill.description), context.limits.description_chars
    if length > limit:
        yield context.header_finding(
            "description-length",
            context.author_severity,
            "description",
            f"The description has {length:,} characters. {limit:,} are allowed. "
            "Agents that connect over MCP or the discovery index do not see the skill.",
            "Say what the skill does and when to use it. Move the rest to the instructions.",
        )
    elif length < SHORT_DESCRIPTION_CHARS:
        yield context.header_finding(
            "description-short",
            Severity.WARNING,
            "description",
            f"The description has only {length} characters. Agents need more to decide when to use the skill.",
            "Say what the skill does and when to use it.",
        )


def description_when(context: LintContext) -> Iterator[Finding]:
    if not _WHEN.search(context.skill.description):
        yield context.header_finding(
            "description-when",
            Severity.HINT,
            "description",
            "The description does not say when to use the skill.",
            "Add a sentence that starts with “Use when”, in the words that people use to ask for it.",
        )


def description_person(context: LintContext) -> Iterator[Finding]:
    if match := _FIRST_PERSON.search(context.skill.description):
        yield context.header_finding(
            "description-first-person",
            Severity.HINT,
            "description",
            f"The description says “{match[0].strip(' .!?')}”. An agent may think that this means itself.",
            "Describe the skill instead, for example “Checks an expense report”.",
        )


def description_vague(context: LintContext) -> Iterator[Finding]:
    if match := _VAGUE.search(context.skill.description):
        yield context.header_finding(
            "description-vague",
            Severity.HINT,
            "description",
            f"“{match[0]}” in the description could mean any task.",
            "Name the tasks that the skill is for.",
        )


def description_brackets(context: LintContext) -> Iterator[Finding]:
    if match := re.search(r"[<>]", context.skill.description):
        yield context.header_finding(
            "description-brackets",
            Severity.WARNING,
            "description",
            f"The description contains “{match[0]}”. Some agents reject descriptions with angle brackets.",
            "Use words instead.",
        )


def header_dashes(context: LintContext) -> Iterator[Finding]:
    layout = context.skill.document.layout
    at = layout.text.find("---")
    if at >= 0:
        yield Finding(
            "frontmatter-dashes",
            Severity.WARNING,
            SKILL_MD,
            layout.text.count("\n", 0, at) + 2,
            "The header contains `---` inside a line. Some agents think that the header ends there.",
            "Use a dash (–) or a comma instead.",
        )


def header_flow(context: LintContext) -> Iterator[Finding]:
    loaded = context.skill.document.layout.loaded
    if loaded.flow:
        yield Finding(
            "frontmatter-flow",
            Severity.HINT,
            SKILL_MD,
            2,
            "The whole header is in brackets. Some agents cannot read that.",
            "Write one `key: value` per line.",
        )
    for path, key in loaded.keys.items():
        if not key.block and key.read_as in ("seq", "map"):
            yield Finding(
                "frontmatter-flow",
                Severity.HINT,
                SKILL_MD,
                key.line + 2,
                f"`{'.'.join(path)}` is written in brackets. Some agents cannot read that.",
                "Write it as one text in quotes, or as a list with one item per line.",
            )


def header_anchors(context: LintContext) -> Iterator[Finding]:
    source = context.skill.document.layout.source
    if "&" in source:
        for token in yaml.scan(source):
            if isinstance(token, yaml.AnchorToken):
                yield Finding(
                    "frontmatter-anchor",
                    Severity.HINT,
                    SKILL_MD,
                    cast(yaml.Mark, token.start_mark).line + 2,
                    "The header uses a YAML anchor (`&`). Some agents cannot read that.",
                    "Remove the anchor and write the value in full wherever you need it.",
                )


def header_keys(context: LintContext) -> Iterator[Finding]:
    for key in context.skill.document.fields:
        if key in OUR_KEYS:
            yield context.header_finding(
                "frontmatter-key-place",
                Severity.WARNING,
                key,
                f"`{key}` is at the top level of the header. Some agents reject skills with this key there.",
                f'Move it under `metadata`: `{key}: "…"`.',
            )
        elif key not in SPEC_KEYS:
            yield context.header_finding(
                "frontmatter-key-unknown",
                Severity.HINT,
                key,
                f"`{key[:60]}` is not part of the skill format. Some agents reject skills with other keys.",
                "Move it under `metadata`, or keep it if one of your agents needs it here.",
            )


def metadata_nested(context: LintContext) -> Iterator[Finding]:
    for key, value in _metadata(context).items():
        if isinstance(value, tuple | Mapping):
            what = "a list" if isinstance(value, tuple) else "a map"
            yield context.header_finding(
                "metadata-nested",
                Severity.WARNING,
                f"metadata.{key}",
                f"`metadata.{key}` is {what}. Only text is allowed there.",
                "Write it as one text in quotes, with commas between the items.",
            )


def values_read_as_text(context: LintContext) -> Iterator[Finding]:
    """Find values that other YAML parsers turn into numbers, dates or booleans. Strict clients reject those."""
    document = context.skill.document
    for key in (*_TEXT_KEYS, *(f"metadata.{key}" for key in _metadata(context))):
        read_as = document.read_as.get(key, "str")
        if read_as in ("str", "seq", "map") or (key == "name" and read_as == "null"):  # reported as name-missing
            continue
        yield context.header_finding(
            "metadata-text" if key.startswith("metadata.") else "frontmatter-text",
            Severity.WARNING,
            key,
            f"Agents read `{key}` as {_READ_AS.get(read_as, read_as)}, not as text.",
            "Put the value in double quotes.",
        )


def _metadata(context: LintContext) -> Mapping[str, object]:
    metadata = context.skill.document.fields.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def allowed_tools(context: LintContext) -> Iterator[Finding]:
    if isinstance(context.skill.document.fields.get("allowed-tools"), tuple | Mapping):
        yield context.header_finding(
            "allowed-tools-list",
            Severity.WARNING,
            "allowed-tools",
            "`allowed-tools` is a list. It must be one text.",
            "Write the tools as one text in quotes, with spaces between them.",
        )


def compatibility(context: LintContext) -> Iterator[Finding]:
    length = len(context.skill.compatibility)
    if length > COMPATIBILITY_CHARS:
        yield context.header_finding(
            "compatibility-length",
            Severity.WARNING,
            "compatibility",
            f"`compatibility` has {length:,} characters. {COMPATIBILITY_CHARS} are allowed.",
            "Shorten it. Move the rest to the instructions.",
        )


RULES = {
    "description-length": "Descriptions have at most 1,024 characters.",
    "description-short": "Descriptions are long enough for agents to choose by.",
    "description-when": "Descriptions say when to use the skill.",
    "description-first-person": "Descriptions do not use the first person.",
    "description-vague": "Descriptions name specific tasks.",
    "description-brackets": "Descriptions have no angle brackets.",
    "frontmatter-dashes": "The header has no `---` inside a line.",
    "frontmatter-flow": "The header has no lists or maps in brackets.",
    "frontmatter-anchor": "The header has no YAML anchors.",
    "frontmatter-key-place": "Keys outside the skill format are under `metadata`.",
    "frontmatter-key-unknown": "Keys at the top level are part of the skill format.",
    "frontmatter-text": "Every YAML parser reads the name, the description and other texts as text.",
    "metadata-nested": "Values under `metadata` are text, not lists or maps.",
    "metadata-text": "Values under `metadata` are text, not numbers or dates.",
    "allowed-tools-list": "`allowed-tools` is one text.",
    "compatibility-length": "`compatibility` has at most 500 characters.",
}

CHECKS = (
    description_length, description_when, description_person, description_vague, description_brackets,
    header_dashes, header_flow, header_anchors, header_keys, metadata_nested, values_read_as_text,
    allowed_tools, compatibility,
)  # fmt: skip
