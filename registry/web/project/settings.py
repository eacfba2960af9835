"""Settings of a project, for owners."""

from collections.abc import Callable

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.models.accounts import ERROR, NOTHING, WARNING
from registry.services.people import projects
from registry.web.access import ProjectRequest, View, in_project, needs
from registry.web.htmx import render

_BLOCKING = ((NOTHING, "Nothing"), (ERROR, "Errors"), (WARNING, "Warnings and errors"))
_NOW_BLOCKING = {
    NOTHING: "Security findings no longer block publishing.",
    ERROR: "Errors of the security scan now block publishing.",
    WARNING: "Warnings and errors of the security scan now block publishing.",
}


class SettingsForm(forms.Form):
    name = forms.CharField(max_length=projects.NAME_CHARS, error_messages={"required": "Enter a name."})
    description = forms.CharField(
        required=False,
        max_length=projects.DESCRIPTION_CHARS,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One or two sentences for people who are new to the project.",
    )


@in_project
@needs(roles.MANAGE, to="open settings")
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: ProjectRequest) -> HttpResponse:
    current = {"name": request.project.name, "description": request.project.description}
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=current)
    if form.is_bound and form.is_valid():
        try:
            projects.describe(request.project, **form.cleaned_data, by=request.actor)
        except InvalidRequest as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Name and description saved.")
            return redirect("settings", request.project.slug)
    context = {"form": form, "blocking_levels": _BLOCKING}
    return render(request, "project/settings.html", context, status=422 if form.errors else 200)


def _switch(name: str, verb: Callable[..., None], section: str, on: str, off: str) -> View:
    """Return a view that turns one option of a project on or off and confirms it with a message."""

    @in_project
    @require_POST
    def view(request: ProjectRequest) -> HttpResponse:
        turned_on = request.POST.get(name) == "yes"
        verb(request.project, turned_on, by=request.actor)
        messages.success(request, on if turned_on else off)
        return _back_to(request, section)

    return view


def _back_to(request: ProjectRequest, section: str) -> HttpResponse:
    """Redirect to the section of the page that has the form, so that people see the new state."""
    return redirect(f"{reverse('settings', args=[request.project.slug])}#{section}")


publish = _switch(
    "public",
    projects.set_public,
    "public",
    on="The project is public. Anybody can read its skills.",
    off="The project is private. Only members and agents with a token can read its skills.",
)
protect = _switch(
    "protected",
    projects.set_protected,
    "review",
    on="Reviews turned on. Every change needs an approval.",
    off="Reviews turned off. Authors can publish directly.",
)
advice = _switch(
    "advice",
    projects.set_reviewer_agents,
    "review",
    on="Agents can now recommend decisions. People decide.",
    off="Agents now see only their own proposals.",
)
makers_approve = _switch(
    "makers",
    projects.set_makers_approve,
    "review",
    on="Reviewers can now approve proposals and runs of agents whose token they made. Each such approval is recorded.",
    off="Proposals and runs of an agent now need a reviewer who made no token of it.",
)

automatic_quarantine = _switch(
    "quarantine",
    projects.set_quarantines_alarms,
    "security",
    on="The scan now puts versions with errors in quarantine.",
    off="The scan now only notifies people about errors.",
)


@in_project
@require_POST
def blocking(request: ProjectRequest) -> HttpResponse:
    level = request.POST.get("blocking", "")
    projects.set_blocking(request.project, level, by=request.actor)
    messages.success(request, _NOW_BLOCKING[level])
    return _back_to(request, "security")


@in_project
@require_POST
def archive(request: ProjectRequest) -> HttpResponse:
    projects.archive(request.project, by=request.actor)
    messages.success(request, f"{request.project.name} archived. Its tokens stop working until you restore it.")
    return redirect("projects")
