"""Conflict page of an outdated proposal, with a choice for each place where both sides changed the same lines.

The result is a new revision, which has to be reviewed like any other.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core.errors import Conflict, InvalidInput, Stale
from registry.services.proposals import rebasing
from registry.services.proposals.rebasing import Choices, MergeConflict
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.proposals.proposal import back, show_error, updated_message
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
    clash = page.dossier.rebase.conflict if page.dossier.rebase else None
    if clash is None:
        messages.info(request, "This proposal has no conflict to resolve.")
        return back(request, number)
    context = {
        "page": page,
        "proposal": page.proposal,
        "refused": refused,
        **_comparison(request, page, clash, refused),
    }
    return render(request, "proposals/conflict.html", context, status=422 if refused else 200)


def _comparison(
    request: ProjectRequest, page: ProposalPage, clash: MergeConflict, refused: InvalidInput | None
) -> dict[str, Any]:
    with_proposal = clash.joined.files({})
    return {
        "page": page, "proposal": page.proposal, "refused": refused,
        "current": clash.current.digest, "places": len(clash.joined.keys),
        "open": comparison.three_way(clash.joined.open),
        "answers": [f"{key}={value}" for key, value in request.POST.items()],
        "missing": refused.data.get("missing", ()) if refused else (),
        "compared": compared(request, clash.current, with_proposal),
        "before": {"label": f"Now, {page.current_label}", "digest": clash.current.digest},
        "after": {"label": "The proposal in every conflict", "digest": ""},
    }  # fmt: skip


def _choose(request: ProjectRequest, number: int) -> HttpResponse:
    revision, current = request.POST.get("revision", ""), request.POST.get("current", "")
    choices = Choices(int(revision) if revision.isascii() and revision.isdecimal() else 0, current, _choices(request))
    try:
        updated = rebasing.rebase(request.project, number, choices=choices, by=request.actor)
    except Stale as error:
        messages.info(request, error.message)
        return redirect("proposal-conflict", request.project.slug, number)
    except InvalidInput as error:
        return _show(request, number, refused=error)
    except Conflict as error:
        return show_error(request, number, error)
    messages.success(request, updated_message(updated))
    return back(request, number)


def _choices(request: ProjectRequest) -> dict[str, str]:
    return {key: value for key, value in request.POST.dict().items() if key.startswith("take-")}
