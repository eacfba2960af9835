"""Actors and their permissions. Every verb calls `require` first."""

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
    roles.REVIEW: "review proposals and runs",
    roles.RUN: "run workflows",
    roles.MANAGE: "manage the project",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, an agent or an operator at the command line, with their scopes in one project."""

    kind: str
    name: str
    project_id: int | None = None
    scopes: frozenset[str] = field(default_factory=frozenset)
    user_id: int | None = None
    agent_id: int | None = None
    address: str = ""  # the network address of the request
    maker_id: int | None = None  # the person who created the token, and so could act in its name

    def may(self, scope: str) -> bool:
        return scope in self.scopes


def operator(name: str = "command line") -> Actor:
    """Return an actor with every scope, for commands on the server. The audit log names it."""
    return Actor(kind="operator", name=name, scopes=frozenset(roles.SCOPES))


def person(user: User, project: Project) -> Actor:
    """Return a member as an actor. A person who is not a member gets NotFound, so project names do not leak."""
    role = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
    if role is None:
        raise NotFound("There is no such project.")
    return as_member(user, project, role)


def as_member(user: User, project: Project, role: str) -> Actor:
    return Actor("person", user.username, project.pk, roles.SCOPES_OF_ROLE[role], user_id=user.pk)


def visitor(user: User) -> Actor:
    """Return a signed-in person outside any project, for actions on the site and on their own account."""
    return Actor("person", user.username, user_id=user.pk)


def agent(agent: Agent, scopes: frozenset[str]) -> Actor:
    return Actor("agent", agent.name, agent.project_id, scopes - roles.NEVER_FOR_AGENTS, agent_id=agent.pk)


def require(by: Actor, scope: str, project: Project) -> None:
    if by.kind != "operator" and by.project_id != project.pk:
        raise NotFound("There is no such project.")
    if not by.may(scope):
        raise Forbidden(f"{by.name} is not allowed to {_NEEDS[scope]}. This needs the scope “{scope}”.", scope=scope)


def require_publish(by: Actor, project: Project) -> None:
    """Require that the actor may change skills without a review. Checked again where a version is written."""
    require(by, roles.WRITE, project)
    if is_protected(project.pk):
        raise Forbidden(
            "Changes to this project need a review. Propose the change instead. Nothing was saved.", protected=True
        )


def require_withdraw(by: Actor, project: Project) -> None:
    """Require that the actor may take a skill away from agents. In a protected project only reviewers may."""
    require(by, roles.REVIEW if is_protected(project.pk) else roles.WRITE, project)


def require_reach(by: Actor, name: str, *, shown: str = "") -> None:
    """Require that an agent with a list of skills changes only those. The error is the same for a name without a skill.

    `shown` is the name in the error, if the agent asked for another name than the one that is checked.
    """
    names = reach(by)
    if names is not None and normalise(name) not in names:
        raise Forbidden(f"{by.name} can change only the skills on its list. {(shown or name)[:128]} is not on it.")


def reach(by: Actor) -> frozenset[str] | None:
    """Return the names of the skills an actor may see, or None for all."""
    if by.agent_id is None:
        return None
    lists = Agent.objects.filter(pk=by.agent_id).values_list("allowed_skills", "uses_skills").first()
    return visible(*lists) if lists else frozenset()


def is_protected(project_id: int) -> bool:
    return Project.objects.filter(pk=project_id, protected=True).exists()


def require_still(by: Actor, scope: str, project: Project) -> None:
    """Check the permission again inside a transaction, in case the role was changed since the request began."""
    require(by, scope, project)
    role = Membership.objects.filter(project=project, user=by.user_id or 0, user__is_active=True).values_list("role")
    if not any(scope in roles.SCOPES_OF_ROLE[name] for (name,) in role):
        raise Forbidden(f"{by.name} is no longer allowed to {_NEEDS[scope]}.", scope=scope)


def require_operator(by: Actor) -> None:
    """Require the command line. No page and no token can do this."""
    if by.kind != "operator":
        raise Forbidden(f"{by.name} is not allowed to do this. Use the command line of the server.")
