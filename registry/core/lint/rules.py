"""Lint: every rule over one skill, as findings that name the file, the line and the fix.

Authoring is strict and importing is lenient: what stops an author is a warning about a skill that comes from
elsewhere, because that one is kept and served as it is.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType

from registry.core.bundle import Bundle
from registry.core.findings import Finding, in_reading_order
from registry.core.format.skill_md import SkillMd
from registry.core.limits import DEFAULT, Limits
from registry.core.lint import bundle_rules, danger_rules, header_rules, name_rules
from registry.core.lint.context import Subject, readable

_WHILE_READING = {
    "name-missing": "The header names the skill.",
    "kind-unknown": "The kind is `knowledge` or `tool`.",
    "metadata-map": "`metadata` is a map.",
    "frontmatter-bom": "SKILL.md starts without a byte order mark.",
    "frontmatter-tolerant": "A value with a colon and a space stands in quotes.",
    "frontmatter-two-places": "A key stands in one place.",
}

# What each rule asks for, by its id. Ids never change: people silence rules by them.
RULES: Mapping[str, str] = MappingProxyType(
    {**_WHILE_READING, **name_rules.RULES, **header_rules.RULES, **bundle_rules.RULES, **danger_rules.RULES}
)
_CHECKS = (*name_rules.CHECKS, *header_rules.CHECKS, *bundle_rules.CHECKS, *danger_rules.CHECKS)


def lint(
    skill: SkillMd, bundle: Bundle, *, authoring: bool, known_names: Collection[str] | None = None,
    directory: str | None = None, limits: Limits = DEFAULT,
) -> tuple[Finding, ...]:  # fmt: skip
    """All findings, what was odd while reading included, in reading order."""
    subject = Subject(skill, bundle, readable(bundle, limits), authoring, known_names, directory, limits)
    found = [finding for check in _CHECKS for finding in check(subject)]
    return in_reading_order(dict.fromkeys([*skill.warnings, *found]))


def requirements(
    skill: SkillMd, bundle: Bundle, *, known_names: Collection[str], limits: Limits = DEFAULT
) -> tuple[Finding, ...]:
    """Only what is to be said about the skills that it requires, where the rest is known by its bytes."""
    return tuple(bundle_rules.requires(Subject(skill, bundle, {}, False, known_names, None, limits)))
