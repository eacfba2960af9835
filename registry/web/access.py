"""Access checks of the pages: sign-in, membership and role. A page without access looks like a missing page."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Forbidden, NotFound
from registry.models import Membership, Project, User
from registry.services import permissions
from registry.services.people import sessions
from registry.services.permissions import Actor
from registry.web import user_agent
from registry.web.htmx import wants_fragment


class PersonRequest(HttpRequest):
    """A request of a signed-in person."""

    user: User


class ProjectRequest(HttpRequest):
    """A request of a member inside a project."""

    user: User
    project: Project
    role: str
    actor: Actor


View = Callable[..., HttpResponseBase]
_NAMED_OWNERS = 3


def signed_in(view: View) -> View:
    """Redirect to the sign-in page unless a person is signed in, and record when the session was last seen.

    An htmx request gets an error instead, so that no part of a page is replaced by the sign-in page.
    """

    @login_required
    def seen(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        sessions.touch(request.user, user_agent.browser(request), now=timezone.now())
        return view(request, *args, **kwargs)

    @wraps(view)
    def wrapped(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated and wants_fragment(request):
            raise Forbidden("You are signed out. Copy your unsaved text before you reload the page.")
        return seen(request, *args, **kwargs)

    return wrapped


def in_project(view: View) -> View:
    """Load the project in the address, or raise NotFound unless the person is a member."""

    @wraps(view)
    @signed_in
    def wrapped(request: Any, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
        membership = (
            Membership.objects.filter(project__slug=slug, project__archived_at=None, user=request.user)
            .select_related("project")
            .first()
        )
        if membership is None:
            raise NotFound("This project does not exist, or you are not a member of it.")
        request.project, request.role = membership.project, membership.role
        member = permissions.as_member(request.user, membership.project, membership.role)
        request.actor = replace(member, address=user_agent.address(request))
        return view(request, *args, **kwargs)

    return wrapped


_WHO_HAS = {roles.WRITE: "authors", roles.RUN: "authors", roles.REVIEW: "reviewers", roles.MANAGE: "owners"}


def needs(scope: str, *, to: str) -> Callable[[View], View]:
    """Require a scope for a whole page. `to` completes "Only owners can …". Use it below `in_project`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.actor.may(scope):
                raise Forbidden(f"Only {_WHO_HAS[scope]} can {to}. {_whom_to_ask(request.project)}", scope=scope)
            return view(request, *args, **kwargs)

        return wrapped

    return decorate


def _whom_to_ask(project: Project) -> str:
    owners = Membership.objects.for_list(project).filter(role=roles.OWNER)[:_NAMED_OWNERS]
    names = [owner.user.display_name for owner in owners]
    return f"To get access, ask {' or '.join(names)}." if names else "To get access, ask an owner of the project."
