"""Lint: runs every rule on one skill. Each finding names the file, the line and the fix.

Some rules are errors for authored skills and warnings for imported ones, because an imported skill is stored and
served unchanged.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from registry.core.bundle import Bundle
from registry.core.findings import Category, Finding, in_reading_order
from registry.core.format.skill_md import SkillMd
from registry.core.limits import DEFAULT, Limits
from registry.core.lint import bundle_rules, file_rules, header_rules, name_rules, security_rules, workflow_rules
from registry.core.lint.context import LintContext, readable
from registry.core.scan import scanner
from registry.core.workflows.capability import Capability

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
    {
        **_PARSER_RULES,
        **name_rules.RULES,
        **header_rules.RULES,
        **bundle_rules.RULES,
        **security_rules.RULES,
        **file_rules.RULES,
        **workflow_rules.RULES,
    }
)
_QUALITY = (
    "description-short", "description-when", "description-first-person", "description-vague", "name-reserved",
    "body-empty", "tokens-soft", "tokens-loud", "bundle-large", "bundle-mcp", "file-missing", "link-outside",
    "file-unreferenced", "requires-self", "requires-unknown", "machine-path", *workflow_rules.QUALITY,
)  # fmt: skip
_SECURITY = (
    *security_rules.RULES,
    *file_rules.RULES,
    "name-confusable",
    "text-unread",
)
# The category of each rule that is not about the format. A finding may also name its category itself.
_CATEGORIES = {**dict.fromkeys(_QUALITY, Category.QUALITY), **dict.fromkeys(_SECURITY, Category.SECURITY)}
_CHECKS = (
    *name_rules.CHECKS,
    *header_rules.CHECKS,
    *bundle_rules.CHECKS,
    *security_rules.CHECKS,
    *file_rules.CHECKS,
    *workflow_rules.CHECKS,
)


def lint(
    skill: SkillMd, bundle: Bundle, *, authoring: bool, known_names: Collection[str] | None = None,
    directory: str | None = None, limits: Limits = DEFAULT, capabilities: Mapping[str, Capability] | None = None,
) -> tuple[Finding, ...]:  # fmt: skip
    """Return all findings in reading order, including the warnings of the parser.

    `capabilities` are those that workflows of the project can use, None if they are unknown.
    """
    texts = readable(bundle, limits)
    context = LintContext(skill, bundle, texts, authoring, known_names, directory, limits, capabilities)
    findings = [finding for check in _CHECKS for finding in check(context)]
    return in_reading_order(dict.fromkeys([*skill.warnings, *map(_categorised, findings)]))


def refusals(bundle: Bundle, *, limits: Limits = DEFAULT) -> tuple[Finding, ...]:
    """Return the errors of a skill that is not written here. Only these checks have any, so nothing else runs."""
    found = [*scanner.refusals(readable(bundle, limits)), *workflow_rules.refusals(bundle, limits)]
    return in_reading_order(dict.fromkeys(map(_categorised, found)))


def refusal_seconds(bundle: Bundle, *, limits: Limits = DEFAULT) -> float:
    """Return the CPU time that `refusals` needs at most."""
    return scanner.refusal_seconds(readable(bundle, limits)) + workflow_rules.refusal_seconds(bundle, limits)


def _categorised(finding: Finding) -> Finding:
    category = _CATEGORIES.get(finding.rule)
    return replace(finding, category=category) if category else finding


def requirements(
    skill: SkillMd, bundle: Bundle, *, known_names: Collection[str], limits: Limits = DEFAULT,
    capabilities: Mapping[str, Capability] | None = None,
) -> tuple[Finding, ...]:  # fmt: skip
    """Return only the findings that depend on the project: on other skills, and on what workflows can use.

    All others depend on the bytes alone and can be cached.
    """
    context = LintContext(skill, bundle, {}, False, known_names, None, limits, capabilities)
    return tuple(map(_categorised, [*bundle_rules.requires(context), *workflow_rules.workflow(context)]))
