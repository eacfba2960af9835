"""Who is acting, and whether they may. Every verb opens with `require`."""

from dataclasses import dataclass, field

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.catalog.visibility import visible
from registry.core.errors import Forbidden, NotFound
from registry.models import Agent, Membership, Project, User

_NEEDS = {
    roles.READ: "read this project",
    roles.PROPOSE: "propose changes",
    roles.WRITE: "change skills",
    roles.REVIEW: "review proposals",
    roles.RUN: "run workflows",
    roles.MANAGE: "manage the project",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, an agent or an operator at the command line, with what they may do in one project."""

    kind: str
    name: str
    project_id: int | None = None
    scopes: frozenset[str] = field(default_factory=frozenset)
    user_id: int | None = None
    agent_id: int | None = None
    address: str = ""  # where they came from
    maker_id: int | None = None  # who made the token they came with, and so could have sent this in their name

    def may(self, scope: str) -> bool:
        return scope in self.scopes


def operator(name: str = "command line") -> Actor:
    """Whoever holds the machine may do everything; the audit log says that it was them."""
    return Actor(kind="operator", name=name, scopes=frozenset(roles.SCOPES))


def person(user: User, project: Project) -> Actor:
    """A signed-in person in a project; somebody who does not belong to it cannot tell that it exists."""
    role = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
    if role is None:
        raise NotFound("There is no such project.")
    return as_member(user, project, role)


def as_member(user: User, project: Project, role: str) -> Actor:
    return Actor("person", user.username, project.pk, roles.SCOPES_OF_ROLE[role], user_id=user.pk)


def visitor(user: User) -> Actor:
    """A signed-in person outside any project, for what belongs to the site."""
    return Actor("person", user.username, user_id=user.pk)


def agent(agent: Agent, scopes: frozenset[str]) -> Actor:
    return Actor("agent", agent.name, agent.project_id, scopes - roles.NEVER_FOR_AGENTS, agent_id=agent.pk)


def require(by: Actor, scope: str, project: Project) -> None:
    if by.kind != "operator" and by.project_id != project.pk:
        raise NotFound("There is no such project.")
    if not by.may(scope):
        raise Forbidden(f"{by.name} may not {_NEEDS[scope]} here. It takes the scope “{scope}”.", scope=scope)


def require_publish(by: Actor, project: Project) -> None:
    """For what changes the skills that agents get. Asked at the door, and again where a version is written."""
    require(by, roles.WRITE, project)
    if is_protected(project.pk):
        raise Forbidden(
            "Every change of this project is reviewed first. Propose it instead. Nothing was stored.", protected=True
        )


def require_withdraw(by: Actor, project: Project) -> None:
    """For taking something away from agents at once; where changes are reviewed, that is for reviewers."""
    require(by, roles.REVIEW if is_protected(project.pk) else roles.WRITE, project)


def require_reach(by: Actor, name: str) -> None:
    """An agent that is given only some skills changes only those."""
    names = reach(by)
    if names is not None and normalise(name) not in names:
        raise Forbidden(f"{by.name} may change only the skills it is given, and {name[:128]} is none of them.")


def reach(by: Actor) -> frozenset[str] | None:
    """The names that somebody may know of; None for all."""
    if by.agent_id is None:
        return None
    lists = Agent.objects.filter(pk=by.agent_id).values_list("allowed_skills", "uses_skills").first()
    return visible(*lists) if lists else frozenset()


def is_protected(project_id: int) -> bool:
    return Project.objects.filter(pk=project_id, protected=True).exists()


def require_still(by: Actor, scope: str, project: Project) -> None:
    """Inside a transaction: what was true when the request came in holds now as well."""
    require(by, scope, project)
    role = Membership.objects.filter(project=project, user=by.user_id or 0, user__is_active=True).values_list("role")
    if not any(scope in roles.SCOPES_OF_ROLE[name] for (name,) in role):
        raise Forbidden(f"{by.name} may not {_NEEDS[scope]} here any more.", scope=scope)


def require_operator(by: Actor) -> None:
    """For what nobody may do through a page or a token."""
    if by.kind != "operator":
        raise Forbidden(f"{by.name} may not do this. It is done at the command line of the server.")
