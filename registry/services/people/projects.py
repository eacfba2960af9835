"""Projects: create, rename, archive, restore, and switch their options."""

import re

from django.conf import settings
from django.utils import timezone

from registry.core import roles
from registry.core.errors import AlreadyExists, Conflict, InvalidRequest
from registry.models import Membership, Project
from registry.models.accounts import BLOCKING_LEVELS
from registry.services import audit
from registry.services.permissions import Actor, require

SLUG_CHARS, NAME_CHARS, DESCRIPTION_CHARS = 64, 100, 300
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def create(*, slug: str, name: str, description: str = "", by: Actor) -> Project:
    """Create a project. The person who creates it becomes its owner."""
    slug, name, description = slug.strip(), _name(name), _description(description)
    if not _SLUG.fullmatch(slug) or len(slug) > SLUG_CHARS:
        raise InvalidRequest(
            "An address can have lower-case letters, digits and single hyphens, "
            f"at most {SLUG_CHARS} characters. Nothing was saved."
        )
    if slug in settings.PUBLIC_ROOT_PROJECTS and by.user_id is not None:
        raise AlreadyExists(
            f"The address {slug} is reserved for a project at the root of the site. Choose another one, or ask the "
            "person who runs this site. Nothing was saved."
        )
    with audit.change(None, "project.created", by=by, target=slug) as change:
        project, created = Project.objects.get_or_create(slug=slug, defaults={"name": name, "description": description})
        if not created:
            raise AlreadyExists(f"The address {slug} is taken. Choose another one. Nothing was saved.")
        if by.user_id is not None:
            Membership.objects.create(project=project, user_id=by.user_id, role=roles.OWNER)
        change.data["project"] = project.pk
    return project


def describe(project: Project, *, name: str, description: str, by: Actor) -> None:
    """Change the name and description. The address never changes, because agents use it."""
    require(by, roles.MANAGE, project)
    name, description = _name(name), _description(description)
    with audit.change(project, "project.described", by=by, target=project.slug) as change:
        current = Project.objects.get(pk=project.pk)
        if (current.name, current.description) == (name, description):
            change.cancel()
            return
        Project.objects.filter(pk=project.pk).update(name=name, description=description)
        change.data.update(name=name, description=description)


def archive(project: Project, *, by: Actor) -> None:
    """Archive the project: its tokens stop working at once, only owners see it, and nothing is deleted."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "project.archived", by=by, target=project.slug):
        if not Project.objects.filter(pk=project.pk, archived_at=None).update(archived_at=timezone.now()):
            raise Conflict(f"{project.name} is already archived.")


def restore(project: Project, *, by: Actor) -> None:
    require(by, roles.MANAGE, project)
    with audit.change(project, "project.brought-back", by=by, target=project.slug):
        if not Project.objects.filter(pk=project.pk, archived_at__isnull=False).update(archived_at=None):
            raise Conflict(f"{project.name} is not archived.")


def set_public(project: Project, public: bool, *, by: Actor) -> None:
    """Set whether anybody can find and read the project's skills without a token."""
    _switch(project, "public", public, "project.published" if public else "project.unpublished", by=by)


def set_protected(project: Project, protected: bool, *, by: Actor) -> None:
    """Set whether every change of a skill needs a review."""
    _switch(project, "protected", protected, "project.protected" if protected else "project.unprotected", by=by)


def set_reviewer_agents(project: Project, allowed: bool, *, by: Actor) -> None:
    """Set whether agents can see proposals of others and recommend a decision."""
    verb = "project.advice-allowed" if allowed else "project.advice-ended"
    _switch(project, "reviewer_agents", allowed, verb, by=by)


def set_makers_approve(project: Project, allowed: bool, *, by: Actor) -> None:
    """Set whether reviewers can approve proposals and runs of agents for which they made a token."""
    verb = "project.makers-approve" if allowed else "project.makers-excluded"
    _switch(project, "makers_approve", allowed, verb, by=by)


def set_quarantines_alarms(project: Project, on: bool, *, by: Actor) -> None:
    """Set whether the deep scan quarantines a published version in which it finds an error."""
    verb = "project.quarantine-automatic" if on else "project.quarantine-manual"
    _switch(project, "quarantines_alarms", on, verb, by=by)


def set_blocking(project: Project, level: str, *, by: Actor) -> None:
    """Set the lowest severity of security findings that stops a version from being published."""
    require(by, roles.MANAGE, project)
    if level not in BLOCKING_LEVELS:
        raise InvalidRequest(f"{level[:40]!r} is not a severity. Use one of: {', '.join(BLOCKING_LEVELS)}.")
    with audit.change(project, "project.blocking-set", by=by, target=project.slug) as change:
        if not Project.objects.filter(pk=project.pk).exclude(blocking=level).update(blocking=level):
            change.cancel()
        change.data["blocking"] = level


def _switch(project: Project, field: str, on: bool, verb: str, *, by: Actor) -> None:
    """Change one option. A value that does not change leaves no event."""
    require(by, roles.MANAGE, project)
    with audit.change(project, verb, by=by, target=project.slug) as change:
        if not Project.objects.filter(pk=project.pk).exclude(**{field: on}).update(**{field: on}):
            change.cancel()


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise InvalidRequest("Enter a name for the project. Nothing was saved.")
    if len(name) > NAME_CHARS:
        raise InvalidRequest(f"The name has {len(name)} characters. The limit is {NAME_CHARS}. Nothing was saved.")
    return name


def _description(description: str) -> str:
    description = " ".join(description.split())
    if len(description) > DESCRIPTION_CHARS:
        raise InvalidRequest(
            f"The description has {len(description)} characters. The limit is {DESCRIPTION_CHARS}. Nothing was saved."
        )
    return description
