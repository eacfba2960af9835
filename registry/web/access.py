"""Loads what the signed-in person may see; everything else is not there."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from registry.core.errors import Forbidden, NotFound
from registry.models import Membership, Project, User
from registry.services import permissions
from registry.services.people import sessions
from registry.services.permissions import Actor
from registry.web import user_agent
from registry.web.htmx import wants_fragment


class PersonRequest(HttpRequest):
    """A request of somebody who is signed in."""

    user: User


class ProjectRequest(HttpRequest):
    """A request inside a project: whose, in which role, acting as whom."""

    user: User
    project: Project
    role: str
    actor: Actor


View = Callable[..., HttpResponseBase]


def signed_in(view: View) -> View:
    """Sends strangers to the sign-in page, and notes now and then where a person was seen.

    A page that asks for a part of itself is told that its session ended: it must not put the sign-in page in there.
    """

    @login_required
    def seen(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        sessions.touch(request.user, user_agent.browser(request), now=timezone.now())
        return view(request, *args, **kwargs)

    @wraps(view)
    def wrapped(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated and wants_fragment(request):
            raise Forbidden("You are signed out. Copy what you wrote last before you load the page again.")
        return seen(request, *args, **kwargs)

    return wrapped


def in_project(view: View) -> View:
    """Turns the slug in the address into a project the person belongs to."""

    @wraps(view)
    @signed_in
    def wrapped(request: Any, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
        membership = (
            Membership.objects.filter(project__slug=slug, project__archived_at=None, user=request.user)
            .select_related("project")
            .first()
        )
        if membership is None:
            raise NotFound("There is no such project, or you are not a member of it.")
        request.project, request.role = membership.project, membership.role
        member = permissions.as_member(request.user, membership.project, membership.role)
        request.actor = replace(member, address=user_agent.address(request))
        return view(request, *args, **kwargs)

    return wrapped


def needs(scope: str) -> Callable[[View], View]:
    """For pages that are about one right: whoever lacks it is told so before anything is shown. Below `in_project`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            permissions.require(request.actor, scope, request.project)
            return view(request, *args, **kwargs)

        return wrapped

    return decorate
