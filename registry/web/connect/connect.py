"""How-to: for each client the exact lines, with this site and this project filled in, and never a real token."""

from django.conf import settings
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.core.errors import NotFound
from registry.web import navigation
from registry.web.access import ProjectRequest, in_project
from registry.web.connect import client_wheel, clients
from registry.web.connect.clients import Place
from registry.web.htmx import render


@in_project
@require_safe
def connect(request: ProjectRequest, client: str = "") -> HttpResponse:
    """One client at a time, the first unless another is named."""
    place = _place(request)
    groups = clients.groups(place)
    known = {recipe.key: recipe for group in groups for recipe in group.recipes}
    if client and client not in known:
        raise NotFound(f"There is no page for a client “{client[:40]}” here.")
    found = {
        "place": place,
        "groups": groups,
        "recipe": known[client or next(iter(known))],
        "placeholder": clients.PLACEHOLDER,
        "manages": navigation.may(request, roles.MANAGE),
    }
    return render(request, "connect/connect.html", found)


def _place(request: ProjectRequest) -> Place:
    wheel = client_wheel.wheel()
    address = f"{settings.PUBLIC_URL}/client/{wheel.name}#sha256={wheel.sha256}"
    return Place(settings.PUBLIC_URL, request.project.slug, address, public=request.project.public)
