"""The tabs of the routing pages. A tab that a person cannot open is not shown."""

from typing import Any

from django.urls import reverse

from registry.core import roles
from registry.web.access import ProjectRequest
from registry.web.navigation import may

# Agents never see the test questions, and neither do people who only read skills.
_TABS = (
    ("routing", "Try it", roles.READ),
    ("routing-questions", "Test questions", roles.WRITE),
    ("routing-results", "Results", roles.READ),
    ("routing-health", "Skill health", roles.READ),
    ("routing-log", "Log", roles.WRITE),
    ("routing-settings", "Settings", roles.READ),
)


def page(request: ProjectRequest, current: str, **more: Any) -> dict[str, Any]:
    """Return the context of a routing page: its tabs, and `more`."""
    tabs = [
        {"label": label, "url": reverse(name, args=[request.project.slug]), "current": name == current}
        for name, label, scope in _TABS
        if may(request, scope)
    ]
    return {"tabs": tabs, "may_write": may(request, roles.WRITE), "manages": may(request, roles.MANAGE), **more}
