"""What a project is called, and putting it away. For owners."""

from collections.abc import Callable

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.services.people import projects
from registry.web.access import ProjectRequest, View, in_project, needs
from registry.web.htmx import render


class SettingsForm(forms.Form):
    name = forms.CharField(max_length=projects.NAME_CHARS, error_messages={"required": "Give the project a name."})
    description = forms.CharField(
        required=False,
        max_length=projects.DESCRIPTION_CHARS,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One or two sentences for people who see the project for the first time.",
    )


@in_project
@needs(roles.MANAGE)
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: ProjectRequest) -> HttpResponse:
    standing = {"name": request.project.name, "description": request.project.description}
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=standing)
    if form.is_bound and form.is_valid():
        try:
            projects.describe(request.project, **form.cleaned_data, by=request.actor)
        except InvalidRequest as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Name and description are saved.")
            return redirect("settings", request.project.slug)
    return render(request, "settings/project.html", {"form": form}, status=422 if form.errors else 200)


def _switch(name: str, verb: Callable[..., None], on: str, off: str) -> View:
    """Switches one thing of a project on or off, as the button says, and tells what that means."""

    @in_project
    @require_POST
    def view(request: ProjectRequest) -> HttpResponse:
        wanted = request.POST.get(name) == "yes"
        verb(request.project, wanted, by=request.actor)
        messages.success(request, on if wanted else off)
        return redirect("settings", request.project.slug)

    return view


publish = _switch(
    "public",
    projects.set_public,
    on="Anybody can read its skills now.",
    off="Only tokens of this project read its skills now.",
)
protect = _switch(
    "protected",
    projects.set_protected,
    on="Every change is reviewed now.",
    off="Authors publish their changes themselves now.",
)
advice = _switch(
    "advice",
    projects.set_reviewer_agents,
    on="Agents may recommend now. People decide.",
    off="Agents see only their own proposals now.",
)


@in_project
@require_POST
def archive(request: ProjectRequest) -> HttpResponse:
    projects.archive(request.project, by=request.actor)
    messages.success(request, f"{request.project.name} is archived. Its agents get no answer until you bring it back.")
    return redirect("projects")
