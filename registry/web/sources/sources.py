"""Pages to list, add, check and remove the sources of a project."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from registry.core import roles
from registry.core.errors import AlreadyExists, Conflict, InvalidRequest
from registry.models import Source, SourceJob
from registry.models.sources import LOOK, READY
from registry.services.sources import source_queries, sources
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render as render_either
from registry.web.htmx import wants_fragment
from registry.web.navigation import may_publish
from registry.web.sources import source_words as words

_GUESS = "guess"


class SourceForm(forms.Form):
    address = forms.CharField(
        label="Address",
        max_length=500,
        help_text="Starts with https:// and needs no password.",
        error_messages={"required": "Enter the address of the source."},
    )
    kind = forms.ChoiceField(
        label="Kind",
        choices=[(_GUESS, "Detect automatically"), *((name, kind.label) for name, kind in words.KINDS.items())],
        initial=_GUESS,
        error_messages={"invalid_choice": "Choose a kind from the list."},
    )
    ref = forms.CharField(
        label="Branch, tag or commit",
        required=False,
        max_length=200,
        help_text="For git repositories. Leave empty for the default branch.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    label = forms.CharField(
        label="Name",
        required=False,
        max_length=100,
        help_text="Shown instead of the address.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def chosen_kind(self) -> str:
        """Return the selected kind, or the detected one. An address of no known kind is validated as a website."""
        kind: str = self.cleaned_data["kind"]
        return kind if kind != _GUESS else words.guess_kind(self.cleaned_data["address"]) or "well-known"


@in_project
@needs(roles.WRITE, to="open sources")
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: ProjectRequest) -> HttpResponse:
    """List the sources and add one. For htmx, return the kind that the typed address looks like."""
    if request.method != "POST" and wants_fragment(request):
        guessed = words.KINDS.get(words.guess_kind(request.GET.get("address", "")[:500]))
        return render(request, "sources/_kind_guess.html", {"guess": guessed})
    form = SourceForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        added = _add(request, form)
        if added is not None:
            messages.success(request, "Source added. We are checking which skills it has.")
            return redirect("source", request.project.slug, added.pk)
    context = {"form": form, "rows": _rows(request), "kinds": words.KINDS.values(), **_frame(request, form)}
    return render_either(request, "sources/list.html", context, status=422 if form.errors else 200)


def _add(request: ProjectRequest, form: SourceForm) -> Source | None:
    values = form.cleaned_data
    try:
        return sources.add(
            request.project, form.chosen_kind(), values["address"], ref=values["ref"], label=values["label"],
            by=request.actor,
        )  # fmt: skip
    except (InvalidRequest, AlreadyExists, Conflict) as error:
        form.add_error(error.field or None, error.message)
        return None


def _frame(request: ProjectRequest, form: SourceForm) -> dict[str, Any]:
    guessed = words.KINDS.get(words.guess_kind(form["address"].value() or ""))
    return {"guess": guessed, "may_publish": may_publish(request)}


def _rows(request: ProjectRequest) -> list[dict[str, Any]]:
    updates, jobs = source_queries.updates(request.project), source_queries.unfinished(request.project)
    return [
        {
            "source": source,
            "kind": words.KINDS[source.kind].label,
            "state": state_of(source, jobs.get(source.pk)),
            "problem": source.problem if source.state not in (READY, "empty") else "",
            "counted": source.seen_at is not None,
            "updates": updates[source.pk],
        }
        for source in sources.listed(request.project, by=request.actor)
    ]


def state_of(source: Source, job: SourceJob | None) -> words.Badge | None:
    """Return the badge of a source, or None if the last check found skills."""
    return words.CHECKING if job is not None and job.kind == LOOK else words.STATES.get(source.state)


@in_project
@require_POST
def look(request: ProjectRequest, source_id: int) -> HttpResponse:
    sources.look(request.project, source_id, by=request.actor)
    return redirect("source", request.project.slug, source_id)


@in_project
@require_POST
def remove(request: ProjectRequest, source_id: int) -> HttpResponse:
    source = sources.find(request.project, source_id, by=request.actor)
    sources.remove(request.project, source_id, by=request.actor)
    messages.success(request, f"{source} removed. Imported skills stay in the project.")
    return redirect("sources", request.project.slug)


def frame(request: ProjectRequest, source: Source) -> dict[str, Any]:
    """Return the context that all pages of a source share."""
    return {"source": source, "kind": words.KINDS[source.kind], "may_publish": may_publish(request)}
