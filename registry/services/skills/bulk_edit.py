"""The same change to several skills. Each is one change with its own event, so that the history of a skill is whole.

A skill that cannot be changed does not stop the others: it is named with the reason.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from registry.core.bundle import normalise
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import InvalidRequest, SkillsiteError
from registry.core.format import skill_md
from registry.models import Project
from registry.services.catalog import catalog
from registry.services.permissions import Actor, require_publish, require_withdraw
from registry.services.skills import skills

MOST_AT_ONCE = 200
TAG_CHARS = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    changed: tuple[str, ...]
    same: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]


def switch(project: Project, names: Iterable[str], *, enabled: bool, by: Actor) -> Outcome:
    """Switches skills on or off, whatever their source."""
    require_withdraw(by, project)
    verb = skills.enable if enabled else skills.disable

    def change(name: str) -> bool:
        if catalog.get(project.pk, name).enabled == enabled:
            return False
        verb(project, name, by=by)
        return True

    return _each(names, change)


def tag(project: Project, names: Iterable[str], word: str, *, by: Actor) -> Outcome:
    """Adds a tag: a new version of each skill that does not have it."""
    require_publish(by, project)
    word = _checked(word)
    return _each(names, lambda name: _retag(project, name, lambda tags: (*tags, word), f"Tagged {word}", by))


def untag(project: Project, names: Iterable[str], word: str, *, by: Actor) -> Outcome:
    require_publish(by, project)
    word = _checked(word)

    def without(tags: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(tag for tag in tags if tag != word)

    return _each(names, lambda name: _retag(project, name, without, f"Removed the tag {word}", by))


def _checked(word: str) -> str:
    word = " ".join(word.split())
    if not word:
        raise InvalidRequest("Name a tag. Nothing was changed.")
    if "," in word:
        raise InvalidRequest("A tag has no comma: one tag at a time. Nothing was changed.")
    if len(word) > TAG_CHARS:
        raise InvalidRequest(f"The tag has {len(word)} characters. {TAG_CHARS} are allowed. Nothing was changed.")
    return word


def _retag(
    project: Project, name: str, edit: Callable[[tuple[str, ...]], tuple[str, ...]], note: str, by: Actor
) -> bool:
    standing, loaded = catalog.inspect(project, name)
    if loaded is None or standing.winner is None:
        raise InvalidRequest("every version of it was withdrawn.")
    if standing.winner.source == BUNDLED:
        raise InvalidRequest("it is bundled. Customise it first.")
    said = loaded.skill_md()
    wanted = tuple(dict.fromkeys(edit(said.tags)))
    if wanted == said.tags:
        return False
    bundle = skills.with_text(project, name, skill_md.revise(said, tags=wanted))
    skills.save(project, name, bundle, base=standing.winner.digest, note=note, by=by)
    return True


def _each(names: Iterable[str], change: Callable[[str], bool]) -> Outcome:
    wanted = list(dict.fromkeys(normalise(name) for name in names))
    if not wanted:
        raise InvalidRequest("No skill was chosen. Tick one or more first. Nothing was changed.")
    if len(wanted) > MOST_AT_ONCE:
        raise InvalidRequest(f"{len(wanted)} skills were chosen. {MOST_AT_ONCE} are allowed. Nothing was changed.")
    changed: list[str] = []
    same: list[str] = []
    refused: list[tuple[str, str]] = []
    for name in wanted:
        try:
            (changed if change(name) else same).append(name)
        except SkillsiteError as error:
            refused.append((name, error.message))
    return Outcome(tuple(changed), tuple(same), tuple(refused))
