"""Builds the response for one skill from a cached bundle."""

from registry.client.errors import LocalProblem
from registry.client.values import EffectiveSkill, Skill
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import prompt, token_estimate
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md


def skill(entry: EffectiveSkill, copy: Bundle) -> Skill:
    try:
        parsed = skill_md.read(copy[SKILL_MD], fallback_name=entry.name)
    except SkillsiteError as error:  # the site may have higher limits than the client
        raise LocalProblem(f"Could not read the cached copy of {entry.name}: {error.message}") from error
    cost = token_estimate.estimate(parsed.instructions)
    return Skill(
        name=entry.name,
        title=parsed.title,
        description=parsed.description,
        kind=parsed.kind,
        version=entry.version,
        digest=entry.digest,
        source=entry.source,
        instructions=parsed.instructions,
        tokens=cost,
        summary=prompt.summary(entry.name, cost),
        requires=parsed.requires,
        triggers=parsed.triggers,
        inputs=parsed.inputs,
        outputs=parsed.outputs,
        hint=prompt.hint(parsed.requires),
        files=copy.manifest,
        from_cache=True,
    )
