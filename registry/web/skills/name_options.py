"""Names of skills to choose from while somebody types: a page carries a few of them, and the rest is asked for."""

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


def offered(view: View, *, without: str = "") -> dict[str, object]:
    """What the page of a form needs: the first names, and whether there are more to ask for."""
    served = view.served
    names = (candidate.name for candidate in served if candidate.name != without)
    return {"known_names": list(islice(names, MOST)), "more_names": len(served) > MOST}


@in_project
@require_safe
def names(request: ProjectRequest) -> HttpResponse:
    """`?q=`: the names with these letters in them as options of a datalist, those that begin with them first."""
    view = catalog.view(request.project.pk, request.project.revision)
    found = _matching(view.served, request.GET.get("q", "").strip().lower())
    return HttpResponse(ui.options(found), headers={"Cache-Control": "private, no-store"})


def _matching(served: Iterable[Candidate], letters: str) -> list[str]:
    """In order of name, as they are served."""
    having = [candidate.name for candidate in served if letters in candidate.name]
    return sorted(having, key=lambda name: not name.startswith(letters))[:MOST]
