"""What the frame around every page shows: where one is, where one can go, who one is."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from registry.core import roles
from registry.models import Project

THEMES = ("light", "dark")
_SWITCHER = 20  # more than that is a list, and the list has a page


def shell(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    signed_in = user if user is not None and user.is_authenticated else None
    project = getattr(request, "project", None)
    theme = request.COOKIES.get("theme", "")
    return {
        "shell": {
            "user": signed_in,
            "project": project,
            "role": getattr(request, "role", ""),
            "projects": Project.objects.visible_to(signed_in).order_by("name")[:_SWITCHER] if signed_in else (),
            "nav": _navigation(request, project) if signed_in else (),
            "more": _more(request, project) if signed_in else (),
            "theme": theme if theme in THEMES else "",
        }
    }


def _navigation(request: HttpRequest, project: Project | None) -> list[dict[str, Any]]:
    if project is None:
        return [_item(request, "Projects", reverse("projects"), "folder")]
    ways_in = [reverse(name, args=[project.slug]) for name in ("skills", "skill-new", "upload")]
    return [_item(request, "Skills", ways_in[0], "skills", also=ways_in[1:])]


def _more(request: HttpRequest, project: Project | None) -> list[dict[str, Any]]:
    """What is looked at less often; below “Project” in the sidebar."""
    if project is None:
        return []
    items = [_item(request, "Members", reverse("members", args=[project.slug]), "members")]
    if may(request, roles.MANAGE):
        items.append(_item(request, "Settings", reverse("settings", args=[project.slug]), "settings"))
    return items


def _item(request: HttpRequest, label: str, url: str, icon: str, also: Sequence[str] = ()) -> dict[str, Any]:
    """`also` are places that belong to the entry without standing below its address."""
    current = request.path.startswith((url, *also))
    return {"label": label, "url": url, "icon": icon, "current": current, "count": None}


def may(request: HttpRequest, scope: str) -> bool:
    """Which buttons exist. The verbs refuse regardless."""
    return scope in roles.SCOPES_OF_ROLE.get(getattr(request, "role", ""), frozenset())
