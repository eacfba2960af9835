"""Documents and skills with a given header, and the errors that invalid ones raise."""

import pytest

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.format import frontmatter
from registry.core.format.frontmatter import Document, parse
from registry.core.format.skill_md import SkillMd, read
from registry.core.limits import Limits


def doc(header: str, body: str = "Body\n") -> Document:
    return parse(f"---\n{header}---\n{body}")


def skill(header: str, body: str = "Body\n") -> SkillMd:
    return read(f"---\nname: demo\ndescription: Shows things.\n{header}---\n{body}")


def refusal(content: bytes | str, limits: Limits = frontmatter.DEFAULT) -> tuple[str, int | None]:
    """Return the rule and line of the first finding, after checking that the message names the file and a fix."""
    with pytest.raises(InvalidSkill) as caught:
        parse(content, limits=limits)
    finding = caught.value.findings[0]
    assert finding.message in caught.value.message
    assert finding.fix in caught.value.message
    assert caught.value.message.startswith(f"SKILL.md, line {finding.line}: ")
    return finding.rule, finding.line


def cap(content: bytes | str, limits: Limits = frontmatter.DEFAULT) -> TooLarge:
    with pytest.raises(TooLarge) as caught:
        parse(content, limits=limits)
    assert f"{caught.value.data['allowed']:,} are allowed. Nothing was saved." in caught.value.message
    return caught.value
