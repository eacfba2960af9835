"""Lint: runs every rule on one skill. Each finding names the file, the line and the fix.

Some rules are errors for authored skills and warnings for imported ones, because an imported skill is stored and
served unchanged.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType

from registry.core.bundle import Bundle
from registry.core.findings import Finding, in_reading_order
from registry.core.format.skill_md import SkillMd
from registry.core.limits import DEFAULT, Limits
from registry.core.lint import bundle_rules, danger_rules, header_rules, name_rules
from registry.core.lint.context import LintContext, readable

_PARSER_RULES = {
    "name-missing": "The header has a name.",
    "kind-unknown": "The kind is `knowledge` or `tool`.",
    "metadata-map": "`metadata` is a map.",
    "frontmatter-bom": "SKILL.md does not start with a byte order mark.",
    "frontmatter-tolerant": "A value with a colon and a space is in quotes.",
    "frontmatter-two-places": "A key appears only once.",
}

# Rule ids and what each rule checks. Ids must never change: they are part of the API.
RULES: Mapping[str, str] = MappingProxyType(
    {**_PARSER_RULES, **name_rules.RULES, **header_rules.RULES, **bundle_rules.RULES, **danger_rules.RULES}
)
_CHECKS = (*name_rules.CHECKS, *header_rules.CHECKS, *bundle_rules.CHECKS, *danger_rules.CHECKS)


def lint(
    skill: SkillMd, bundle: Bundle, *, authoring: bool, known_names: Collection[str] | None = None,
    directory: str | None = None, limits: Limits = DEFAULT,
) -> tuple[Finding, ...]:  # fmt: skip
    """Return all findings in reading order, including the warnings of the parser."""
    context = LintContext(skill, bundle, readable(bundle, limits), authoring, known_names, directory, limits)
    findings = [finding for check in _CHECKS for finding in check(context)]
    return in_reading_order(dict.fromkeys([*skill.warnings, *findings]))


def requirements(
    skill: SkillMd, bundle: Bundle, *, known_names: Collection[str], limits: Limits = DEFAULT
) -> tuple[Finding, ...]:
    """Return only the findings that depend on other skills. All others depend on the bytes alone and can be cached."""
    return tuple(bundle_rules.requires(LintContext(skill, bundle, {}, False, known_names, None, limits)))
