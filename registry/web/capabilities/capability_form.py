"""The pages on which owners register, change and remove capabilities."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from registry.core import roles
from registry.core.errors import Conflict, InvalidRequest, Stale
from registry.core.findings import Finding, errors
from registry.services.capabilities import capability_list, project_capabilities
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.capabilities.starting_points import STARTING_POINTS, stricter
from registry.web.htmx import render, wants_fragment

_TO = "register capabilities"


class CapabilityForm(forms.Form):
    text = forms.CharField(
        label="Definition",
        strip=False,
        max_length=project_capabilities.MOST_CHARS_OF_A_PROJECT,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "autocapitalize": "none"}),
        error_messages={
            "required": "Write a definition, or start from an example.",
            "null_characters_not_allowed": "The text contains a NUL character. Remove it.",
        },
    )
    seen = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)


@in_project
@needs(roles.MANAGE, to=_TO)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: ProjectRequest) -> HttpResponse:
    """Show the form with an example; a POST checks the definition, or registers it if `do` is `save`."""
    if request.method == "POST":
        return _posted(request, "")
    start = request.GET.get("start", "")
    if name := request.GET.get("extends"):
        entry = capability_list.entry(request.project, name, by=request.actor)
        text = stricter(entry.id)
    else:
        text = STARTING_POINTS.get(start, STARTING_POINTS["http"]).text
    findings = _findings(request, text, "")
    return _page(request, "", CapabilityForm(initial={"text": text}), findings=findings, start=start or "http")


@in_project
@needs(roles.MANAGE, to=_TO)
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: ProjectRequest, name: str) -> HttpResponse:
    row = project_capabilities.find(request.project, name, by=request.actor)
    if request.method == "POST":
        return _posted(request, row.name)
    form = CapabilityForm(initial={"text": row.text, "seen": row.digest})
    return _page(request, row.name, form, findings=_findings(request, row.text, row.name))


@in_project
@require_POST
def remove(request: ProjectRequest, name: str) -> HttpResponse:
    project_capabilities.remove(request.project, name, by=request.actor)
    messages.success(request, f"{name} removed. Steps that use it fail from now on.")
    return redirect("capabilities", request.project.slug)


def _posted(request: ProjectRequest, name: str) -> HttpResponse:
    form = CapabilityForm(request.POST)
    if not form.is_valid():
        return _page(request, name, form, status=422)
    text = form.cleaned_data["text"]
    findings = _findings(request, text, name)
    if wants_fragment(request) or request.POST.get("do") != "save":
        return _page(request, name, form, findings=findings)
    if errors(findings):
        return _page(request, name, form, findings=findings, status=422)
    try:
        if name:
            row = project_capabilities.change(
                request.project, name, text, seen=form.cleaned_data["seen"], by=request.actor
            )  # fmt: skip
        else:
            row = project_capabilities.register(request.project, text, by=request.actor)
    except (InvalidRequest, Conflict, Stale) as error:
        form.add_error("text", error.message)
        return _page(request, name, form, findings=findings, status=409 if isinstance(error, Conflict) else 422)
    messages.success(request, f"{row.name} saved." if name else f"{row.name} registered. Workflows can use it now.")
    return redirect("capability", request.project.slug, row.name)


def _findings(request: ProjectRequest, text: str, name: str) -> Sequence[Finding]:
    return project_capabilities.check(request.project, text, name=name, by=request.actor).findings


def _page(
    request: ProjectRequest, name: str, form: CapabilityForm, *, findings: Sequence[Finding] | None = None,
    start: str = "", status: int = 200,
) -> HttpResponse:  # fmt: skip
    slug = request.project.slug
    context: dict[str, Any] = {
        "name": name,
        "form": form,
        "checked": findings is not None,
        "findings": findings or (),
        "error_count": len(errors(findings or ())),
        "starting_points": () if name else STARTING_POINTS.items(),
        "start": start,
        "action": reverse("capability-change", args=[slug, name]) if name else reverse("capability-new", args=[slug]),
        "back": reverse("capability", args=[slug, name]) if name else reverse("capabilities", args=[slug]),
    }
    return render(request, "capabilities/form.html", context, partial="capabilities/_checks.html", status=status)
