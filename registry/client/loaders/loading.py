"""Loads the skills of a project. A skill that cannot be loaded is skipped and reported, and the others are loaded."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from registry.client.errors import ClientError, Unreachable
from registry.client.skill_source import SkillSource
from registry.client.values import EffectiveSkill
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md
from registry.core.format.skill_md import SkillMd

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """A skill in a directory of this machine."""

    name: str
    directory: Path
    bundle: Bundle
    skill_md: SkillMd


@dataclass(frozen=True, slots=True)
class Loading:
    """The skills that were loaded, and the reason for each that was not."""

    skills: tuple[LoadedSkill, ...]
    skipped: dict[str, str]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Limits a loader to the `best` skills for a prompt. Only a client of a site can find them."""

    text: str
    best: int = 5


def chosen(client: SkillSource, prompt: Prompt | None) -> tuple[str, ...] | None:
    """Return the names of the best skills for the prompt, or None if there is no prompt and all are wanted."""
    if prompt is None:
        return None
    return tuple(match.name for match in client.route(prompt.text, limit=prompt.best, threshold=0).matches)


def load_all(client: SkillSource, prompt: Prompt | None = None) -> Loading:
    """Load every effective skill, or the best for a prompt. Raise ClientError only if the list is not available."""
    skipped: dict[str, str] = {}
    names, effective = chosen(client, prompt), client.effective().skills
    if names is not None:
        by_name = {skill.name: skill for skill in effective}
        effective = tuple(by_name[name] for name in names if name in by_name)
    loaded = tuple(_load_each(client, effective, skipped))
    for name, reason in skipped.items():
        log.warning("The skill %s was skipped: %s", name, reason)
    return Loading(loaded, skipped)


def _load_each(
    client: SkillSource, entries: tuple[EffectiveSkill, ...], skipped: dict[str, str]
) -> Iterator[LoadedSkill]:
    unreachable = ""
    for entry in entries:
        if unreachable and client.cached(entry) is None:
            skipped[entry.name] = unreachable  # trying each skill again would take minutes
            continue
        try:
            yield _load(client, entry)
        except Unreachable as error:
            skipped[entry.name] = unreachable = error.message
        except (ClientError, SkillsiteError) as error:
            skipped[entry.name] = error.message
        except Exception as error:
            # A skill is text from elsewhere. It must not be able to take the others away.
            log.debug("Could not load %s", entry.name, exc_info=True)
            skipped[entry.name] = f"{type(error).__name__}: {error}"


def _load(client: SkillSource, entry: EffectiveSkill) -> LoadedSkill:
    directory = client.fetch_directory(entry)
    bundle = client.fetch(entry)
    return LoadedSkill(entry.name, directory, bundle, skill_md.read(bundle[SKILL_MD], fallback_name=entry.name))
