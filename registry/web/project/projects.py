"""The projects of a person: list, create and restore."""

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST

from registry.core.errors import AlreadyExists, InvalidRequest, NotFound
from registry.models import Membership, Project
from registry.services import permissions
from registry.services.people import projects
from registry.services.workflows import question_queue
from registry.web.access import PersonRequest, signed_in
from registry.web.htmx import render


class ProjectForm(forms.Form):
    name = forms.CharField(
        max_length=projects.NAME_CHARS,
        help_text="For example “Customer operations”.",
        error_messages={"required": "Enter a name, for example “Customer operations”."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "data-suggests": "id_slug"}),
    )
    slug = forms.CharField(
        label="Address",
        required=False,
        help_text="Lower-case letters, digits and hyphens. Agents use it in every request, so you can’t change it "
        "later. Leave it empty to use the name.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "maxlength": projects.SLUG_CHARS}),
    )
    description = forms.CharField(required=False, max_length=projects.DESCRIPTION_CHARS)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        values["slug"] = values.get("slug") or _suggest_slug(values.get("name", ""))
        return values


def _suggest_slug(name: str) -> str:
    words = re.findall("[a-z0-9]+", slugify(name))
    return "-".join(words)[: projects.SLUG_CHARS].rstrip("-")


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: PersonRequest) -> HttpResponse:
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            project = projects.create(**form.cleaned_data, by=permissions.visitor(request.user))
        except (AlreadyExists, InvalidRequest) as error:
            form.add_error("slug", error.message)
        else:
            messages.success(request, f"{project.name} created. You are its owner.")
            return redirect("skills", project.slug)
    listed = list(Project.objects.for_list(request.user))
    waiting = question_queue.counts(request.user) if listed else {}
    context = {
        "projects": [(project, waiting.get(project.pk, 0)) for project in listed],
        "archived": Project.objects.archived_of(request.user),
        "form": form,
    }
    return render(request, "project/projects.html", context, status=422 if form.errors else 200)


@signed_in
@require_POST
def restore(request: PersonRequest, slug: str) -> HttpResponse:
    membership = Membership.objects.filter(project__slug=slug, user=request.user).select_related("project").first()
    if membership is None:
        raise NotFound("This project does not exist, or you are not a member of it.")
    by = permissions.as_member(request.user, membership.project, membership.role)
    projects.restore(membership.project, by=by)
    messages.success(request, f"{membership.project.name} restored. Its tokens work again.")
    return redirect("skills", slug)
