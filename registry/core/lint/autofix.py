"""Findings that a machine can put right without a choice: each as the new text of SKILL.md."""

from collections.abc import Callable, Mapping

from registry.core.bundle import SKILL_MD
from registry.core.errors import InvalidInput
from registry.core.findings import Finding
from registry.core.format import frontmatter
from registry.core.format.skill_md import SkillMd
from registry.core.limits import DEFAULT, Limits
from registry.core.lint.name_rules import suggested_name


def mechanical_fix(finding: Finding, skill: SkillMd, *, limits: Limits = DEFAULT) -> str | None:
    """The text of SKILL.md with this one thing put right; None where a person has to decide."""
    fix = _FIXES.get(finding.rule) if finding.file == SKILL_MD else None
    if fix is None:
        return None
    try:
        return fix(finding, skill, limits)
    except InvalidInput:  # the header is written in a way that cannot be edited by line
        return None


def _without_mark(_: Finding, skill: SkillMd, __: Limits) -> str:
    return skill.document.text.removeprefix("\ufeff")


def _with_quotes(_: Finding, skill: SkillMd, __: Limits) -> str:
    layout, text = skill.document.layout, skill.document.text
    return text[: layout.start] + layout.source + text[layout.end :]


def _under_metadata(finding: Finding, skill: SkillMd, limits: Limits) -> str | None:
    document = skill.document
    key = next((name for name, line in document.lines.items() if line == finding.line), "")
    value, inside = document.fields.get(key), document.fields.get("metadata")
    if not isinstance(value, str | tuple) or (isinstance(inside, Mapping) and key in inside):
        return None
    return frontmatter.edit(document, {key: None, f"metadata.{key}": value}, limits=limits)


def _as_one_text(_: Finding, skill: SkillMd, limits: Limits) -> str | None:
    if not skill.allowed_tools:
        return None
    return frontmatter.edit(skill.document, {"allowed-tools": skill.allowed_tools}, limits=limits)


def _as_suggested(_: Finding, skill: SkillMd, limits: Limits) -> str:
    return frontmatter.edit(skill.document, {"name": suggested_name(skill.name)}, limits=limits)


_FIXES: dict[str, Callable[[Finding, SkillMd, Limits], str | None]] = {
    "frontmatter-bom": _without_mark,
    "frontmatter-tolerant": _with_quotes,
    "frontmatter-key-place": _under_metadata,
    "allowed-tools-list": _as_one_text,
    "name-pattern": _as_suggested,
}
