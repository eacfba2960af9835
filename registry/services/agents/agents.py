"""Agents of a project: create, change, remove and list them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from registry.core import roles
from registry.core.catalog.visibility import Definition, visible
from registry.core.errors import AlreadyExists, InvalidRequest, NotFound
from registry.models import Agent, Project, Token, Usage
from registry.services import audit
from registry.services.permissions import Actor, require

_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")


def definition_of(agent: Agent) -> Definition:
    allowed = None if agent.allowed_skills is None else tuple(agent.allowed_skills)
    return Definition(
        agent.prompt, agent.instructions, tuple(agent.uses_skills), allowed, agent.trust, agent.best_skills
    )


def get(project: Project, name: str) -> Agent:
    agent = Agent.objects.filter(project=project, name=name, removed_at=None).first() if "\0" not in name else None
    if agent is None:
        raise no_such_agent(name)
    return agent


def sees(agent: Agent) -> frozenset[str] | None:
    """Return the names of the skills that this agent may see, or None where it may see all."""
    return visible(agent.allowed_skills, agent.uses_skills)


def no_such_agent(name: str) -> NotFound:
    return NotFound(f"There is no agent {name[:80]!r} in this project.")


@dataclass(frozen=True, slots=True)
class Row:
    """An agent in the list, with the number of its active tokens and its loads on each of the last days."""

    agent: Agent
    tokens: int
    by_day: tuple[int, ...]

    @property
    def loads(self) -> int:
        return sum(self.by_day)


def all_of(project: Project) -> QuerySet[Agent]:
    return Agent.objects.filter(project=project, removed_at=None).order_by("name")


def rows(project: Project, agents: Iterable[Agent], *, days: int = 30) -> list[Row]:
    """Return a row for each of these agents, with two queries for all."""
    listed, now = list(agents), timezone.now()
    names = [agent.name for agent in listed]
    window = [now.date() - timedelta(days=back) for back in reversed(range(days))]
    unexpired = Q(expires_at=None) | Q(expires_at__gt=now)
    active = Token.objects.filter(unexpired, agent__in=listed, revoked_at=None)
    tokens = dict(active.values_list("agent").annotate(Count("pk")))
    used = Usage.objects.filter(project=project, caller__in=names, day__gte=window[0])
    loads = {(caller, day): total for caller, day, total in used.values_list("caller", "day").annotate(Sum("loads"))}
    return [
        Row(agent, tokens.get(agent.pk, 0), tuple(loads.get((agent.name, day), 0) for day in window))
        for agent in listed
    ]


def ensure(project: Project, name: str, *, by: Actor) -> Agent:
    """Return the agent of this name, and create it if necessary."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "agent.created", by=by, target=name) as change:
        agent, created = _get_or_create(project, name, Definition())
        if not created:
            change.cancel()
        return agent


def create(project: Project, name: str, definition: Definition, *, by: Actor) -> Agent:
    require(by, roles.MANAGE, project)
    definition = definition.checked()
    with audit.change(project, "agent.created", by=by, target=name) as change:
        agent, created = _get_or_create(project, name, definition)
        if not created:
            raise AlreadyExists(f"An agent named {name} already exists. Choose another name. Nothing was saved.")
        change.data.update(_audited(definition))
    return agent


def _get_or_create(project: Project, name: str, definition: Definition) -> tuple[Agent, bool]:
    """Return the agent and whether it is new. A removed agent counts as new; its old tokens stay revoked."""
    if not _NAME.fullmatch(name) or len(name) > 64:
        raise InvalidRequest(
            f"{name[:80]!r} is not a name for an agent. Use lower-case letters and digits, with single hyphens, dots "
            "or underscores between them, and at most 64 characters."
        )
    agent, created = Agent.objects.get_or_create(project=project, name=name)
    if agent.removed_at is not None:
        agent.removed_at, agent.last_seen_at, created = None, None, True
    if created:
        _define(agent, definition)
    return agent, created


def _define(agent: Agent, definition: Definition) -> None:
    agent.prompt, agent.instructions = definition.prompt, definition.instructions
    agent.uses_skills, agent.trust = list(definition.uses_skills), definition.trust
    agent.best_skills = definition.best_skills
    agent.allowed_skills = None if definition.allowed_skills is None else list(definition.allowed_skills)
    agent.save()


def _audited(definition: Definition) -> dict[str, object]:
    """Return the part of a definition that the audit log keeps: access, not the texts."""
    allowed = definition.allowed_skills
    return {
        "uses_skills": list(definition.uses_skills),
        "allowed_skills": None if allowed is None else list(allowed),
        "trust": definition.trust,
        "best_skills": definition.best_skills,
    }


def update(project: Project, name: str, definition: Definition, *, by: Actor) -> Agent:
    """Replace the whole definition of an agent."""
    return _change(project, name, lambda current: definition, by=by)


def amend(project: Project, name: str, fields: Mapping[str, Any], *, by: Actor) -> Agent:
    """Change some fields of an agent. A concurrent change of other fields is kept."""
    return _change(project, name, lambda current: replace(current, **fields), by=by)


def _change(project: Project, name: str, make: Callable[[Definition], Definition], *, by: Actor) -> Agent:
    require(by, roles.MANAGE, project)
    with audit.change(project, "agent.changed", by=by, target=name) as change:
        agent = get(project, name)
        current = definition_of(agent)
        definition = make(current).checked()
        if current == definition:
            change.cancel()
            return agent
        changed = [field for field in Definition.__slots__ if getattr(current, field) != getattr(definition, field)]
        _define(agent, definition)
        change.data.update(_audited(definition), changed=changed)
    return agent


def remove(project: Project, name: str, *, by: Actor) -> None:
    """Remove an agent and revoke its tokens. Versions and proposals that it wrote keep its name."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "agent.removed", by=by, target=name) as change:
        agent, now = get(project, name), timezone.now()
        Agent.objects.filter(pk=agent.pk).update(removed_at=now)
        usable = Token.objects.filter(agent=agent, revoked_at=None)
        change.data["revoked"] = sorted(usable.values_list("pk", flat=True))
        change.data["tokens"] = usable.update(revoked_at=now)
