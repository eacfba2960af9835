"""Who belongs to a project: roles, invitations, leaving. Everybody sees the list, owners change it."""

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
from registry.services.people import accounts, invitations, members, sessions
from registry.web import navigation, user_agent
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render

_MEANING = {
    roles.VIEWER: "You can read skills and propose changes.",
    roles.AUTHOR: "You can read and write skills.",
    roles.REVIEWER: "You can read and write skills, and decide on proposals.",
    roles.OWNER: "You can do everything here, members and settings included.",
}
_CHOICES = [(role, role.capitalize()) for role in roles.ROLES]


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        choices=_CHOICES,
        initial=roles.AUTHOR,
        help_text="Viewers read and propose. Authors also write, reviewers also decide, owners also manage.",
    )
    note = forms.CharField(
        label="For whom",
        required=False,
        max_length=invitations.NOTE_CHARS,
        help_text="A note to yourself, such as a name. Only members see it.",
    )


class NewAccountForm(forms.Form):
    username = forms.CharField(
        label="User name",
        max_length=accounts.USERNAME_CHARS,
        help_text="What you sign in with: lower-case letters and digits.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages={"required": "Choose a user name, for example maja."},
    )
    full_name = forms.CharField(
        label="Your name",
        max_length=accounts.FULL_NAME_CHARS,
        help_text="What others see beside your changes.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Write your name."},
    )
    password = forms.CharField(
        strip=False,
        help_text="10 characters or more.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Choose a password of 10 characters or more."},
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
    found = {
        "members": Membership.objects.for_list(request.project),
        "invitations": invitations.list_open(request.project, now=timezone.now()) if manages else [],
        "manages": manages,
        "roles": _CHOICES,
        "form": form,
        "link": link,
    }
    return render(request, "members/list.html", found, status=status)


@never_cache
@in_project
@require_POST
def invite(request: ProjectRequest) -> HttpResponse:
    """The answer to the POST is the only page that ever shows the link."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    secret = invitations.make(request.project, **form.cleaned_data, by=request.actor)
    link = f"{settings.PUBLIC_URL}{reverse('invitation', args=[secret])}"
    return _page(request, InvitationForm(), link=link, status=201)


@in_project
@require_POST
def withdraw(request: ProjectRequest, invitation: int) -> HttpResponse:
    invitations.withdraw(request.project, invitation, by=request.actor)
    messages.success(request, "The invitation is withdrawn. Its link no longer works.")
    return redirect("members", request.project.slug)


@in_project
@require_POST
def change_role(request: ProjectRequest, member: int) -> HttpResponse:
    found = _member(request, member)
    changed = members.set_role(request.project, found.user, request.POST.get("role", ""), by=request.actor)
    messages.success(request, f"{found.user.display_name} is {changed.role} now.")
    return redirect("members", request.project.slug)


@in_project
@require_POST
def remove(request: ProjectRequest, member: int) -> HttpResponse:
    found = _member(request, member)
    members.remove(request.project, found.user, by=request.actor)
    if found.user_id == request.user.pk:
        messages.success(request, f"You left {request.project.name}.")
        return redirect("projects")
    messages.success(request, f"{found.user.display_name} is no longer a member.")
    return redirect("members", request.project.slug)


def _member(request: ProjectRequest, member: int) -> Membership:
    found = Membership.objects.filter(project=request.project, pk=member).select_related("user").first()
    if found is None:
        raise NotFound("There is no such member of this project.")
    return found


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Looking at the link does not spend it. Somebody signed in joins; somebody new makes an account here."""
    person = request.user if isinstance(request.user, User) else None
    try:
        if request.method != "POST":
            return _offer(request, secret, NewAccountForm())
        return _join(request, secret, person) if person is not None else _join_as_new(request, secret)
    except NotFound:
        return render(request, "members/invitation.html", {"invitation": None}, status=404)


def _offer(request: HttpRequest, secret: str, form: NewAccountForm, *, status: int = 200) -> HttpResponse:
    offered = invitations.peek(secret, now=timezone.now())
    found = {
        "invitation": offered,
        "meaning": _MEANING[offered.role],
        "form": form,
        "sign_in": f"{reverse('sign-in')}?next={reverse('invitation', args=[secret])}",
    }
    return render(request, "members/invitation.html", found, status=status)


def _join(request: HttpRequest, secret: str, person: User) -> HttpResponse:
    try:
        joined = invitations.accept(secret, user=person, now=timezone.now())
    except Conflict as error:
        messages.info(request, error.message)
        return redirect("skills", invitations.peek(secret, now=timezone.now()).project.slug)
    messages.success(request, f"You are {joined.role} of {joined.project.name} now.")
    return redirect("skills", joined.project.slug)


def _join_as_new(request: HttpRequest, secret: str) -> HttpResponse:
    form = NewAccountForm(request.POST)
    if not form.is_valid():
        return _offer(request, secret, form, status=422)
    now = timezone.now()
    try:
        joined = invitations.join(secret, **form.cleaned_data, now=now)
    except (AlreadyExists, InvalidRequest) as error:
        form.add_error("username", error.message)
        return _offer(request, secret, form, status=422)
    login(request, joined.user, backend="django.contrib.auth.backends.ModelBackend")
    sessions.begin(joined.user, user_agent.browser(request), now=now)
    messages.success(request, f"You are {joined.role} of {joined.project.name} now.")
    return redirect("skills", joined.project.slug)
