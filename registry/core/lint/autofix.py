"""Automatic fixes: the new text of SKILL.md for findings that need no human decision."""

from collections.abc import Callable, Mapping

from registry.core.bundle import SKILL_MD
from registry.core.errors import InvalidInput
from registry.core.findings import Finding
from registry.core.format import frontmatter
from registry.core.format.skill_md import SkillMd
from registry.core.limits import DEFAULT, Limits
from registry.core.lint.name_rules import suggested_name


def mechanical_fix(finding: Finding, skill: SkillMd, *, limits: Limits = DEFAULT) -> str | None:
    """Return SKILL.md with this finding fixed, or None if a person has to decide."""
    fix = _FIXES.get(finding.rule) if finding.file == SKILL_MD else None
    if fix is None:
        return None
    try:
        return fix(finding, skill, limits)
    except InvalidInput:  # the header cannot be edited line by line
        return None


def _without_bom(_: Finding, skill: SkillMd, __: Limits) -> str:
    return skill.document.text.removeprefix("\ufeff")


def _with_quotes(_: Finding, skill: SkillMd, __: Limits) -> str:
    layout, text = skill.document.layout, skill.document.text
    return text[: layout.start] + layout.source + text[layout.end :]


def _under_metadata(finding: Finding, skill: SkillMd, limits: Limits) -> str | None:
    document = skill.document
    key = next((name for name, line in document.lines.items() if line == finding.line), "")
    value, metadata = document.fields.get(key), document.fields.get("metadata")
    if not isinstance(value, str | tuple) or (isinstance(metadata, Mapping) and key in metadata):
        return None
    return frontmatter.edit(document, {key: None, f"metadata.{key}": value}, limits=limits)


def _as_one_text(_: Finding, skill: SkillMd, limits: Limits) -> str | None:
    if not skill.allowed_tools:
        return None
    return frontmatter.edit(skill.document, {"allowed-tools": skill.allowed_tools}, limits=limits)


def _with_suggested_name(_: Finding, skill: SkillMd, limits: Limits) -> str:
    return frontmatter.edit(skill.document, {"name": suggested_name(skill.name)}, limits=limits)


_FIXES: dict[str, Callable[[Finding, SkillMd, Limits], str | None]] = {
    "frontmatter-bom": _without_bom,
    "frontmatter-tolerant": _with_quotes,
    "frontmatter-key-place": _under_metadata,
    "allowed-tools-list": _as_one_text,
    "name-pattern": _with_suggested_name,
}
