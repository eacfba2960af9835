"""Views that put a version in quarantine and lift the quarantine."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import InvalidRequest
from registry.models import Version
from registry.services.skills import quarantine, versions
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.skills import routing_impact
from registry.web.skills.skill_page import SkillPage


class QuarantineForm(forms.Form):
    reason = forms.CharField(
        max_length=versions.NOTE_CHARS,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown to the people of this project. Agents don’t see it.",
        error_messages={
            "required": "Enter a reason. The people of this project see it.",
            "max_length": "The reason has %(show_value)s characters. At most %(limit_value)s are allowed.",
        },
    )


@in_project
@needs(roles.REVIEW, to="put a version in quarantine")
@require_http_methods(["GET", "HEAD", "POST"])
def hold(request: ProjectRequest, name: str, version: str) -> HttpResponse:
    """Ask for a reason, then put the version in quarantine."""
    page = SkillPage(request, name)
    row = versions.get(request.project, name, version)
    form = QuarantineForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            reason = form.cleaned_data["reason"]
            quarantine.quarantine(request.project, name, version, reason=reason, by=request.actor)
        except InvalidRequest as error:
            form.add_error("reason", error.message)
        else:
            messages.success(request, f"Version {version} is in quarantine. Agents no longer get it.")
            return redirect("version", request.project.slug, page.name, version)
    context = page.context("versions", form=form, version=row, **_effect(page, row))
    return render(request, "skills/versions/quarantine.html", context, status=422 if form.errors else 200)


def _effect(page: SkillPage, row: Version) -> dict[str, Any]:
    """Say what agents get without this version, and what that does to the test questions."""
    if not (page.own and page.row is not None and page.row.digest == row.digest):
        return {"effect": "Agents already get another version. They can no longer load this one by its number."}
    following = quarantine.next_without(page.row)
    impact = routing_impact.of_withdrawal(page.request, page.name, following)
    if following:
        return {"effect": f"Agents get version {following.version} instead.", "impact": impact}
    built_in = " The built-in version stays hidden until you return to it." if page.hides else ""
    effect = f"No other version is left, so agents can’t use {page.name} until you lift the quarantine.{built_in}"
    return {"effect": effect, "impact": impact}


@in_project
@require_POST
def release(request: ProjectRequest, name: str, version: str) -> HttpResponse:
    row = quarantine.release(request.project, name, version, by=request.actor)
    effect = "" if row.deleted_at else " Agents can load it again."
    messages.success(request, f"The quarantine of version {version} is lifted.{effect}")
    return redirect("version", request.project.slug, normalise(name), version)
