"""The input of a lint rule: one skill with its files, and the names of the other skills."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.findings import Finding, Severity
from registry.core.format.skill_md import SkillMd
from registry.core.limits import MIB, Limits
from registry.core.workflows.capability import Capability

_READ_CHARS = 1 * MIB  # linted per skill; bounds the time of one lint


@dataclass(frozen=True, slots=True)
class LintContext:
    skill: SkillMd
    bundle: Bundle
    texts: Mapping[str, str]  # by path, of the files that are read as text
    authoring: bool  # written here; False for a skill that is imported
    known_names: Collection[str] | None  # of all skills in the project; None if unknown
    directory: str | None
    limits: Limits
    capabilities: Mapping[str, Capability] | None = None  # that workflows can use; None if unknown

    @property
    def author_severity(self) -> Severity:
        """An error for authored skills, a warning for imported ones."""
        return Severity.ERROR if self.authoring else Severity.WARNING

    def line(self, key: str) -> int | None:
        return self.skill.document.lines.get(key)

    def header_finding(self, rule: str, severity: Severity, key: str, message: str, fix: str) -> Finding:
        """Return a finding at the line of a header key."""
        return Finding(rule, severity, SKILL_MD, self.line(key), message, fix)


def texts(bundle: Bundle, limits: Limits) -> dict[str, str]:
    """Return the text files by path. Files over the limit are skipped, except SKILL.md, which has its own limit."""
    result: dict[str, str] = {}
    for path, content in bundle.items():
        if path == SKILL_MD or (len(content) <= limits.text_read_bytes and b"\0" not in content):
            try:
                result[path] = content.decode()
            except UnicodeDecodeError:
                continue
    return result


def readable(bundle: Bundle, limits: Limits) -> dict[str, str]:
    """Return SKILL.md and as many further text files as the time budget allows."""
    chosen: dict[str, str] = {}
    budget = _READ_CHARS
    for path, text in sorted(texts(bundle, limits).items(), key=lambda item: item[0] != SKILL_MD):
        budget -= len(text)
        if budget >= 0:
            chosen[path] = text
    return chosen


def unread(bundle: Bundle, read: Collection[str]) -> tuple[str, ...]:
    """Return the files that may be text but were not read: too long, over the budget, or not UTF-8."""
    return tuple(path for path, content in bundle.items() if path not in read and b"\0" not in content)
