"""What a project is called, and putting it away. For owners."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.services import projects
from registry.web.access import ProjectRequest, in_project, needs
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


@in_project
@require_POST
def publish(request: ProjectRequest) -> HttpResponse:
    """Opens the project to readers without a token, or closes it again."""
    public = request.POST.get("public") == "yes"
    projects.set_public(request.project, public, by=request.actor)
    said = "Anybody can read its skills now." if public else "Only tokens of this project read its skills now."
    messages.success(request, said)
    return redirect("settings", request.project.slug)


@in_project
@require_POST
def protect(request: ProjectRequest) -> HttpResponse:
    """Whether every change of the skills is reviewed before agents get it."""
    protected = request.POST.get("protected") == "yes"
    projects.set_protected(request.project, protected, by=request.actor)
    said = "Every change is reviewed now." if protected else "Authors publish their changes themselves now."
    messages.success(request, said)
    return redirect("settings", request.project.slug)


@in_project
@require_POST
def advice(request: ProjectRequest) -> HttpResponse:
    """Whether agents may recommend what to do with a proposal."""
    allowed = request.POST.get("advice") == "yes"
    projects.set_reviewer_agents(request.project, allowed, by=request.actor)
    said = "Agents may recommend now. People decide." if allowed else "Agents see only their own proposals now."
    messages.success(request, said)
    return redirect("settings", request.project.slug)


@in_project
@require_POST
def archive(request: ProjectRequest) -> HttpResponse:
    projects.archive(request.project, by=request.actor)
    messages.success(request, f"{request.project.name} is archived. Its agents get no answer until you bring it back.")
    return redirect("projects")
