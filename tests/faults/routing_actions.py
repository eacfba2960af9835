"""Actions of the pool that build routing indexes."""

from collections.abc import Callable
from typing import Any

from registry.lib import lru
from registry.models import Project
from registry.services.catalog import built_in
from registry.services.routing import indexes, routing


def build_index(slug: str, query: str) -> dict[str, Any]:
    """Build the index as a process that has just started, and return the answer to a question."""
    lru.clear_all()
    built_in.index().refresh()
    project = Project.objects.get(slug=slug)
    found = indexes.of(project.pk, project.revision, complete=True)
    routed = routing.route(project.pk, project.revision, query, threshold=0.0)
    return {
        "missing": found.missing,
        "skills": len(found.candidates),
        "ranking": [[skill.candidate.name, skill.score] for skill in routed.ranking],
    }


ACTIONS: dict[str, Callable[..., Any]] = {action.__name__: action for action in (build_index,)}
