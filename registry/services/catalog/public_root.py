"""The projects that the operator lists at the root of the site with PUBLIC_ROOT_PROJECTS.

Anybody can create a project, choose its address and make it public. So the root serves only projects that the operator
named, in the operator's order. Other public projects have an index below their own address only.
"""

from typing import NamedTuple

from django.conf import settings

from registry.core.catalog import precedence
from registry.core.catalog.precedence import PROJECT, Diagnostic
from registry.models import Project
from registry.services.catalog import catalog


class PublicProject(NamedTuple):
    project_id: int
    slug: str
    revision: int
    last_event: str | None


def public_projects(**where: object) -> list[PublicProject]:
    """Return public projects. Archived ones are not public."""
    rows = Project.objects.filter(public=True, archived_at=None, **where)
    return [PublicProject(*row) for row in rows.values_list("pk", "slug", "revision", "audit_chain__head")]


def listed() -> list[PublicProject]:
    """Return the listed projects that are public, in the order of the setting."""
    order = {slug: place for place, slug in reversed(list(enumerate(settings.PUBLIC_ROOT_PROJECTS)))}
    found = public_projects(slug__in=order) if order else []
    return sorted(found, key=lambda project: order[project.slug])


def state(slug: str) -> str:
    """Return a text that changes with the skills at the root. Empty for a project that is not listed."""
    return str(listed()) if slug in settings.PUBLIC_ROOT_PROJECTS else ""


def diagnostics(slug: str) -> tuple[Diagnostic, ...]:
    """Return the skills of a project that lose their name at the root to another project."""
    projects = listed() if slug in settings.PUBLIC_ROOT_PROJECTS else []
    served = [(each, catalog.view(each.project_id, each.revision).served) for each in projects]
    winners = precedence.across_projects(served)
    return tuple(
        Diagnostic(candidate.name, "", "", None, "hidden-at-root", hidden_by(winner.slug), served=True)
        for each, candidates in served
        if each.slug == slug
        for candidate in candidates
        if candidate.source == PROJECT
        for winner, winning in [winners[candidate.name]]
        if winner.slug != slug and winning.digest != candidate.digest
    )


def hidden_by(slug: str) -> str:
    return f"At the root of the site, a skill of this name is listed from the project {slug}."
