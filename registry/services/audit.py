"""The audit log: each change is one transaction with one event and one step of the project's revision."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypedDict

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from registry.core import roles
from registry.core.audit.chain import GENESIS, QUIET, chain_name, event_hash, event_seal, head_seal
from registry.lib.json_types import Timestamp
from registry.models import Chain, Event, Project
from registry.services.permissions import Actor, require


@dataclass(slots=True)
class Change:
    """An event under construction. A verb fills it in, or cancels it if nothing changed."""

    verb: str
    target: str = ""
    before: str = ""
    after: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    cancelled: bool = False
    by: Actor = field(kw_only=True)

    def cancel(self) -> None:
        self.cancelled = True


@contextmanager
def change(
    project: Project | None, verb: str, *, by: Actor, target: str = "", revises: bool = True
) -> Iterator[Change]:
    """Run one state change in a transaction. The lock on the chain serialises the changes of a project.

    `revises` is false for a change that no answer to an agent depends on, such as an event of a run. Cached answers
    then stay valid. The verification knows such changes by their verbs.
    """
    if revises == verb.startswith(QUIET):
        raise ValueError(f"{verb} contradicts the list of verbs that do not raise the revision of a project.")
    with transaction.atomic():
        chain = _lock(project)
        pending = Change(verb, target, by=by)
        yield pending
        if pending.cancelled:
            return
        _append(chain, pending, by)
        if project is not None and revises:
            Project.objects.filter(pk=project.pk).update(revision=F("revision") + 1)


def _lock(project: Project | None) -> Chain:
    name = chain_name(project.pk if project else None)
    chains = Chain.objects.select_for_update().filter(name=name)
    if chain := chains.first():
        return chain
    seal = head_seal(settings.AUDIT_KEY, name, 0, GENESIS)
    Chain.objects.bulk_create([Chain(name=name, project=project, head=GENESIS, seal=seal)], ignore_conflicts=True)
    return chains.get()


def _append(chain: Chain, pending: Change, by: Actor) -> None:
    event = Event(
        chain=chain,
        sequence=chain.length + 1,
        at=timezone.now(),
        verb=pending.verb,
        target=pending.target,
        actor_kind=by.kind,
        actor_name=by.name,
        user_id=by.user_id,
        agent_id=by.agent_id,
        address=by.address,
        before=pending.before,
        after=pending.after,
        data=pending.data,
        previous=chain.head,
    )
    event.hash = event_hash(hashed_content(event))
    event.seal = event_seal(settings.AUDIT_KEY, chain.name, event.sequence, event.hash)
    event.save(force_insert=True)
    seal = head_seal(settings.AUDIT_KEY, chain.name, event.sequence, event.hash)
    Chain.objects.filter(pk=chain.pk).update(length=event.sequence, head=event.hash, seal=seal)


def hashed_content(event: Event) -> list[object]:
    """Return everything that the hash of an event covers."""
    return [
        event.previous, event.sequence, event.at.isoformat(), event.verb, event.target, event.actor_kind,
        event.actor_name, event.user_id, event.agent_id, event.address, event.before, event.after, event.data,
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filter:
    """Criteria for a search of the log. A verb that ends in a dot matches every verb with that prefix."""

    verb: str = ""
    actor: str = ""
    target: str = ""
    since: datetime | None = None
    until: datetime | None = None


def events(project: Project, criteria: Filter, *, by: Actor) -> QuerySet[Event]:
    """Return the matching events of a project, newest first."""
    require(by, roles.REVIEW, project)
    matching = Event.objects.filter(chain__project=project).order_by("-sequence")
    if criteria.verb:
        matching = matching.filter(**{"verb__startswith" if criteria.verb.endswith(".") else "verb": criteria.verb})
    if criteria.actor:
        matching = matching.filter(actor_name=criteria.actor)
    if criteria.target:
        matching = matching.filter(target=criteria.target)
    if criteria.since is not None:
        matching = matching.filter(at__gte=criteria.since)
    return matching.filter(at__lt=criteria.until) if criteria.until is not None else matching


class ActorShape(TypedDict):
    kind: str
    name: str
    id: Annotated[int | None, "The id of the person or agent. A name can be reused, an id cannot."]


class EventShape(TypedDict):
    sequence: int
    at: Timestamp
    verb: str
    target: str
    actor: ActorShape
    address: Annotated[str, "The network address that sent the request."]
    before: str | None
    after: str | None
    details: dict[str, Any]
    previous: str
    hash: str
    seal: Annotated[str, "An HMAC of the hash with the key of the site, which is not in the database."]


def as_record(event: Event) -> EventShape:
    """Return an event with every field that its hash covers, so that a copy can be verified without the site."""
    return {
        "sequence": event.sequence,
        "at": event.at.isoformat(),
        "verb": event.verb,
        "target": event.target,
        "actor": {"kind": event.actor_kind, "name": event.actor_name, "id": event.agent_id or event.user_id},
        "address": event.address,
        "before": event.before or None,
        "after": event.after or None,
        "details": event.data,
        "previous": event.previous,
        "hash": event.hash,
        "seal": event.seal,
    }


def json_lines(events: Iterable[Event]) -> Iterator[bytes]:
    for event in events:
        yield json.dumps(as_record(event), ensure_ascii=False).encode() + b"\n"
