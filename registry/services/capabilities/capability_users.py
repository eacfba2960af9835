"""Skills whose workflows use a capability."""

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db.models import TextField
from django.db.models.functions import Cast

from registry.core.catalog.precedence import BUNDLED, Candidate
from registry.core.errors import SkillsiteError
from registry.core.workflows import workflow_yaml
from registry.core.workflows.plan import FILE
from registry.lib.lru import LruCache
from registry.models import Project, Skill
from registry.services.catalog import built_in, catalog
from registry.services.catalog.catalog import Loaded

_SECONDS = 1.0  # for workflows that were not read before

_used = LruCache[str, tuple[str, ...]](5_000)  # by the digest of the skill


@dataclass(frozen=True, slots=True)
class Users:
    """The names of skills. `is_complete` is false if there was no time to read all workflows."""

    skills: tuple[str, ...]
    is_complete: bool


def users(project: Project, names: Collection[str]) -> Users:
    """Return the skills with a step that uses one of these names of a capability."""
    found: list[str] = []
    deadline = time.monotonic() + _SECONDS
    unread: list[Candidate] = []
    for candidate in _with_workflows(project):
        used = _used.get(candidate.digest)
        if used is None:
            unread.append(candidate)
        elif not set(names).isdisjoint(used):
            found.append(candidate.name)
    for loaded in catalog.load_many(project.pk, unread):
        if time.monotonic() > deadline:
            return Users(tuple(sorted(found)), is_complete=False)
        used = _read(loaded)
        _used.put(loaded.candidate.digest, used)
        if not set(names).isdisjoint(used):
            found.append(loaded.name)
    return Users(tuple(sorted(found)), is_complete=True)


def _with_workflows(project: Project) -> Iterator[Candidate]:
    rows = Skill.objects.filter(project=project, current__isnull=False)
    listed = rows.annotate(files=Cast("current__manifest", TextField())).filter(files__contains=f'"{FILE}"')
    own = frozenset(listed.values_list("name", flat=True))
    snapshot = built_in.snapshot()
    for candidate in catalog.view(project.pk, project.revision).served:
        if candidate.source == BUNDLED:
            files = snapshot.find(candidate).files if candidate.name in snapshot.skills else ()
            if any(entry.path == FILE for entry in files):
                yield candidate
        elif candidate.name in own:
            yield candidate


def _read(loaded: Loaded) -> tuple[str, ...]:
    try:
        plan = workflow_yaml.parse(loaded.read(loaded.entry(FILE)), limits=settings.LIMITS).plan
    except SkillsiteError:  # a built-in skill changed on disk
        return ()
    return plan.used if plan else ()
