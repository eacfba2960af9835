"""Changes of skills that are not published, applied to an index."""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.core.bundle import normalise
from registry.core.catalog.precedence import PROJECT, Candidate
from registry.core.format import skill_md
from registry.services.routing import analysed_skills
from registry.services.routing.indexes import ProjectIndex


@dataclass(frozen=True, slots=True)
class ChangedSkill:
    """A skill as it would be after a change. Without `skill_md`, the skill would be gone."""

    name: str
    skill_md: bytes | None


def applied(found: ProjectIndex, change: Sequence[ChangedSkill]) -> ProjectIndex:
    """Return an index as if the change was published."""
    candidates, skills = [], []
    for changed in change:
        if changed.skill_md is not None:
            name = normalise(changed.name)
            candidates.append(_candidate(name, changed.skill_md))
            skills.append(analysed_skills.of_content(name, changed.skill_md, found.encoder))
    return found.changed(
        candidates, skills, [normalise(changed.name) for changed in change if changed.skill_md is None]
    )


def _candidate(name: str, content: bytes) -> Candidate:
    """Return the candidate that a changed SKILL.md would become. It has no version and no digest yet."""
    skill = skill_md.read(content, fallback_name=name)
    return Candidate(name, PROJECT, "", "", skill.description, skill.kind, tags=skill.tags, triggers=skill.triggers)
