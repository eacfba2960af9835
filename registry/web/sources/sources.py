"""Sources of a project: where skills come from elsewhere, added, looked at again and removed."""

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
        help_text="Begins with https:// and needs no password.",
        error_messages={"required": "Write the address of the source."},
    )
    kind = forms.ChoiceField(
        label="Kind",
        choices=[(_GUESS, "As it looks"), *((kind, said.label) for kind, said in words.KINDS.items())],
        initial=_GUESS,
        error_messages={"invalid_choice": "Choose one of the kinds."},
    )
    ref = forms.CharField(
        label="Branch, tag or commit",
        required=False,
        max_length=200,
        help_text="Of a git repository. Without one, its default branch.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    label = forms.CharField(
        label="Name",
        required=False,
        max_length=100,
        help_text="What you call it here. Without one, its address.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def chosen_kind(self) -> str:
        """Where there is no guessing, the address is checked as that of a site, which says what is wrong with it."""
        kind: str = self.cleaned_data["kind"]
        return kind if kind != _GUESS else words.guess(self.cleaned_data["address"]) or "well-known"


@in_project
@needs(roles.WRITE, to="open sources")
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: ProjectRequest) -> HttpResponse:
    """The list and the form; asked by the form for an address, only what that looks like."""
    if request.method != "POST" and wants_fragment(request):
        guessed = words.KINDS.get(words.guess(request.GET.get("address", "")[:500]))
        return render(request, "sources/_guess.html", {"guess": guessed})
    form = SourceForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        added = _add(request, form)
        if added is not None:
            messages.success(request, "The source is added. The site goes there now to see what it offers.")
            return redirect("source", request.project.slug, added.pk)
    context = {"form": form, "rows": _rows(request), "kinds": words.KINDS.values(), **_frame(request, form)}
    return render_either(request, "sources/list.html", context, status=422 if form.errors else 200)


def _add(request: ProjectRequest, form: SourceForm) -> Source | None:
    given = form.cleaned_data
    try:
        return sources.add(
            request.project, form.chosen_kind(), given["address"], ref=given["ref"], label=given["label"],
            by=request.actor,
        )  # fmt: skip
    except (InvalidRequest, AlreadyExists, Conflict) as error:
        form.add_error(error.field or None, error.message)
        return None


def _frame(request: ProjectRequest, form: SourceForm) -> dict[str, Any]:
    guessed = words.KINDS.get(words.guess(form["address"].value() or ""))
    return {"guess": guessed, "may_publish": may_publish(request)}


def _rows(request: ProjectRequest) -> list[dict[str, Any]]:
    behind, waiting = source_queries.updates(request.project), source_queries.unfinished(request.project)
    return [
        {
            "source": source,
            "kind": words.KINDS[source.kind].label,
            "state": state_of(source, waiting.get(source.pk)),
            "problem": source.problem if source.state not in (READY, "empty") else "",
            "counted": source.seen_at is not None,
            "updates": behind[source.pk],
        }
        for source in sources.listed(request.project, by=request.actor)
    ]


def state_of(source: Source, job: SourceJob | None) -> words.Sign | None:
    """What is worth saying about a source; nothing where it was reached and had something."""
    return words.LOOKING if job is not None and job.kind == LOOK else words.STATES.get(source.state)


@in_project
@require_POST
def look(request: ProjectRequest, source: int) -> HttpResponse:
    sources.look(request.project, source, by=request.actor)
    return redirect("source", request.project.slug, source)


@in_project
@require_POST
def remove(request: ProjectRequest, source: int) -> HttpResponse:
    found = sources.find(request.project, source, by=request.actor)
    sources.remove(request.project, source, by=request.actor)
    messages.success(request, f"{found} is removed. What came from it stays.")
    return redirect("sources", request.project.slug)


def frame(request: ProjectRequest, source: Source) -> dict[str, Any]:
    """What every page about one source has."""
    return {"source": source, "kind": words.KINDS[source.kind], "may_publish": may_publish(request)}
