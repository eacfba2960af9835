"""The page of one run: the page itself, the part of it that refreshes, and to cancel and replay the run."""

import json

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from registry.core import roles
from registry.core.errors import AlreadyDecided, InvalidRequest, NotFound, TooLarge
from registry.services.permissions import require
from registry.services.workflows import run_details, run_versions, runs
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render, wants_fragment
from registry.web.runs.run_page import RunPage

_VALUES = ("inputs", "outputs")


@in_project
@never_cache
@require_safe
def show(request: ProjectRequest, run: int) -> HttpResponse:
    page = RunPage(request, runs.find(request.project, run, by=request.actor))
    return render(request, "runs/run.html", _context(page))


@in_project
@never_cache
@require_safe
def live(request: ProjectRequest, run: int) -> HttpResponse:
    """Return what changed on the page of a run: 204 and one query if nothing did.

    The questions and the actions are sent only if they changed, because somebody may be filling them in.
    """
    if not wants_fragment(request):
        return redirect("run", request.project.slug, run)
    version = run_versions.current(request.project, run, by=request.actor)
    if request.GET.get("was") == str(version.changes):
        return HttpResponse(status=204)
    page = RunPage(request, runs.find(request.project, run, by=request.actor))
    changed = {
        "with_questions": request.GET.get("asked") != page.questions_mark,
        "with_actions": request.GET.get("acts") != page.actions_mark,
    }
    return render(request, "runs/_live.html", _context(page) | changed)


def _context(page: RunPage) -> dict[str, object]:
    return {"page": page, "run": page.run, "details": page.details, "tab": "run"}


@in_project
@require_POST
def cancel(request: ProjectRequest, run: int) -> HttpResponse:
    try:
        runs.cancel(request.project, run, by=request.actor)
    except AlreadyDecided as error:
        messages.info(request, error.message)
    return redirect("run", request.project.slug, run)


@in_project
@require_POST
def replay(request: ProjectRequest, run: int) -> HttpResponse:
    require(request.actor, roles.RUN, request.project)
    found = runs.find(request.project, run, by=request.actor)
    try:
        again = runs.replay(request.project, run, start_at=request.POST.get("from", ""), by=request.actor)
    except (InvalidRequest, TooLarge, NotFound) as error:  # the skill may be gone
        page = RunPage(request, found)
        return render(request, "runs/run.html", _context(page) | {"refused": error.message}, status=422)
    messages.success(request, f"Run {again.pk} repeats run {run}.")
    return redirect("run", request.project.slug, again.pk)


@in_project
@require_safe
def values(request: ProjectRequest, run: int, which: str) -> HttpResponse:
    """Send the inputs or the outputs as a file, however large they are."""
    if which not in _VALUES:
        raise NotFound("A run has inputs and outputs.")
    found = run_details.run_values(request.project, run, by=request.actor)
    return as_file(found[which], f"run-{run}-{which}")


def as_file(value: object, name: str) -> HttpResponse:
    """Return a value as a JSON file to download. Line ends would take seconds for a large one."""
    response = JsonResponse(value, safe=False, encoder=json.JSONEncoder, json_dumps_params={"ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{name}.json"'
    return response
