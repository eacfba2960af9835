"""Skills for agno: `Agent(skills=Skills(loaders=[loader]), instructions=loader.instructions)`.

agno reads references and runs scripts from a directory, so each skill is stored on this machine.
"""

from collections.abc import Mapping

from agno.skills import Skill, SkillLoader

from registry.client.loaders.loading import LoadedSkill, Prompt, load_all
from registry.client.skill_source import SkillSource
from registry.core.bundle import Bundle


class SkillsiteLoader(SkillLoader):
    """A loader for agno. `skipped` has the reason for each skill that could not be loaded.

    With `for_prompt`, it loads only the best skills for this prompt.
    """

    def __init__(self, client: SkillSource, *, for_prompt: Prompt | None = None) -> None:
        self._client, self._prompt = client, for_prompt
        self.skipped: Mapping[str, str] = {}

    def load(self) -> list[Skill]:
        loading = load_all(self._client, self._prompt)
        self.skipped = loading.skipped
        return [_skill(loaded) for loaded in loading.skills]

    def instructions(self) -> str:
        """Return the instructions of the agent without the catalog, which agno adds. agno calls this for each run."""
        return self._client.instructions(catalog="none").text


def _skill(loaded: LoadedSkill) -> Skill:
    parsed = loaded.skill_md
    return Skill(
        name=loaded.name,
        description=parsed.description,
        instructions=parsed.instructions,
        source_path=str(loaded.directory),
        scripts=_below("scripts/", loaded.bundle),
        references=_below("references/", loaded.bundle),
        metadata=dict(parsed.metadata) or None,
        license=parsed.license or None,
        compatibility=parsed.compatibility or None,
        allowed_tools=parsed.allowed_tools.split() or None,
    )


def _below(directory: str, bundle: Bundle) -> list[str]:
    return [path.removeprefix(directory) for path in bundle if path.startswith(directory)]
