"""Lint rules about the name of a skill."""

import re
import unicodedata
from collections.abc import Iterator

from registry.core.bundle import normalise
from registry.core.findings import Finding, Severity
from registry.core.lint.context import Subject

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_RESERVED = frozenset({"all", "catalog", "default", "latest", "new", "none", "route", "skill", "skills"})
_BRANDS = ("anthropic", "claude")
# Letters of other scripts, and digits, that are drawn like a letter of ours.
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһӏνοα013", "aeopcyxijsdhlvoaole")


def name_pattern(subject: Subject) -> Iterator[Finding]:
    name = subject.skill.name
    if not _NAME.fullmatch(name):
        near = suggested_name(name)
        taken = near in (subject.known_names or ())
        yield subject.about(
            "name-pattern", subject.strict, "name",
            f"The name “{name[:80]}” is not made of lowercase letters a–z, digits and single hyphens.",
            f"Choose another: {near} is taken." if taken else f"Name it {near}.",
        )  # fmt: skip


def suggested_name(name: str) -> str:
    """The nearest name that every client takes."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))[:64].strip("-") or "a-short-name"


def name_length(subject: Subject) -> Iterator[Finding]:
    length, most = len(subject.skill.name), subject.limits.name_chars
    if length > most:
        yield subject.about(
            "name-length",
            subject.strict,
            "name",
            f"The name has {length:,} characters. {most} are allowed.",
            "Shorten it.",
        )


def name_reserved(subject: Subject) -> Iterator[Finding]:
    name = normalise(subject.skill.name)
    brand = next((brand for brand in _BRANDS if brand in name), "")
    if name in _RESERVED:
        yield subject.about(
            "name-reserved",
            Severity.WARNING,
            "name",
            f"The name “{name}” is a word of the system and reads like a command.",
            "Say what the skill does: expense-report, release-notes.",
        )
    elif brand:
        yield subject.about(
            "name-reserved",
            Severity.WARNING,
            "name",
            f"The name holds “{brand}”, and clients of that maker refuse it.",
            "Leave that word out.",
        )


def name_confusable(subject: Subject) -> Iterator[Finding]:
    name = normalise(subject.skill.name)
    looks = name.translate(_LOOKALIKES)
    if not name.isascii() and looks.isascii():
        yield subject.about(
            "name-confusable",
            Severity.WARNING,
            "name",
            f"The name looks like “{looks}” and is spelled with letters of another script.",
            "Spell it with the letters a–z.",
        )
    own = _looks(name)
    for other in sorted(each for each in subject.known_names or () if each != name and _looks(each) == own):
        yield subject.about(
            "name-confusable",
            Severity.WARNING,
            "name",
            f"The name “{name}” is easily taken for “{other}”, which is another skill.",
            "Choose a name that differs in a word.",
        )


def _looks(name: str) -> str:
    plain = name.translate(_LOOKALIKES).replace("-", "").replace("_", "")
    return plain.replace("rn", "m").replace("vv", "w").replace("l", "i")


def name_directory(subject: Subject) -> Iterator[Finding]:
    name, directory = subject.skill.name, subject.directory
    if directory and directory != name:
        yield subject.about(
            "name-directory",
            subject.strict,
            "name",
            f"The name is “{name[:80]}” and its directory is “{directory[:80]}”.",
            "Give the directory the name of the skill, or the skill that of the directory.",
        )


RULES = {
    "name-pattern": "Names are lowercase letters, digits and single hyphens.",
    "name-length": "Names have at most 64 characters.",
    "name-reserved": "Names are not words of the system, nor the names of makers of clients.",
    "name-confusable": "Names do not look like another name.",
    "name-directory": "The name is that of the directory.",
}

CHECKS = (name_pattern, name_length, name_reserved, name_confusable, name_directory)
