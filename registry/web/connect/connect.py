"""The page with instructions for connecting a client. It shows a placeholder, never a real token."""

from django.conf import settings
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.core.errors import NotFound
from registry.web import navigation
from registry.web.access import ProjectRequest, in_project
from registry.web.connect import client_wheel, clients
from registry.web.connect.clients import Target
from registry.web.htmx import render


@in_project
@require_safe
def connect(request: ProjectRequest, client: str = "") -> HttpResponse:
    """Show the instructions for one client, by default the first."""
    target = _target(request)
    groups = clients.groups(target)
    guides = {guide.key: guide for group in groups for guide in group.guides}
    if client and client not in guides:
        raise NotFound(f"There are no instructions for a client “{client[:40]}”.")
    context = {
        "target": target,
        "groups": groups,
        "guide": guides[client or next(iter(guides))],
        "placeholder": clients.PLACEHOLDER,
        "manages": navigation.may(request, roles.MANAGE),
    }
    return render(request, "connect/connect.html", context)


def _target(request: ProjectRequest) -> Target:
    wheel = client_wheel.wheel()
    address = f"{settings.PUBLIC_URL}/client/{wheel.name}#sha256={wheel.sha256}"
    return Target(settings.PUBLIC_URL, request.project.slug, address, public=request.project.public)
