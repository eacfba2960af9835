"""What a lint rule looks at: one skill with its files, where it comes from, and what else there is."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from registry.core.findings import Finding, Severity
from registry.core.limits import Limits
from registry.core.skill import SKILL_MD, Bundle
from registry.core.skillmd import SkillMd


@dataclass(frozen=True, slots=True)
class Subject:
    skill: SkillMd
    bundle: Bundle
    texts: Mapping[str, str]  # the files that can be read as text
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
