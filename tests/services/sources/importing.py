"""The state of an imported skill, and edits of it in the project."""

from collections.abc import Callable
from typing import Any

from registry.core.bundle import Bundle
from registry.core.sources.import_request import ImportResult
from registry.models import Project, Skill, Source, Version
from registry.services.permissions import Actor
from registry.services.sources import sources
from tests.conftest import skill_bundle
from tests.prepared import save_skill

Import = Callable[..., ImportResult]
Change = Callable[..., Bundle]
BODY = "One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive."


def edit(project: Project, body: str, by: Actor, **more: Any) -> Version:
    digest = current(project).digest
    return save_skill(project, "greeting", skill_bundle(body=body, **more), base=digest, by=by).version


def current(project: Project, name: str = "greeting") -> Version:
    found = Skill.objects.get(project=project, name=name).current
    assert found is not None
    return found


def state(source: Source) -> str:
    return sources.with_state(source, list(source.entries.filter(name="greeting")))[0].state
