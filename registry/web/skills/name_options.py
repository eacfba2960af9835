"""Skill names for autocompletion: a page contains the first names, JavaScript fetches the others."""

from collections.abc import Iterable
from itertools import islice

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from registry.core.catalog.precedence import Candidate
from registry.services.catalog import catalog
from registry.services.catalog.catalog import View
from registry.templatetags import ui
from registry.web.access import ProjectRequest, in_project

MOST = 200


def name_options(view: View, *, without: str = "") -> dict[str, object]:
    """Return the template context of a form: the first names, and whether there are more."""
    served = view.served
    names = (candidate.name for candidate in served if candidate.name != without)
    return {"known_names": list(islice(names, MOST)), "more_names": len(served) > MOST}


@in_project
@require_safe
def names(request: ProjectRequest) -> HttpResponse:
    """Return names that contain `?q=` as datalist options, names that start with it first."""
    view = catalog.view(request.project.pk, request.project.revision)
    matches = _matching(view.served, request.GET.get("q", "").strip().lower())
    return HttpResponse(ui.options(matches), headers={"Cache-Control": "private, no-store"})


def _matching(served: Iterable[Candidate], letters: str) -> list[str]:
    matches = [candidate.name for candidate in served if letters in candidate.name]
    return sorted(matches, key=lambda name: not name.startswith(letters))[:MOST]
