"""Verification of the audit log: its hashes and seals, its length, heads kept elsewhere, and rows without an event."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from registry.core.audit.chain import (
    GENESIS,
    QUIET,
    SITE,
    chain_name,
    event_hash,
    event_seal,
    head_seal,
    is_seal,
    is_well_formed,
)
from registry.core.audit.heads import Head
from registry.models import Chain, Event, Project, Version
from registry.services.audit import hashed_content
from registry.services.audit_log.access_replay import tokens_of_closed_accounts
from registry.services.audit_log.facts import Facts, project_creators

WRONG_KEY = (
    "no seal matches: AUDIT_KEY is not the key that sealed this log. Use the key of the time when the events were "
    "written. Without it, nothing in this log can be proven; manage.py seal_audit --key-was-lost starts again with "
    "a new key"
)
_ENDS = "events were removed from or added to the end of the chain"
_CHUNK = 2_000


@dataclass(frozen=True, slots=True)
class Broken:
    """A fault. `sequence` is the number of the event, or 0 if the fault concerns the whole chain."""

    chain: str
    sequence: int
    reason: str
    about_seal: bool = field(default=False, compare=False)


class SiteFacts:
    """The site's own events about projects: the creator of each one, and the tokens of closed accounts."""

    def __init__(self, project: Project | None) -> None:
        self.creators = project_creators(project)
        self.closed = tokens_of_closed_accounts()

    def knows(self, project_id: int) -> bool:
        """Return whether an event created the project, also one that was created during the verification."""
        if project_id not in self.creators:
            self.creators |= project_creators(Project(pk=project_id))
        return project_id in self.creators

    def creator(self, project_id: int) -> int | None:
        return self.creators[project_id] if self.knows(project_id) else None


def verify(
    project: Project | None = None, *, newest: int | None = None, heads: Iterable[Head] = ()
) -> tuple[int, list[Broken]]:
    """Check every chain, or the chain of one project. Return how many events are intact, and the faults.

    `newest` limits the check to that many events at the end of each chain. It trusts the hash before the first one.
    `heads` were written by the worker and kept outside the database. Their hashes are compared, not their seals.
    """
    good, seals, broken = 0, 0, []
    known: dict[str, list[Head]] = {}
    for head in heads:
        known.setdefault(head.chain, []).append(head)
    chains = Chain.objects.select_related("project")
    if project is not None:
        chains = chains.filter(project=project)
    names = set()
    site = SiteFacts(project)
    for chain in chains.order_by("pk"):
        names.add(chain.name)
        walk = Walk(chain, newest, known.get(chain.name, []))
        broken += walk.run(site)
        good, seals = good + walk.good, seals + walk.sealed
    broken += _missing_chains(project, names, known)
    broken += _unchanged_projects(project, names, site)
    if project is None:
        broken += _unknown_projects(site) if SITE in names else ()
    if not seals and any(fault.about_seal for fault in broken) and not _key_fits(known):
        broken = [Broken("all chains", 0, WRONG_KEY), *(fault for fault in broken if not fault.about_seal)]
    return good, broken


def _key_fits(known: Mapping[str, Iterable[Head]]) -> bool:
    """Return whether the head of the site's own chain, or a head kept elsewhere, has a seal of this key."""
    site = Chain.objects.filter(name=SITE).first()
    if site is not None and is_seal(site.seal, head_seal(settings.AUDIT_KEY, SITE, site.length, site.head)):
        return True
    return any(head.is_sealed(settings.AUDIT_KEY) for heads in known.values() for head in heads)


def _missing_chains(project: Project | None, names: set[str], known: Mapping[str, object]) -> Iterator[Broken]:
    projects = Project.objects.filter(pk=project.pk) if project is not None else Project.objects.all()
    used = Q(revision__gt=1) | Exists(Version.objects.filter(skill__project=OuterRef("pk")))
    changed = {chain_name(pk) for pk in projects.filter(used).values_list("pk", flat=True).iterator()}
    if project is None and projects.exists():
        changed.add(SITE)
    if project is None:
        changed |= known.keys()
    for name in sorted(changed - names):
        if not Chain.objects.filter(name=name).exists():  # the first event may have been added meanwhile
            yield Broken(name, 0, "the chain is missing")


def _unchanged_projects(project: Project | None, names: set[str], site: SiteFacts) -> Iterator[Broken]:
    """Compare the rows of projects without a chain. Nothing changed them since they were created."""
    projects = Project.objects.filter(revision=1)
    if project is not None:
        projects = projects.filter(pk=project.pk)
    for pk in projects.order_by("pk").values_list("pk", flat=True):
        if (name := chain_name(pk)) in names:
            continue
        found = list(Facts().differences(pk, site.creator(pk), site.closed))
        if found and not Chain.objects.filter(name=name).exists():  # the project can change meanwhile
            yield from (Broken(name, 0, sentence) for sentence in found)


def _unknown_projects(site: SiteFacts) -> Iterator[Broken]:
    """Compare the projects with the events of the site's chain that created them."""
    projects = dict(Project.objects.values_list("pk", "slug"))
    for pk in sorted(projects):
        if not site.knows(pk):
            yield Broken(SITE, 0, f"the project {projects[pk]} has no event that created it")
    for pk in sorted(site.creators.keys() - projects.keys()):
        yield Broken(SITE, 0, f"the project with the id {pk} was deleted; no event says so")


def _quiet_events(chain: Chain, *, before: int) -> int:
    """Return the number of events that did not raise the revision of the project."""
    verbs = Q()
    for prefix in QUIET:
        verbs |= Q(verb__startswith=prefix)
    return Event.objects.filter(verbs, chain=chain, sequence__lt=before).count()


class Walk:
    """One pass over the events of a chain, in their order, without keeping them."""

    def __init__(self, chain: Chain, newest: int | None, known: Iterable[Head]) -> None:
        self.chain = chain
        self.known: dict[int, list[Head]] = {}
        for head in known:
            self.known.setdefault(head.length, []).append(head)
        self.previous, self.expected = GENESIS, 1
        self.good = self.sealed = self.quiet = 0
        self.facts = Facts()
        self.is_whole = newest is None or chain.length <= newest
        if newest is not None and chain.length > newest:
            self.expected = chain.length - newest + 1
            first = Event.objects.filter(chain=chain, sequence__gte=self.expected).order_by("sequence")
            self.previous = first.values_list("previous", flat=True).first() or ""
            self.quiet = _quiet_events(chain, before=self.expected)

    def run(self, site: SiteFacts) -> list[Broken]:
        """Return the faults. Events that are added meanwhile are checked as well."""
        broken: list[Broken] = []
        while True:
            events = Event.objects.filter(chain=self.chain, sequence__gte=self.expected).order_by("sequence")
            for event in events.iterator(chunk_size=_CHUNK):
                broken += self._check(event)
            ends = list(self._check_end())
            if not broken and not ends:
                ends += self._check_rows(site)
            current = Chain.objects.select_related("project").get(pk=self.chain.pk)
            if (current.length, current.head) == (self.chain.length, self.chain.head):
                return broken + ends
            self.chain = current

    def _broken(self, sequence: int, reason: str, *, about_seal: bool = False) -> Broken:
        return Broken(self.chain.name, sequence, reason, about_seal)

    def _check(self, event: Event) -> Iterator[Broken]:
        sequence = event.sequence
        intact = False
        if sequence != self.expected:
            yield self._broken(self.expected, "an event is missing")
        elif event.previous != self.previous:
            yield self._broken(sequence, "it does not follow the event before it")
        elif event.hash != event_hash(hashed_content(event)):
            yield self._broken(sequence, "its content was changed")
        else:
            intact = True
        if is_seal(event.seal, event_seal(settings.AUDIT_KEY, self.chain.name, sequence, event.hash)):
            self.sealed += 1
        elif intact:
            intact = False
            reason = "its seal does not match: it was written without the key"
            yield self._unsealed(sequence, event.seal, reason)
        for head in self.known.get(sequence, ()):
            if head.hash != event.hash:
                yield self._broken(sequence, f"it is not the event that the head of {head.at} records")
                break
        self.good += intact
        self.quiet += event.verb.startswith(QUIET)
        self.previous, self.expected = event.hash, sequence + 1
        if self.is_whole and intact:
            self.facts.add(event)

    def _unsealed(self, sequence: int, seal: str, reason: str) -> Broken:
        """Return the fault of a wrong seal. No key makes an empty or malformed one, so a wrong key is no excuse."""
        if is_well_formed(seal):
            return self._broken(sequence, reason, about_seal=True)
        return self._broken(sequence, f"{reason}. The seal {'is malformed' if seal else 'was removed'}")

    def _check_end(self) -> Iterator[Broken]:
        chain = self.chain
        if (chain.length, chain.head) != (self.expected - 1, self.previous):
            yield self._broken(chain.length, _ENDS)
        if not is_seal(chain.seal, head_seal(settings.AUDIT_KEY, chain.name, chain.length, chain.head)):
            reason = "the end of the chain was set without the key: its seal does not match"
            yield self._unsealed(chain.length, chain.seal, reason)
        if chain.name != chain_name(chain.project_id):
            yield self._broken(0, f"the chain belongs to {chain_name(chain.project_id)}")
        elif chain.project is not None and chain.project.revision != chain.length - self.quiet + 1:
            changes = f"which means {chain.project.revision - 1} events that change it"
            yield self._broken(chain.length, f"the project has revision {chain.project.revision}, {changes}")
        beyond = [head for heads in self.known.values() for head in heads if head.length > chain.length]
        if beyond:
            last, first = max(beyond, key=lambda head: head.length), chain.length + 1
            reason = f"events {first} to {last.length} are missing: the head of {last.at} has {last.length} events"
            yield self._broken(first, reason)

    def _check_rows(self, site: SiteFacts) -> Iterator[Broken]:
        """Compare rows with the events. Call this only for an intact chain: a changed event explains no row."""
        project_id = self.chain.project_id
        if self.is_whole and project_id is not None:
            for sentence in self.facts.differences(project_id, site.creator(project_id), site.closed):
                yield self._broken(0, sentence)
