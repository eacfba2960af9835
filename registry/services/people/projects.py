"""Projects: made, described, put away and brought back."""

import re

from django.utils import timezone

from registry.core import roles
from registry.core.errors import AlreadyExists, Conflict, InvalidRequest
from registry.models import Membership, Project
from registry.services import audit
from registry.services.permissions import Actor, require

SLUG_CHARS, NAME_CHARS, DESCRIPTION_CHARS = 64, 100, 300
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def create(*, slug: str, name: str, description: str = "", by: Actor) -> Project:
    """A new project; the person who makes it owns it."""
    slug, name, description = slug.strip(), _name(name), _description(description)
    if not _SLUG.fullmatch(slug) or len(slug) > SLUG_CHARS:
        raise InvalidRequest(
            f"An address has lower-case letters, digits and single hyphens, {SLUG_CHARS} at most. Nothing was stored."
        )
    with audit.change(None, "project.created", by=by, target=slug) as change:
        project, made = Project.objects.get_or_create(slug=slug, defaults={"name": name, "description": description})
        if not made:
            raise AlreadyExists(f"The address {slug} is taken. Choose another one. Nothing was stored.")
        if by.user_id is not None:
            Membership.objects.create(project=project, user_id=by.user_id, role=roles.OWNER)
        change.data["project"] = project.pk
    return project


def describe(project: Project, *, name: str, description: str, by: Actor) -> None:
    """What people call the project, and what it is for. Its address never changes: agents use it."""
    require(by, roles.MANAGE, project)
    name, description = _name(name), _description(description)
    with audit.change(project, "project.described", by=by, target=project.slug) as change:
        standing = Project.objects.get(pk=project.pk)
        if (standing.name, standing.description) == (name, description):
            change.cancel()
            return
        Project.objects.filter(pk=project.pk).update(name=name, description=description)
        change.data.update(name=name, description=description)


def archive(project: Project, *, by: Actor) -> None:
    """Puts the project away: its tokens stop at once, nobody but its owners sees it, and nothing is deleted."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "project.archived", by=by, target=project.slug):
        if not Project.objects.filter(pk=project.pk, archived_at=None).update(archived_at=timezone.now()):
            raise Conflict(f"{project.name} is archived already.")


def bring_back(project: Project, *, by: Actor) -> None:
    require(by, roles.MANAGE, project)
    with audit.change(project, "project.brought-back", by=by, target=project.slug):
        if not Project.objects.filter(pk=project.pk, archived_at__isnull=False).update(archived_at=None):
            raise Conflict(f"{project.name} is not archived.")


def set_public(project: Project, public: bool, *, by: Actor) -> None:
    """Whether anybody may discover and read the skills that agents get here, without a token."""
    _switch(project, "public", public, "project.published" if public else "project.unpublished", by=by)


def set_protected(project: Project, protected: bool, *, by: Actor) -> None:
    """Whether every change of its skills is reviewed before agents get it."""
    _switch(project, "protected", protected, "project.protected" if protected else "project.unprotected", by=by)


def set_reviewer_agents(project: Project, allowed: bool, *, by: Actor) -> None:
    """Whether agents see the proposals of others and may recommend what to do with them."""
    verb = "project.advice-allowed" if allowed else "project.advice-ended"
    _switch(project, "reviewer_agents", allowed, verb, by=by)


def _switch(project: Project, field: str, on: bool, verb: str, *, by: Actor) -> None:
    """What is so already leaves no event."""
    require(by, roles.MANAGE, project)
    with audit.change(project, verb, by=by, target=project.slug) as change:
        if not Project.objects.filter(pk=project.pk).exclude(**{field: on}).update(**{field: on}):
            change.cancel()


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise InvalidRequest("A project needs a name. Nothing was stored.")
    if len(name) > NAME_CHARS:
        raise InvalidRequest(f"The name has {len(name)} characters. {NAME_CHARS} are allowed. Nothing was stored.")
    return name


def _description(description: str) -> str:
    description = " ".join(description.split())
    if len(description) > DESCRIPTION_CHARS:
        raise InvalidRequest(
            f"The description has {len(description)} characters. {DESCRIPTION_CHARS} are allowed. Nothing was stored."
        )
    return description
