"""Members of a project and their invitations. All members see the list, and owners change it."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, password_validation
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core import roles
from registry.core.errors import AlreadyExists, Conflict, InvalidRequest, NotFound
from registry.models import Membership, User
from registry.services.people import accounts, invitations, members, revocation, sessions
from registry.web import navigation, user_agent
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.humanize import counted

_MEANING = {
    roles.VIEWER: "You can read skills and propose changes.",
    roles.AUTHOR: "You can read and write skills.",
    roles.REVIEWER: "You can read and write skills, and review proposals.",
    roles.OWNER: "You can do everything in this project, including members and settings.",
}
_CHOICES = [(role, role.capitalize()) for role in roles.ROLES]


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        choices=_CHOICES,
        initial=roles.AUTHOR,
        help_text="Viewers read and propose. Authors also write, reviewers also approve, owners also manage.",
    )
    note = forms.CharField(
        label="Name",
        required=False,
        max_length=invitations.NOTE_CHARS,
        help_text="Who the invitation is for. Only owners see this.",
    )


class NewAccountForm(forms.Form):
    username = forms.CharField(
        label="Username",
        max_length=accounts.USERNAME_CHARS,
        help_text="You sign in with it. Lower-case letters and digits.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages={"required": "Choose a username, for example maja."},
    )
    full_name = forms.CharField(
        label="Your name",
        max_length=accounts.FULL_NAME_CHARS,
        help_text="Others see this name next to your changes.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    password = forms.CharField(
        strip=False,
        help_text="At least 10 characters.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Choose a password of at least 10 characters."},
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        first, _, last = values.get("full_name", "").partition(" ")
        person = User(username=values.get("username", ""), first_name=first, last_name=last)
        if "password" in values:
            try:
                password_validation.validate_password(values["password"], person)
            except ValidationError as error:
                self.add_error("password", error)
        return values


@in_project
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    return _page(request, InvitationForm())


def _page(request: ProjectRequest, form: InvitationForm, *, link: str = "", status: int = 200) -> HttpResponse:
    manages = navigation.may(request, roles.MANAGE)
    rows = list(Membership.objects.for_list(request.project))
    removable = [row for row in rows if manages or row.user_id == request.user.pk]
    lost = revocation.affected_by_removal(request.project, removable)
    context = {
        "members": rows,
        "removable": [(row, lost[row.user_id]) for row in removable],
        "invitations": invitations.list_open(request.project, now=timezone.now()) if manages else [],
        "manages": manages,
        "roles": _CHOICES,
        "form": form,
        "link": link,
    }
    return render(request, "project/members.html", context, status=status)


@never_cache
@in_project
@needs(roles.MANAGE, to="invite people")
@require_POST
def invite(request: ProjectRequest) -> HttpResponse:
    """Create an invitation. Only the response to this POST shows its link."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    secret = invitations.make(request.project, **form.cleaned_data, by=request.actor)
    link = f"{settings.PUBLIC_URL}{reverse('invitation', args=[secret])}"
    return _page(request, InvitationForm(), link=link, status=201)


@in_project
@needs(roles.MANAGE, to="withdraw invitations")
@require_POST
def withdraw(request: ProjectRequest, invitation: int) -> HttpResponse:
    invitations.withdraw(request.project, invitation, by=request.actor)
    messages.success(request, "Invitation withdrawn. Its link no longer works.")
    return redirect("members", request.project.slug)


@in_project
@needs(roles.MANAGE, to="change roles")
@require_POST
def change_role(request: ProjectRequest, member: int) -> HttpResponse:
    """Change a role. If this revokes tokens, show them first and ask again."""
    user, role = _member(request, member).user, request.POST.get("role", "")
    members.check_role(role)
    lost = revocation.affected(request.project, user.pk, role)
    if lost.tokens and "confirmed" not in request.POST:
        context = {"member": user, "member_pk": member, "role": role, "a_role": _a(role), "lost": lost}
        return render(request, "project/member_role.html", context)
    membership = members.set_role(request.project, user, role, by=request.actor)
    messages.success(request, f"{user.display_name} is now {_a(membership.role)}.{_revoked(lost)}")
    return redirect("members", request.project.slug)


@in_project
@require_POST
def remove(request: ProjectRequest, member: int) -> HttpResponse:
    user = _member(request, member).user
    lost = revocation.affected(request.project, user.pk)
    members.remove(request.project, user, by=request.actor)
    if user.pk == request.user.pk:
        messages.success(request, f"You left {request.project.name}.{_revoked(lost)}")
        return redirect("projects")
    messages.success(request, f"{user.display_name} is no longer a member.{_revoked(lost)}")
    return redirect("members", request.project.slug)


def _member(request: ProjectRequest, member: int) -> Membership:
    membership = Membership.objects.filter(project=request.project, pk=member).select_related("user").first()
    if membership is None:
        raise NotFound("This project has no such member.")
    return membership


def _revoked(lost: revocation.Affected) -> str:
    return f" {counted(len(lost.tokens), 'token was,tokens were')} revoked." if lost.tokens else ""


def _a(role: str) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show an invitation on GET. On POST, join as the signed-in person or with a new account."""
    person = request.user if isinstance(request.user, User) else None
    try:
        if request.method != "POST":
            return _show_invitation(request, secret, NewAccountForm())
        return _join(request, secret, person) if person is not None else _join_as_new(request, secret)
    except NotFound:
        return render(request, "project/invitation.html", {"invitation": None}, status=404)


def _show_invitation(request: HttpRequest, secret: str, form: NewAccountForm, *, status: int = 200) -> HttpResponse:
    invitation = invitations.peek(secret, now=timezone.now())
    context = {
        "invitation": invitation,
        "meaning": _MEANING[invitation.role],
        "form": form,
        "sign_in": f"{reverse('sign-in')}?next={reverse('invitation', args=[secret])}",
    }
    return render(request, "project/invitation.html", context, status=status)


def _join(request: HttpRequest, secret: str, person: User) -> HttpResponse:
    try:
        membership = invitations.accept(secret, user=person, now=timezone.now())
    except Conflict as error:
        messages.info(request, error.message)
        return redirect("skills", invitations.peek(secret, now=timezone.now()).project.slug)
    return _welcome(request, membership)


def _join_as_new(request: HttpRequest, secret: str) -> HttpResponse:
    form = NewAccountForm(request.POST)
    if not form.is_valid():
        return _show_invitation(request, secret, form, status=422)
    now = timezone.now()
    try:
        membership = invitations.join(secret, **form.cleaned_data, now=now)
    except (AlreadyExists, InvalidRequest) as error:
        form.add_error("username", error.message)
        return _show_invitation(request, secret, form, status=422)
    login(request, membership.user, backend="django.contrib.auth.backends.ModelBackend")
    sessions.begin(membership.user, user_agent.browser(request), now=now)
    return _welcome(request, membership)


def _welcome(request: HttpRequest, membership: Membership) -> HttpResponse:
    messages.success(request, f"You joined {membership.project.name} as {_a(membership.role)}.")
    return redirect("skills", membership.project.slug)
