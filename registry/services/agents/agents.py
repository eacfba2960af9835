"""Agents of a project: what each is told and may see, and how much it is used."""

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
    return Definition(agent.prompt, agent.instructions, tuple(agent.uses_skills), allowed, agent.trust)


def get(project: Project, name: str) -> Agent:
    agent = Agent.objects.filter(project=project, name=name, removed_at=None).first() if "\0" not in name else None
    if agent is None:
        raise no_such_agent(name)
    return agent


def sees(agent: Agent) -> frozenset[str] | None:
    """The only skills there are for this agent; None where all are."""
    return visible(agent.allowed_skills, agent.uses_skills)


def no_such_agent(name: str) -> NotFound:
    return NotFound(f"There is no agent {name[:80]!r} in this project.")


@dataclass(frozen=True, slots=True)
class Row:
    """An agent in the list: with the tokens that still open something, and its loads of each of the last days."""

    agent: Agent
    tokens: int
    by_day: tuple[int, ...]

    @property
    def loads(self) -> int:
        return sum(self.by_day)


def all_of(project: Project) -> QuerySet[Agent]:
    """In order of name."""
    return Agent.objects.filter(project=project, removed_at=None).order_by("name")


def rows(project: Project, found: Iterable[Agent], *, days: int = 30) -> list[Row]:
    """These agents of the project with two queries, however much the others are used."""
    shown, now = list(found), timezone.now()
    names = [agent.name for agent in shown]
    window = [now.date() - timedelta(days=back) for back in reversed(range(days))]
    live = Q(expires_at=None) | Q(expires_at__gt=now)
    held = Token.objects.filter(live, agent__in=shown, revoked_at=None).values_list("agent").annotate(Count("pk"))
    used = Usage.objects.filter(project=project, caller__in=names, day__gte=window[0])
    loads = {(caller, day): total for caller, day, total in used.values_list("caller", "day").annotate(Sum("loads"))}
    tokens = dict(held)
    return [
        Row(agent, tokens.get(agent.pk, 0), tuple(loads.get((agent.name, day), 0) for day in window)) for agent in shown
    ]


def ensure(project: Project, name: str, *, by: Actor) -> Agent:
    """The agent of that name; made when there is none."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "agent.created", by=by, target=name) as change:
        agent, made = _make(project, name, Definition())
        if not made:
            change.cancel()
        return agent


def create(project: Project, name: str, definition: Definition, *, by: Actor) -> Agent:
    require(by, roles.MANAGE, project)
    definition = definition.checked()
    with audit.change(project, "agent.created", by=by, target=name) as change:
        agent, made = _make(project, name, definition)
        if not made:
            raise AlreadyExists(f"There is an agent {name} already. Nothing was stored.")
        change.data.update(_told(definition))
    return agent


def _make(project: Project, name: str, definition: Definition) -> tuple[Agent, bool]:
    """A removed agent of the name starts anew: its old versions keep its name, its old tokens stay revoked."""
    if not _NAME.fullmatch(name) or len(name) > 64:
        raise InvalidRequest(
            "An agent’s name has lower-case letters and digits, with single hyphens, dots or underscores between them, "
            f"64 characters at most; not {name[:80]!r}."
        )
    agent, made = Agent.objects.get_or_create(project=project, name=name)
    if agent.removed_at is not None:
        agent.removed_at, agent.last_seen_at, made = None, None, True
    if made:
        _define(agent, definition)
    return agent, made


def _define(agent: Agent, definition: Definition) -> None:
    agent.prompt, agent.instructions = definition.prompt, definition.instructions
    agent.uses_skills, agent.trust = list(definition.uses_skills), definition.trust
    agent.allowed_skills = None if definition.allowed_skills is None else list(definition.allowed_skills)
    agent.save()


def _told(definition: Definition) -> dict[str, object]:
    """What the audit log keeps of a definition: who may see what, not the texts."""
    allowed = definition.allowed_skills
    return {
        "uses_skills": list(definition.uses_skills),
        "allowed_skills": None if allowed is None else list(allowed),
        "trust": definition.trust,
    }


def update(project: Project, name: str, definition: Definition, *, by: Actor) -> Agent:
    """The agent with this definition in the place of its own."""
    return _change(project, name, lambda standing: definition, by=by)


def amend(project: Project, name: str, fields: Mapping[str, Any], *, by: Actor) -> Agent:
    """The agent with these fields changed. What somebody else changes in the same moment in others stays."""
    return _change(project, name, lambda standing: replace(standing, **fields), by=by)


def _change(project: Project, name: str, make: Callable[[Definition], Definition], *, by: Actor) -> Agent:
    require(by, roles.MANAGE, project)
    with audit.change(project, "agent.changed", by=by, target=name) as change:
        agent = get(project, name)
        standing = definition_of(agent)
        definition = make(standing).checked()
        if standing == definition:
            change.cancel()
            return agent
        changed = [field for field in Definition.__slots__ if getattr(standing, field) != getattr(definition, field)]
        _define(agent, definition)
        change.data.update(_told(definition), changed=changed)
    return agent


def remove(project: Project, name: str, *, by: Actor) -> None:
    """The agent is gone and its tokens stop at once; what it wrote keeps its name."""
    require(by, roles.MANAGE, project)
    with audit.change(project, "agent.removed", by=by, target=name) as change:
        agent, now = get(project, name), timezone.now()
        Agent.objects.filter(pk=agent.pk).update(removed_at=now)
        change.data["tokens"] = Token.objects.filter(agent=agent, revoked_at=None).update(revoked_at=now)
