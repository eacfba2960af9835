"""The projects a person belongs to."""

from typing import cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from registry.core.errors import AlreadyExists, InvalidRequest
from registry.models import Project, User
from registry.services import accounts, permissions


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What people call it, such as “Customer operations”.")
    slug = forms.SlugField(
        label="Address",
        max_length=64,
        help_text="Lower-case letters, digits and hyphens. Agents use it in every call.",
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def projects(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = accounts.create_project(**form.cleaned_data, by=permissions.visitor(user))
        except (AlreadyExists, InvalidRequest) as error:
            form.add_error("slug", error.message)
        else:
            return redirect("skills", made.slug)
    context = {"projects": Project.objects.for_list(user), "form": form}
    return render(request, "projects/list.html", context, status=422 if form.errors else 200)
