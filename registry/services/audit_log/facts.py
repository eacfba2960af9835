"""Comparison of rows with the events that must have created them."""

from collections.abc import Iterator

from registry.core import roles
from registry.core.audit.chain import SITE
from registry.core.proposals.lifecycle import State
from registry.models import Event, Membership, Project, Proposal, Version

_DECISIONS = {State.APPROVED: "proposal.approved", State.REJECTED: "proposal.rejected"}


def project_creators(project: Project | None = None) -> dict[int, int | None]:
    """Return who created each project, by the events of the site. The project's creator is its first owner."""
    created = Event.objects.filter(chain__name=SITE, verb="project.created")
    if project is not None:
        created = created.filter(data__project=project.pk)
    rows = created.values_list("data", "user_id").iterator(chunk_size=2_000)
    return {data["project"]: user for data, user in rows if isinstance(data.get("project"), int)}


class Facts:
    """The versions, members and decisions that the events of one project explain."""

    def __init__(self) -> None:
        self._published: set[tuple[str, str]] = set()
        self._roles: dict[str, str | None] = {}
        self._decided: set[tuple[object, str]] = set()

    def add(self, event: Event) -> None:
        if event.after:
            self._published.add((event.target, event.after))
        if event.verb in ("member.set", "member.joined"):
            self._roles[event.target] = event.data.get("role")
        elif event.verb == "member.removed":
            self._roles[event.target] = None
        elif event.verb in _DECISIONS.values():
            self._decided.add((event.data.get("proposal"), event.verb))

    def rows_without_event(self, project_id: int, creator: int | None) -> Iterator[str]:
        """Yield a sentence for each version, member and decision that no event of the project explains."""
        yield from self._versions(project_id)
        yield from self._members(project_id, creator)
        yield from self._decisions(project_id)

    def _versions(self, project_id: int) -> Iterator[str]:
        rows = Version.objects.filter(skill__project=project_id).values_list("skill__name", "digest", "version")
        for name, digest, version in rows.iterator(chunk_size=2_000):
            if (name, digest) not in self._published:
                yield f"version {version} of {name} has no event"

    def _members(self, project_id: int, creator: int | None) -> Iterator[str]:
        rows = Membership.objects.filter(project=project_id).values_list("user__username", "user_id", "role")
        for username, user_id, role in rows:
            recorded = self._roles.get(username, roles.OWNER if user_id == creator else None)
            if recorded is None:
                yield f"the member {username} has no event"
            elif recorded != role:
                yield f"{username} is {role}, and the last event about this member says {recorded}"

    def _decisions(self, project_id: int) -> Iterator[str]:
        decided = Proposal.objects.filter(project=project_id, state__in=list(_DECISIONS))
        for pk, state in decided.values_list("pk", "state").iterator(chunk_size=2_000):
            if (pk, _DECISIONS[State(state)]) not in self._decided:
                yield f"proposal {pk} is {state}, and no event says so"
