"""Views of the editor, which saves a draft while its author types."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core.errors import Conflict, InvalidInput, NotFound, RateLimited, SkillsiteError, Stale, TooLarge
from registry.core.format.skill_form import Fields
from registry.core.workflows.plan import FILE as WORKFLOW_YAML
from registry.models import Draft
from registry.services.drafts import draft_checks, draft_files, drafts
from registry.services.drafts.drafts import FORM, RAW, Place, Typed
from registry.web import request_size
from registry.web.access import ProjectRequest, in_project
from registry.web.editor import editor_page
from registry.web.editor.editor_page import Addresses
from registry.web.htmx import render, wants_fragment
from registry.web.humanize import counted
from registry.web.middleware import STATUS

_PAGE, _CHECKS, _FILES = "editor/editor.html", "editor/_saved.html", "editor/_files_saved.html"


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: ProjectRequest) -> HttpResponse:
    return _editor(request, Place(request.project, copy_of=request.GET.get("from", "")))


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: ProjectRequest, name: str) -> HttpResponse:
    return _editor(request, Place(request.project, name))


def _editor(request: ProjectRequest, place: Place) -> HttpResponse:
    if request.method == "POST":
        return _act(request, place)
    draft = drafts.find(place, by=request.actor)
    try:
        drafts.set_mode(draft, request.GET.get("mode", draft.content["mode"]))
    except (InvalidInput, TooLarge) as error:
        return show_again(request, place, draft, error)
    return render(request, _PAGE, editor_page.context(request, place, draft))


def _act(request: ProjectRequest, place: Place) -> HttpResponse:
    """Save what was typed, then run the action of the button. No button loses text."""
    do, _, argument = request.POST.get("do", "save").partition(":")
    if do == "discard":
        return _discard(request, place)
    seen = None if do == "overwrite" else request.POST.get("seen")
    place = replace(place, base=request.POST.get("base", ""), seen=seen)
    try:
        draft = drafts.save(place, _typed(request), by=request.actor)
    except Stale as error:
        unsaved = drafts.set_typed(drafts.find(place, by=request.actor), _typed(request))
        return show_again(request, place, unsaved, error)
    return _ACTIONS.get(do, _saved)(request, replace(place, seen=None), draft, argument)


def _typed(request: ProjectRequest) -> Typed:
    fields = Fields(**{key: request.POST.get(key, "") for key in Fields().as_json()})
    mode = RAW if request.POST.get("mode") == RAW else FORM
    return Typed(mode, fields, request.POST.get("text", ""), request.POST.get("note", ""))


def show_again(
    request: ProjectRequest, place: Place, draft: Draft, error: SkillsiteError | None = None, files_error: str = ""
) -> HttpResponse:
    """Show the page with what was typed and the error. htmx swaps in an error only with the status 422."""
    status = STATUS[type(error)] if error and not wants_fragment(request) else 422
    context = editor_page.context(request, place, draft, error=error, files_error=files_error)
    return render(request, _PAGE, context, partial=_FILES if files_error else _CHECKS, status=status)


def _saved(request: ProjectRequest, place: Place, draft: Draft, _: str) -> HttpResponse:
    if wants_fragment(request):
        return render(request, _CHECKS, editor_page.context(request, place, draft))
    messages.success(
        request,
        "Draft saved. Only you can see it." if draft.pk else "No changes to save: agents already get exactly this.",
    )
    return _back(place, draft.content["mode"])


def _back(place: Place, mode: str, part: str = "") -> HttpResponse:
    query = {"mode": mode} | ({"from": place.copy_of} if place.copy_of else {})
    return redirect(f"{Addresses(place).editor}?{urlencode(query)}{part}")


def _discard(request: ProjectRequest, place: Place) -> HttpResponse:
    drafts.discard(place, by=request.actor)
    messages.success(request, "Draft discarded.")
    return redirect(Addresses(place).back)


def _switch(mode: str) -> "_Action":
    def switch(request: ProjectRequest, place: Place, draft: Draft, _: str) -> HttpResponse:
        try:
            drafts.set_mode(draft, mode)
        except (InvalidInput, TooLarge) as error:
            return show_again(request, place, draft, error)
        return _back(place, mode)

    return switch


def _publish(request: ProjectRequest, place: Place, draft: Draft, _: str) -> HttpResponse:
    try:
        sent = request.POST
        saved = drafts.publish(
            place, note=sent.get("note", ""), gate_reason=sent.get("gate_reason", ""), by=request.actor
        )
    except Stale:
        return redirect(Addresses(place).conflict)
    except (InvalidInput, TooLarge, Conflict, NotFound) as error:
        return show_again(request, place, draft, error)
    return published(request, saved.version.skill.name, saved.version.version)


def published(request: ProjectRequest, name: str, version: str) -> HttpResponse:
    messages.success(request, f"Version {version} of {name} is live. Agents get it with their next request.")
    return redirect("skill", request.project.slug, name)


def _propose(request: ProjectRequest, place: Place, draft: Draft, _: str) -> HttpResponse:
    why = request.POST.get("justification", "")
    try:
        proposed = drafts.propose(place, justification=why, by=request.actor)
    except Stale:
        return redirect(Addresses(place).conflict)
    except (InvalidInput, TooLarge, Conflict, NotFound, RateLimited) as error:
        return show_again(request, place, draft, error)
    messages.success(request, proposed.message)
    return redirect("proposal", request.project.slug, proposed.proposal.pk)


def _fix(request: ProjectRequest, place: Place, draft: Draft, argument: str) -> HttpResponse:
    rule, _, line = argument.partition(":")
    draft_checks.fix(place, rule, int(line) if line.isdecimal() else None, by=request.actor)
    return _back(place, draft.content["mode"])


def _files(change: Callable[[ProjectRequest, Place, str], Draft]) -> "_Action":
    """Return an action that changes files. An error is shown beside the files."""

    def act(request: ProjectRequest, place: Place, draft: Draft, argument: str) -> HttpResponse:
        try:
            draft = change(request, place, argument)
        except SkillsiteError as error:
            return show_again(request, place, draft, files_error=error.message)
        if wants_fragment(request):
            return render(request, _FILES, editor_page.context(request, place, draft))
        return _back(place, draft.content["mode"], "#files")

    return act


def _add(request: ProjectRequest, place: Place, _: str) -> Draft:
    request_size.check(request)
    chosen = request.FILES.getlist("files")
    if not chosen:
        raise InvalidInput("No file was chosen.")
    files = {draft_files.default_path(file.name or ""): file.read() for file in chosen}
    if len(files) < len(chosen):
        raise InvalidInput(f"Some of the {counted(len(chosen), 'file')} have the same name. Add them one by one.")
    return draft_files.add(place, files, by=request.actor)


def _open(request: ProjectRequest, place: Place, draft: Draft, path: str) -> HttpResponse:
    draft_files.entry_of(draft, path)
    return redirect(Addresses(place).workflow if path == WORKFLOW_YAML else Addresses(place).file(path))


def _workflow(request: ProjectRequest, place: Place, draft: Draft, _: str) -> HttpResponse:
    return redirect(Addresses(place).workflow)


def _create(request: ProjectRequest, place: Place, draft: Draft, _: str) -> HttpResponse:
    path = request.POST.get("new_path", "").strip()
    try:
        draft_files.create(place, path, by=request.actor)
    except SkillsiteError as error:
        return show_again(request, place, draft, files_error=error.message)
    return redirect(Addresses(place).file(path))


def _remove(request: ProjectRequest, place: Place, path: str) -> Draft:
    return draft_files.remove(place, path, by=request.actor)


def _restore(request: ProjectRequest, place: Place, path: str) -> Draft:
    return draft_files.restore(place, path, by=request.actor)


_Action = Callable[[ProjectRequest, Place, Draft, str], HttpResponse]
_ACTIONS: dict[str, _Action] = {
    "form": _switch(FORM),
    "raw": _switch(RAW),
    "publish": _publish,
    "propose": _propose,
    "fix": _fix,
    "open": _open,
    "workflow": _workflow,
    "create": _create,
    "add": _files(_add),
    "remove": _files(_remove),
    "restore": _files(_restore),
}
