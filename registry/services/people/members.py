"""Members of a project and their roles. A project always has an owner."""

from django.utils import timezone

from registry.core import roles
from registry.core.errors import Conflict, InvalidRequest, NotFound
from registry.models import Invitation, Membership, Project, User
from registry.services import audit
from registry.services.people import revocation
from registry.services.permissions import Actor, require


def check_role(role: str) -> None:
    if role not in roles.ROLES:
        raise InvalidRequest(f"There is no role {role[:40]!r}. Choose one of: {', '.join(roles.ROLES)}.")


def set_role(project: Project, user: User, role: str, *, by: Actor) -> Membership:
    """Add a member, or change the role of one. Tokens that need more than the new role are revoked."""
    require(by, roles.MANAGE, project)
    check_role(role)
    with audit.change(project, "member.set", by=by, target=user.username) as change:
        before = Membership.objects.filter(project=project, user=user).first()
        if before is not None and before.role == role:
            change.cancel()
            return before
        if before is not None:
            _keep_an_owner(project, before)
            change.data["was"] = before.role
        membership, _ = Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
        if roles.MANAGE not in roles.SCOPES_OF_ROLE[role]:
            _withdraw_invitations(project, user)
        if before is not None:
            revocation.revoke(project, user.pk, role, change=change)
        change.data["role"] = role
    return membership


def remove(project: Project, user: User, *, by: Actor) -> None:
    """End a membership and revoke the tokens that the person has or made. Owners can remove anybody; all can leave."""
    require(by, roles.READ if by.user_id == user.pk else roles.MANAGE, project)
    with audit.change(project, "member.removed", by=by, target=user.username) as change:
        membership = Membership.objects.filter(project=project, user=user).first()
        if membership is None:
            raise NotFound(f"{user.username} is not a member of {project.name}.")
        _keep_an_owner(project, membership)
        membership.delete()
        _withdraw_invitations(project, user)
        revocation.revoke(project, user.pk, change=change)
        change.data["was"] = membership.role


def _keep_an_owner(project: Project, membership: Membership) -> None:
    """Refuse to remove the last owner. Called inside `audit.change`, so two owners cannot leave at the same time."""
    others = Membership.objects.filter(project=project, role=roles.OWNER).exclude(pk=membership.pk)
    if membership.role == roles.OWNER and not others.exists():
        raise Conflict(
            f"{membership.user.display_name} is the last owner of {project.name}. "
            "Make another member an owner first. Nothing was changed."
        )


def _withdraw_invitations(project: Project, user: User) -> None:
    """Withdraw the invitations a former owner created, so that they cannot return through a link they kept."""
    Invitation.objects.filter(project=project, made_by=user, used_at=None, withdrawn_at=None).update(
        withdrawn_at=timezone.now()
    )
