"""Loads every skill of a project. A skill that cannot be loaded is skipped and reported, and the others are loaded."""

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


def load_all(client: SkillSource) -> Loading:
    """Load every effective skill. Raise ClientError only if the list itself is not available."""
    skipped: dict[str, str] = {}
    loaded = tuple(_load_each(client, client.effective().skills, skipped))
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
