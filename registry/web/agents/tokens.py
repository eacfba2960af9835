"""A person's own tokens, and the form and the rows that tokens of agents share with them."""

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

# In the words of whoever makes a token. Nothing on this site is run yet, so that scope is not offered.
_SCOPES = {
    roles.READ: ("Read", "the skills and their files"),
    roles.PROPOSE: ("Propose", "changes that people decide on"),
    roles.WRITE: ("Write", "skills, where changes need no review"),
    roles.REVIEW: ("Review", "and decide on proposals"),
    roles.MANAGE: ("Manage", "agents, members and settings"),
}
_LIFETIMES = {"7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "1 year", "": "Never"}
_USUAL_LIFETIME = "90d"


class TokenForm(forms.Form):
    """`scopes` are checked here for shape alone; which of them somebody may give is decided by the verb."""

    scopes = forms.MultipleChoiceField(
        label="May",
        choices=[(scope, scope) for scope in _SCOPES],
        error_messages={"required": "Choose what the token may do.", "invalid_choice": "There is no scope %(value)s."},
    )
    expires = forms.ChoiceField(
        label="Expires after",
        choices=list(_LIFETIMES.items()),
        initial=_USUAL_LIFETIME,
        required=False,
        help_text="An expired token is refused. A token can be revoked before.",
    )

    def __init__(self, *args: Any, offered: Iterable[str], ticked: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = set(self["scopes"].value() or ()) if self.is_bound else set(ticked)
        self.options = [
            {"value": scope, "label": label, "what": what, "ticked": scope in chosen}
            for scope, (label, what) in _SCOPES.items()
            if scope in offered
        ]

    def issue(
        self, project: Project, *, agent: Agent | None = None, user: User | None = None, by: Actor
    ) -> Issued | None:
        """A new token in the way of the form; None where the verb found something wrong, which the form then says."""
        text = self.cleaned_data["expires"]
        try:
            lifetime = tokens.parse_lifetime(text) if text else None
            scopes = self.cleaned_data["scopes"]
            return tokens.issue_token(project, agent=agent, user=user, scopes=scopes, lifetime=lifetime, by=by)
        except InvalidRequest as error:
            self.add_error("scopes", error.message)
            return None


@dataclass(frozen=True, slots=True)
class Listed:
    """The tokens of a page: those that open something, and those that no longer do."""

    live: tuple[Token, ...]
    ended: tuple[Token, ...]


def listed(given: Iterable[Token], now: datetime) -> Listed:
    found = list(given)
    live = [t for t in found if t.revoked_at is None and (t.expires_at is None or t.expires_at > now)]
    return Listed(tuple(live), tuple(token for token in found if token not in live))


@never_cache
@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: ProjectRequest) -> HttpResponse:
    """The answer to the POST is the only page that ever shows the secret."""
    if request.method != "POST":
        return _page(request, _form(request))
    form = _form(request, request.POST)
    made = form.issue(request.project, user=request.user, by=request.actor) if form.is_valid() else None
    return _page(request, _form(request), made=made) if made else _page(request, form, status=422)


def _form(request: ProjectRequest, data: Any = None) -> TokenForm:
    return TokenForm(data, offered=roles.SCOPES_OF_ROLE[request.role], ticked=roles.DEFAULT_PERSON_SCOPES)


def _page(
    request: ProjectRequest, form: TokenForm, *, made: Issued | None = None, status: int | None = None
) -> HttpResponse:
    now, of_people = timezone.now(), tokens.tokens_of_people(request.project)
    manages = navigation.may(request, roles.MANAGE)
    others = [token for token in of_people if token.user_id != request.user.pk] if manages else []
    found = {
        "form": form,
        "made": made,
        "mine": listed((token for token in of_people if token.user_id == request.user.pk), now),
        "others": listed(others, now),
    }
    return render(request, "tokens/list.html", found, status=status or (201 if made else 200))


@in_project
@require_POST
def revoke(request: ProjectRequest, token: int) -> HttpResponse:
    """One's own; an owner also those of others."""
    own = Token.objects.filter(project=request.project, pk=token, user=request.user).exists()
    tokens.revoke_token(request.project, token, user=request.user if own else None, by=request.actor)
    messages.success(request, "The token is revoked. It is refused from now on.")
    return redirect("tokens", request.project.slug)
