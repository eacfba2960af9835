"""Skills for agno: `Agent(skills=Skills(loaders=[SkillsiteLoader(client)]))`.

agno reads references and runs scripts from a directory, so each skill is stored on this machine.
"""

from agno.skills import Skill, SkillLoader

from registry.client.client import SkillsiteClient
from registry.client.values import EffectiveSkill
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md


class SkillsiteLoader(SkillLoader):
    def __init__(self, client: SkillsiteClient) -> None:
        self._client = client

    def load(self) -> list[Skill]:
        return [self._skill(entry) for entry in self._client.effective().skills]

    def _skill(self, entry: EffectiveSkill) -> Skill:
        directory = self._client.fetch_directory(entry)
        bundle = self._client.fetch(entry)
        parsed = skill_md.read(bundle[SKILL_MD], fallback_name=entry.name)
        return Skill(
            name=entry.name,
            description=parsed.description,
            instructions=parsed.instructions,
            source_path=str(directory),
            scripts=_below("scripts/", bundle),
            references=_below("references/", bundle),
            metadata=dict(parsed.metadata) or None,
            license=parsed.license or None,
            compatibility=parsed.compatibility or None,
            allowed_tools=parsed.allowed_tools.split() or None,
        )


def _below(directory: str, bundle: Bundle) -> list[str]:
    return [path.removeprefix(directory) for path in bundle if path.startswith(directory)]
