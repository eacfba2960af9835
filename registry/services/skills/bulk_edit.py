"""Changes to several skills at once.

Each skill is changed in a separate transaction with a separate event. A skill that cannot be changed does not stop the
others; the result names it with the reason.
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
class BulkResult:
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]


def switch(project: Project, names: Iterable[str], *, enabled: bool, by: Actor) -> BulkResult:
    """Switch skills on or off, whatever their source."""
    require_withdraw(by, project)
    verb = skills.enable if enabled else skills.disable

    def change(name: str) -> bool:
        if catalog.get(project.pk, name).enabled == enabled:
            return False
        verb(project, name, by=by)
        return True

    return _each(names, change)


def tag(project: Project, names: Iterable[str], word: str, *, by: Actor) -> BulkResult:
    """Add a tag, as a new version of each skill that does not have it."""
    require_publish(by, project)
    word = _checked_tag(word)
    return _each(names, lambda name: _retag(project, name, lambda tags: (*tags, word), f"Tagged {word}", by))


def untag(project: Project, names: Iterable[str], word: str, *, by: Actor) -> BulkResult:
    require_publish(by, project)
    word = _checked_tag(word)

    def without(tags: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(tag for tag in tags if tag != word)

    return _each(names, lambda name: _retag(project, name, without, f"Removed the tag {word}", by))


def _checked_tag(word: str) -> str:
    word = " ".join(word.split())
    if not word:
        raise InvalidRequest("Type a tag first. Nothing was changed.")
    if "," in word:
        raise InvalidRequest("A tag cannot contain a comma. Add one tag at a time. Nothing was changed.")
    if len(word) > TAG_CHARS:
        raise InvalidRequest(f"The tag has {len(word)} characters. {TAG_CHARS} are allowed. Nothing was changed.")
    return word


def _retag(
    project: Project, name: str, edit: Callable[[tuple[str, ...]], tuple[str, ...]], note: str, by: Actor
) -> bool:
    effective, loaded = catalog.inspect(project, name)
    if loaded is None or effective.winner is None:
        raise InvalidRequest("all its versions were withdrawn.")
    if effective.winner.source == BUNDLED:
        raise InvalidRequest("it is built-in. Customise it first.")
    parsed = loaded.skill_md()
    tags = tuple(dict.fromkeys(edit(parsed.tags)))
    if tags == parsed.tags:
        return False
    bundle = skills.with_text(project, name, skill_md.revise(parsed, tags=tags))
    skills.save(project, name, bundle, base=effective.winner.digest, note=note, by=by)
    return True


def _each(names: Iterable[str], change: Callable[[str], bool]) -> BulkResult:
    chosen = list(dict.fromkeys(normalise(name) for name in names))
    if not chosen:
        raise InvalidRequest("No skills are selected. Select one or more first. Nothing was changed.")
    if len(chosen) > MOST_AT_ONCE:
        raise InvalidRequest(f"{len(chosen)} skills are selected. {MOST_AT_ONCE} are allowed. Nothing was changed.")
    changed: list[str] = []
    unchanged: list[str] = []
    refused: list[tuple[str, str]] = []
    for name in chosen:
        try:
            (changed if change(name) else unchanged).append(name)
        except SkillsiteError as error:
            refused.append((name, error.message))
    return BulkResult(tuple(changed), tuple(unchanged), tuple(refused))
