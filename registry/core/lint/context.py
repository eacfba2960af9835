"""What a lint rule looks at: one skill with its files, where it comes from, and what else there is."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.findings import Finding, Severity
from registry.core.format.skill_md import SkillMd
from registry.core.limits import MIB, Limits

_READ_CHARS = 4 * MIB


@dataclass(frozen=True, slots=True)
class Subject:
    skill: SkillMd
    bundle: Bundle
    texts: Mapping[str, str]  # the files that are read as text
    authoring: bool
    known_names: Collection[str] | None
    directory: str | None
    limits: Limits

    @property
    def strict(self) -> Severity:
        """What stops an author is only said about a skill that comes from elsewhere."""
        return Severity.ERROR if self.authoring else Severity.WARNING

    def line(self, key: str) -> int | None:
        return self.skill.document.lines.get(key)

    def about(self, rule: str, severity: Severity, key: str, message: str, fix: str) -> Finding:
        """A finding about one key of the header."""
        return Finding(rule, severity, SKILL_MD, self.line(key), message, fix)


def texts(bundle: Bundle, limits: Limits) -> dict[str, str]:
    """SKILL.md has a cap of its own and is text already; others that are long are not read."""
    result: dict[str, str] = {}
    for path, content in bundle.items():
        if path == SKILL_MD or (len(content) <= limits.text_read_bytes and b"\0" not in content):
            try:
                result[path] = content.decode()
            except UnicodeDecodeError:
                continue
    return result


def readable(bundle: Bundle, limits: Limits) -> dict[str, str]:
    """SKILL.md first, then as many files as can be read in a moment."""
    chosen: dict[str, str] = {}
    left = _READ_CHARS
    for path, text in sorted(texts(bundle, limits).items(), key=lambda item: item[0] != SKILL_MD):
        left -= len(text)
        if left >= 0:
            chosen[path] = text
    return chosen


def unread(bundle: Bundle, read: Collection[str]) -> tuple[str, ...]:
    """The files that may hold text and were not read: too long, after too much of it, or in another encoding."""
    return tuple(path for path, content in bundle.items() if path not in read and b"\0" not in content)
