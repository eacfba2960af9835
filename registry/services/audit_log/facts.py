"""Comparison of rows with the events that must have created them."""

from collections.abc import Collection, Iterator

from registry.core import roles
from registry.core.audit.chain import SITE
from registry.core.proposals.lifecycle import State
from registry.models import Event, Membership, Project, Proposal
from registry.services.audit_log.access_replay import AccessReplay
from registry.services.audit_log.skill_replay import SkillReplay

_DECISIONS = {State.APPROVED: "proposal.approved", State.REJECTED: "proposal.rejected"}


def project_creators(project: Project | None = None) -> dict[int, int | None]:
    """Return who created each project, by the events of the site. The project's creator is its first owner."""
    created = Event.objects.filter(chain__name=SITE, verb="project.created")
    if project is not None:
        created = created.filter(data__project=project.pk)
    rows = created.values_list("data", "user_id").iterator(chunk_size=2_000)
    return {data["project"]: user for data, user in rows if isinstance(data.get("project"), int)}


class Facts:
    """The rows that the events of one project explain. Each event is read once."""

    def __init__(self) -> None:
        self._skills = SkillReplay()
        self._access = AccessReplay()
        self._roles: dict[str, str | None] = {}
        self._decided: set[tuple[object, str]] = set()

    def add(self, event: Event) -> None:
        self._skills.add(event)
        self._access.add(event)
        if event.verb in ("member.set", "member.joined"):
            self._roles[event.target] = event.data.get("role")
        elif event.verb == "member.removed":
            self._roles[event.target] = None
        elif event.verb in _DECISIONS.values():
            self._decided.add((event.data.get("proposal"), event.verb))

    def differences(self, project_id: int, creator: int | None, closed: Collection[int]) -> Iterator[str]:
        """Yield a sentence for each row that no event of the project explains, or that differs from its events.

        `closed` are the tokens that were revoked because an account was closed.
        """
        yield from self._skills.differences(project_id)
        yield from self._access.differences(project_id, closed)
        yield from self._members(project_id, creator)
        yield from self._decisions(project_id)

    def _members(self, project_id: int, creator: int | None) -> Iterator[str]:
        rows = Membership.objects.filter(project=project_id).values_list("user__username", "user_id", "role")
        missing = {username for username, role in self._roles.items() if role is not None}
        for username, user_id, role in rows:
            missing.discard(username)
            recorded = self._roles.get(username, roles.OWNER if user_id == creator else None)
            if recorded is None:
                yield f"the member {username} has no event"
            elif recorded != role:
                yield f"{username} is {role}, and the last event about this member says {recorded}"
        for username in sorted(missing):
            yield f"the member {username} is missing, and no event says so"

    def _decisions(self, project_id: int) -> Iterator[str]:
        decided = Proposal.objects.filter(project=project_id, state__in=list(_DECISIONS))
        for pk, state in decided.values_list("pk", "state").iterator(chunk_size=2_000):
            if (pk, _DECISIONS[State(state)]) not in self._decided:
                yield f"proposal {pk} is {state}, and no event says so"
