"""A proposal that stands against what was saved since: what it was made from, what stands now, what it says.

Somebody chooses at each place. What that makes is a new revision, which is looked at like any other.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core.errors import Conflict, InvalidInput, Stale
from registry.services.proposals import rebasing
from registry.services.proposals.rebasing import Choices, Clash
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.proposals.proposal import again, back
from registry.web.proposals.proposal_page import ProposalPage, compared
from registry.web.render import comparison


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def conflict(request: ProjectRequest, number: int) -> HttpResponse:
    rebasing.may_rebase(request.project, number, by=request.actor)
    return _choose(request, number) if request.method == "POST" else _show(request, number)


def _show(request: ProjectRequest, number: int, refused: InvalidInput | None = None) -> HttpResponse:
    page = ProposalPage(request, number)
    clash = page.dossier.offer.clash if page.dossier.offer else None
    if clash is None:
        messages.info(request, "Nothing stands against this proposal that would need a choice.")
        return back(request, number)
    context = {"page": page, "proposal": page.proposal, "refused": refused, **_drawn(request, page, clash, refused)}
    return render(request, "proposals/conflict.html", context, status=422 if refused else 200)


def _drawn(request: ProjectRequest, page: ProposalPage, clash: Clash, refused: InvalidInput | None) -> dict[str, Any]:
    everywhere = clash.joined.files({})
    return {
        "standing": clash.current.digest, "places": len(clash.joined.keys),
        "open": [comparison.three_way(file) for file in clash.joined.open],
        "answers": [f"{key}={value}" for key, value in request.POST.items()],
        "missing": refused.data.get("missing", ()) if refused else (),
        "compared": compared(request, clash.current, everywhere),
        "before": {"label": f"Now, {page.standing_label}", "digest": clash.current.digest},
        "after": {"label": "With the proposal at every place", "digest": ""},
    }  # fmt: skip


def _choose(request: ProjectRequest, number: int) -> HttpResponse:
    revision, standing = request.POST.get("revision", ""), request.POST.get("standing", "")
    choices = Choices(int(revision) if revision.isascii() and revision.isdecimal() else 0, standing, _taken(request))
    try:
        rebasing.rebase(request.project, number, choices=choices, by=request.actor)
    except Stale as error:
        messages.info(request, error.message)
        return redirect("proposal-conflict", request.project.slug, number)
    except InvalidInput as error:
        return _show(request, number, refused=error)
    except Conflict as error:
        return again(request, number, error)
    messages.success(request, "Brought over with your choices. Look again: nobody has approved this result.")
    return back(request, number)


def _taken(request: ProjectRequest) -> dict[str, str]:
    return {key: value for key, value in request.POST.dict().items() if key.startswith("take-")}
