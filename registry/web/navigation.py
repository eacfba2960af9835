"""The navigation around every page: projects, menu entries, counts and the signed-in person."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from registry.core import roles
from registry.models import Project, User
from registry.services.notifications import notifications
from registry.services.permissions import Actor
from registry.services.proposals import review_queue
from registry.services.workflows import question_queue

THEMES = ("light", "dark")
_SWITCHER = 20  # people with more projects use the project list


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
    inbox = _item(request, "Inbox", reverse("inbox"), "inbox")
    inbox |= {"count": cache(partial(_unread, request)), "count_label": "unread"}
    if project is None:
        return [_item(request, "Projects", reverse("projects"), "folder"), inbox]
    skill_pages = [reverse(name, args=[project.slug]) for name in ("skills", "skill-new", "upload", "catalog")]
    proposals = _item(request, "Proposals", reverse("proposals", args=[project.slug]), "proposals")
    # A callable, so that fragments without navigation do not run the query. `cache` runs it once per page.
    reviews = may(request, roles.REVIEW)
    proposals |= {
        "count": cache(partial(_waiting, request, project)),
        "count_label": "waiting for you" if reviews else "waiting",
        "yours": reviews,
    }
    run_pages = [reverse(name, args=[project.slug]) for name in ("runs", "waiting")]
    runs = _item(request, "Runs", run_pages[0], "runs", also=run_pages[1:])
    runs |= {"count": cache(partial(_questions, request, project)), "count_label": "waiting for you", "yours": True}
    return [
        _item(request, "Skills", skill_pages[0], "skills", also=skill_pages[1:]),
        proposals,
        runs,
        inbox,
    ]


def _unread(request: HttpRequest) -> int:
    return notifications.unread(request.user) if isinstance(request.user, User) else 0


def _waiting(request: HttpRequest, project: Project) -> int:
    actor: Actor = request.actor  # type: ignore[attr-defined]
    return review_queue.waiting(project, by=actor)


def _questions(request: HttpRequest, project: Project) -> int:
    actor: Actor = request.actor  # type: ignore[attr-defined]
    return question_queue.count(project, by=actor)


def _more(request: HttpRequest, project: Project | None) -> list[dict[str, Any]]:
    """Return the entries below “Project” in the sidebar."""
    if project is None:
        return []
    tokens = reverse("tokens", args=[project.slug])
    agents = [reverse(name, args=[project.slug]) for name in ("agents", "agent-new")]
    capabilities = [reverse(name, args=[project.slug]) for name in ("capabilities", "capability-new")]
    items = [
        _item(request, "Capabilities", capabilities[0], "wrench", also=capabilities[1:]),
        _item(request, "Agents", agents[0], "agents", also=agents[1:]),
        _item(request, "Routing", reverse("routing", args=[project.slug]), "routing"),
        _item(request, "Connect", reverse("connect", args=[project.slug]), "link", also=[tokens]),
        _item(request, "Members", reverse("members", args=[project.slug]), "members"),
    ]
    if may(request, roles.WRITE):
        items.insert(4, _item(request, "Sources", reverse("sources", args=[project.slug]), "import"))
        items.append(_item(request, "Security", reverse("security", args=[project.slug]), "lock"))
    if may(request, roles.REVIEW):
        items.append(_item(request, "Audit", reverse("audit", args=[project.slug]), "audit"))
    if may(request, roles.MANAGE):
        items.append(_item(request, "Webhooks", reverse("webhooks", args=[project.slug]), "send"))
        items.append(_item(request, "Settings", reverse("settings", args=[project.slug]), "settings"))
    return items


def _item(request: HttpRequest, label: str, url: str, icon: str, also: Sequence[str] = ()) -> dict[str, Any]:
    """Return a menu entry. `also` lists other addresses for which the entry is the current one."""
    current = request.path.startswith((url, *also))
    return {"label": label, "url": url, "icon": icon, "current": current, "count": None}


def may(request: HttpRequest, scope: str) -> bool:
    """Return whether to show a button. The services check the permission again."""
    return scope in roles.SCOPES_OF_ROLE.get(getattr(request, "role", ""), frozenset())


def may_publish(request: HttpRequest) -> bool:
    """Return whether the person can publish without a review."""
    return may(request, roles.WRITE) and not _is_protected(request)


def may_withdraw(request: HttpRequest) -> bool:
    """Return whether the person can withdraw a version or switch off a skill."""
    return may(request, roles.REVIEW if _is_protected(request) else roles.WRITE)


def _is_protected(request: HttpRequest) -> bool:
    project: Project | None = getattr(request, "project", None)
    return project is not None and project.protected
