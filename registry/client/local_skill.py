"""One skill out of a whole copy of it, as the site would answer."""

from registry.client.errors import LocalProblem
from registry.client.values import Effective, Skill
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import prompt, token_estimate
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md


def skill(wanted: Effective, copy: Bundle) -> Skill:
    try:
        said = skill_md.read(copy[SKILL_MD], fallback_name=wanted.name)
    except SkillsiteError as error:  # a site with wider limits than ours may serve it all the same
        raise LocalProblem(f"The copy of {wanted.name} cannot be read without the site: {error.message}") from error
    cost = token_estimate.estimate(said.instructions)
    return Skill(
        name=wanted.name,
        description=said.description,
        kind=said.kind,
        version=wanted.version,
        digest=wanted.digest,
        source=wanted.source,
        instructions=said.instructions,
        tokens=cost,
        summary=prompt.summary(wanted.name, cost),
        requires=said.requires,
        hint=prompt.hint(said.requires),
        files=copy.manifest,
        from_cache=True,
    )
