"""Start a run of a skill, with a form made from the inputs of its workflow."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.errors import InvalidRequest, NotFound, SkillsiteError, TooLarge
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.workflows import locks, run_details, runs
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.navigation import may
from registry.web.runs.start_form import INPUT, StartForm
from registry.web.runs.value_fields import ValueField


@in_project
@needs(roles.RUN, to="run workflows")
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: ProjectRequest, name: str) -> HttpResponse:
    """Show the form, filled in from the run `?again=` if that is given. A POST starts the run."""
    version = request.POST.get("version") or request.GET.get("version") or None
    loaded = catalog.load(request.project.pk, name, version=version)
    try:
        prepared = locks.prepare(request.project.pk, loaded)
    except InvalidRequest as error:
        return _page(request, loaded, refused=error, version=version, status=422 if request.method == "POST" else 200)
    form = StartForm(prepared.plan.inputs, request.POST if request.method == "POST" else None)
    if not form.is_bound:
        _fill(form, _earlier(request))
    elif form.is_valid():
        try:
            run = runs.start(
                request.project, name, version=version, inputs=form.values, frame=form.frame, options=form.options,
                by=request.actor,
            )  # fmt: skip
        except (InvalidRequest, TooLarge) as error:
            form.add_error(None, error.message)
        else:
            return redirect("run", request.project.slug, run.pk)
    status = 422 if form.is_bound else 200
    return _page(request, loaded, prepared=prepared, form=form, version=version, status=status)


def _page(request: ProjectRequest, loaded: Loaded, *, status: int, **more: Any) -> HttpResponse:
    skill = reverse("skill", args=[request.project.slug, loaded.name])
    context = {"loaded": loaded, "trail": [("Skills", reverse("skills", args=[request.project.slug])),
               (loaded.name, skill), ("Run", "")], "skill": skill, **more}  # fmt: skip
    return render(request, "runs/start.html", context, status=status)


def _earlier(request: ProjectRequest) -> dict[str, Any]:
    """Return the inputs of the run that this one repeats. An unknown or large one fills in nothing."""
    again = request.GET.get("again", "")
    if not (again.isascii() and again.isdecimal()) or len(again) > 18:
        return {}
    try:
        found = run_details.run_values(request.project, int(again), by=request.actor)["inputs"]
    except NotFound:
        return {}
    return found if isinstance(found, dict) else {}


def _fill(form: StartForm, values: dict[str, Any]) -> None:
    for name, value in values.items():
        field = form.fields.get(f"{INPUT}{name}")
        if isinstance(field, ValueField):
            field.initial = field.as_text(value)


def obstacle(request: ProjectRequest, loaded: Loaded | None, *, is_enabled: bool) -> str:
    """Return why this person cannot run the workflow of a skill now, empty if they can."""
    if not may(request, roles.RUN):
        return "Only authors can run workflows. Ask an owner for the role."
    if loaded is None:
        return "Agents can’t load any version of this skill, so its workflow can’t run."
    if not is_enabled:
        return "This skill is switched off, so its workflow can’t run. Switch it on first."
    try:
        locks.prepare(request.project.pk, loaded)
    except SkillsiteError as error:
        return error.message
    return ""
