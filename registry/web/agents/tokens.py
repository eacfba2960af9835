"""The page of a member's own tokens, with the form and the lists that the pages of agents share."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.models import Agent, Project, Token, User
from registry.services.agents import tokens
from registry.services.agents.tokens import Issued
from registry.services.permissions import Actor
from registry.web import navigation
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render

_SCOPES = {
    roles.READ: ("Read", "skills and their files"),
    roles.PROPOSE: ("Propose", "changes for review"),
    roles.WRITE: ("Write", "skills, where changes need no review"),
    roles.RUN: ("Run", "workflows and capabilities, which can act on other systems"),
    roles.REVIEW: ("Review", "proposals and questions of runs: approve, request changes, reject"),
    roles.MANAGE: ("Manage", "agents, members and settings"),
}
_LIFETIMES = {"7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "1 year", "": "Never"}
_DEFAULT_LIFETIME = "90d"


class TokenForm(forms.Form):
    """Create a token. `tokens.issue_token` decides which scopes somebody may give; the form checks only the shape."""

    scopes = forms.MultipleChoiceField(
        label="Scopes",
        choices=[(scope, scope) for scope in _SCOPES],
        error_messages={"required": "Choose at least one scope.", "invalid_choice": "There is no scope %(value)s."},
    )
    expires = forms.ChoiceField(
        label="Expires after",
        choices=list(_LIFETIMES.items()),
        initial=_DEFAULT_LIFETIME,
        required=False,
        help_text="An expired token stops working. You can revoke a token earlier.",
    )

    def __init__(self, *args: Any, offered: Iterable[str], ticked: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        selected = set(self["scopes"].value() or ()) if self.is_bound else set(ticked)
        self.options = [
            {"value": scope, "label": label, "what": what, "ticked": scope in selected}
            for scope, (label, what) in _SCOPES.items()
            if scope in offered
        ]

    def issue(
        self, project: Project, *, agent: Agent | None = None, user: User | None = None, by: Actor
    ) -> Issued | None:
        """Create the token, or add the error to the form and return None."""
        text = self.cleaned_data["expires"]
        try:
            lifetime = tokens.parse_lifetime(text) if text else None
            scopes = self.cleaned_data["scopes"]
            return tokens.issue_token(project, agent=agent, user=user, scopes=scopes, lifetime=lifetime, by=by)
        except InvalidRequest as error:
            self.add_error("scopes", error.message)
            return None


@dataclass(frozen=True, slots=True)
class TokensByState:
    active: tuple[Token, ...]
    inactive: tuple[Token, ...]


def group_by_state(tokens: Iterable[Token], now: datetime) -> TokensByState:
    """Separate active tokens from revoked and expired ones."""
    active: list[Token] = []
    inactive: list[Token] = []
    for token in tokens:
        works = token.revoked_at is None and (token.expires_at is None or token.expires_at > now)
        (active if works else inactive).append(token)
    return TokensByState(tuple(active), tuple(inactive))


@never_cache
@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: ProjectRequest) -> HttpResponse:
    """Only the response to the POST shows the secret."""
    if request.method != "POST":
        return _page(request, _form(request))
    form = _form(request, request.POST)
    issued = form.issue(request.project, user=request.user, by=request.actor) if form.is_valid() else None
    if issued is None:
        return _page(request, form, status=422)
    return _page(request, _form(request), issued=issued, status=201)


def _form(request: ProjectRequest, data: Any = None) -> TokenForm:
    return TokenForm(data, offered=roles.SCOPES_OF_ROLE[request.role], ticked=roles.DEFAULT_PERSON_SCOPES)


def _page(request: ProjectRequest, form: TokenForm, *, issued: Issued | None = None, status: int = 200) -> HttpResponse:
    now, of_people = timezone.now(), tokens.tokens_of_people(request.project)
    manages = navigation.may(request, roles.MANAGE)
    others = [token for token in of_people if token.user_id != request.user.pk] if manages else []
    context = {
        "form": form,
        "issued": issued,
        "mine": group_by_state((token for token in of_people if token.user_id == request.user.pk), now),
        "others": group_by_state(others, now),
    }
    return render(request, "tokens/list.html", context, status=status)


@in_project
@require_POST
def revoke(request: ProjectRequest, token: int) -> HttpResponse:
    """Revoke one of the member's own tokens. Owners may also revoke those of others."""
    own = Token.objects.filter(project=request.project, pk=token, user=request.user).exists()
    tokens.revoke_token(request.project, token, user=request.user if own else None, by=request.actor)
    messages.success(request, "Token revoked. Requests with it now fail.")
    return redirect("tokens", request.project.slug)
