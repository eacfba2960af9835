"""The audit log: each change is one transaction with one event and one step of the project's revision."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypedDict

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from registry.core import roles
from registry.lib.json_types import Timestamp
from registry.models import Chain, Event, Project
from registry.services.permissions import Actor, require

SITE = "site"
_GENESIS = "0" * 64


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
def change(project: Project | None, verb: str, *, by: Actor, target: str = "") -> Iterator[Change]:
    """Run one state change in a transaction. The lock on the chain serialises the changes of a project."""
    with transaction.atomic():
        chain = _lock(project)
        pending = Change(verb, target, by=by)
        yield pending
        if pending.cancelled:
            return
        _append(chain, pending, by)
        if project is not None:
            Project.objects.filter(pk=project.pk).update(revision=F("revision") + 1)


def _lock(project: Project | None) -> Chain:
    name = f"project-{project.pk}" if project else SITE
    chains = Chain.objects.select_for_update().filter(name=name)
    if chain := chains.first():
        return chain
    Chain.objects.bulk_create([Chain(name=name, project=project, head=_GENESIS)], ignore_conflicts=True)
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
    event.hash = _hash(event)
    event.save(force_insert=True)
    Chain.objects.filter(pk=chain.pk).update(length=event.sequence, head=event.hash)


def _hash(event: Event) -> str:
    content = [
        event.previous, event.sequence, event.at.isoformat(), event.verb, event.target, event.actor_kind,
        event.actor_name, event.user_id, event.agent_id, event.address, event.before, event.after, event.data,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Broken:
    chain: str
    sequence: int
    reason: str


def verify(project: Project | None = None, *, newest: int | None = None) -> tuple[int, list[Broken]]:
    """Check every chain, or the chain of one project. Return how many events are intact, and the broken places.

    `newest` limits the check to that many events at the end of each chain. It trusts the hash before the first one.
    """
    good, broken = 0, []
    chains = Chain.objects.filter(project=project) if project is not None else Chain.objects.all()
    for chain in chains.order_by("pk"):
        previous, expected = _GENESIS, 1
        events = Event.objects.filter(chain=chain).order_by("sequence")
        if newest is not None and chain.length > newest:
            expected = chain.length - newest + 1
            events = events.filter(sequence__gte=expected)
            previous = events.values_list("previous", flat=True).first() or ""
        for event in events.iterator():
            if event.sequence != expected:
                broken.append(Broken(chain.name, expected, "an event is missing"))
            elif event.previous != previous:
                broken.append(Broken(chain.name, event.sequence, "it does not follow the event before it"))
            elif event.hash != _hash(event):
                broken.append(Broken(chain.name, event.sequence, "its content was changed"))
            else:
                good += 1
            previous, expected = event.hash, event.sequence + 1
        if (chain.length, chain.head) != (expected - 1, previous):
            broken.append(Broken(chain.name, chain.length, "events were removed from or added to the end of the chain"))
    return good, broken


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
    }


def json_lines(events: Iterable[Event]) -> Iterator[bytes]:
    for event in events:
        yield json.dumps(as_record(event), ensure_ascii=False).encode() + b"\n"
