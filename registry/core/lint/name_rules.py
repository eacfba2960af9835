"""Lint rules about the name of a skill."""

import re
import unicodedata
from collections.abc import Iterator

from registry.core.bundle import normalise
from registry.core.findings import Finding, Severity
from registry.core.format.client_compat import NAME_PATTERN
from registry.core.lint.context import LintContext

_RESERVED = frozenset({"all", "catalog", "default", "latest", "new", "none", "route", "skill", "skills"})
_BRANDS = ("anthropic", "claude")
# Digits, and letters of other scripts, that look like a Latin letter.
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһӏνοα013", "aeopcyxijsdhlvoaole")


def name_pattern(context: LintContext) -> Iterator[Finding]:
    name = context.skill.name
    if not NAME_PATTERN.fullmatch(name):
        suggestion = suggested_name(name)
        taken = suggestion in (context.known_names or ())
        yield context.header_finding(
            "name-pattern",
            context.author_severity,
            "name",
            f"The name “{name[:80]}” is not allowed. Names use lowercase letters (a–z), digits and single hyphens.",
            f"Choose another name. {suggestion} is already taken." if taken else f"Change it to {suggestion}.",
        )


def suggested_name(name: str) -> str:
    """Return the closest name that every client accepts."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))[:64].strip("-") or "a-short-name"


def name_length(context: LintContext) -> Iterator[Finding]:
    length, limit = len(context.skill.name), context.limits.name_chars
    if length > limit:
        yield context.header_finding(
            "name-length",
            context.author_severity,
            "name",
            f"The name has {length:,} characters. {limit} are allowed.",
            "Shorten the name.",
        )


def name_reserved(context: LintContext) -> Iterator[Finding]:
    name = normalise(context.skill.name)
    brand = next((brand for brand in _BRANDS if brand in name), "")
    if name in _RESERVED:
        yield context.header_finding(
            "name-reserved",
            Severity.WARNING,
            "name",
            f"The name “{name}” is a reserved word.",
            "Choose a name that says what the skill does, such as expense-report.",
        )
    elif brand:
        yield context.header_finding(
            "name-reserved",
            Severity.WARNING,
            "name",
            f"The name contains “{brand}”. Some agents reject names with that word.",
            "Remove that word from the name.",
        )


def name_confusable(context: LintContext) -> Iterator[Finding]:
    name = normalise(context.skill.name)
    latin = name.translate(_LOOKALIKES)
    if not name.isascii() and latin.isascii():
        yield context.header_finding(
            "name-confusable",
            Severity.WARNING,
            "name",
            f"The name looks like “{latin}” but uses letters of another alphabet.",
            "Type the name again with the letters a–z.",
        )
    skeleton = _skeleton(name)
    for other in sorted(each for each in context.known_names or () if each != name and _skeleton(each) == skeleton):
        yield context.header_finding(
            "name-confusable",
            Severity.WARNING,
            "name",
            f"The name “{name}” is easy to confuse with “{other}”, which is another skill.",
            "Choose a name that differs by a whole word.",
        )


def _skeleton(name: str) -> str:
    """Return the same text for names that look alike."""
    plain = name.translate(_LOOKALIKES).replace("-", "").replace("_", "")
    return plain.replace("rn", "m").replace("vv", "w").replace("l", "i")


def name_directory(context: LintContext) -> Iterator[Finding]:
    name, directory = context.skill.name, context.directory
    if directory and directory != name:
        yield context.header_finding(
            "name-directory",
            context.author_severity,
            "name",
            f"The skill is called “{name[:80]}”, but its folder is called “{directory[:80]}”.",
            "Rename one of them so that they match.",
        )


RULES = {
    "name-pattern": "Names use lowercase letters, digits and single hyphens.",
    "name-length": "Names have at most 64 characters.",
    "name-reserved": "Names are neither reserved words nor brand names.",
    "name-confusable": "Names do not look like another name.",
    "name-directory": "The name matches the folder.",
}

CHECKS = (name_pattern, name_length, name_reserved, name_confusable, name_directory)
