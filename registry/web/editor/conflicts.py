"""View of a conflict: merge a draft with a version that somebody else published in the meantime."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core.bundle import Bundle
from registry.core.errors import InvalidInput, NotFound, Stale
from registry.core.text import merge_bundles
from registry.services.drafts import conflicts, drafts
from registry.services.drafts.conflicts import Conflict
from registry.services.drafts.drafts import Place
from registry.web.access import ProjectRequest, in_project
from registry.web.editor import editor
from registry.web.editor.editor_page import Addresses
from registry.web.htmx import render
from registry.web.navigation import may_publish
from registry.web.render import comparison


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def conflict(request: ProjectRequest, name: str) -> HttpResponse:
    place = Place(request.project, name)
    if request.method == "POST":
        return _resolve(request, place)
    try:
        found = conflicts.find(place, by=request.actor)
    except NotFound as error:
        messages.info(request, error.message)
        return redirect(Addresses(place).editor)
    return render(request, "editor/conflict.html", _context(request, place, found))


def _context(request: ProjectRequest, place: Place, found: Conflict) -> dict[str, Any]:
    """Return the template context. The person's own text is preselected, as `conflicts.resolve` keeps it by default."""
    theirs, merged = found.theirs, found.merge.files({})
    version = theirs.candidate.version if theirs else ""
    return {
        "conflict": found, "place": place, "urls": Addresses(place), "note": found.draft.content["note"],
        "open": comparison.three_way(found.merge.open),
        "compared": comparison.compare(theirs.bundle() if theirs else {}, merged, limits=settings.LIMITS),
        "answers": [f"{key}={merge_bundles.MINE}" for key in found.merge.keys], "missing": (),
        "base_label": "Before", "base_note": "",
        "theirs_label": found.author or "Built-in now", "theirs_note": f"version {version}",
        "mine_label": "Your draft", "mine_note": "",
        "take_theirs": f"Use {found.author}’s text" if found.author else "Use the built-in text",
        "take_mine": "Keep yours",
        "before": {"label": f"Version {version}" if theirs else "Nothing", "digest": found.digest},
        "after": {"label": "With your draft", "digest": Bundle(merged).digest},
        "version": drafts.next_version(request.project, place.name), "proposing": not may_publish(request),
    }  # fmt: skip


def _resolve(request: ProjectRequest, place: Place) -> HttpResponse:
    try:
        conflicts.resolve(place, request.POST, theirs=request.POST.get("theirs", ""), by=request.actor)
        if request.POST.get("do") != "publish":
            messages.success(request, "Your choices are saved in the draft. Only you can see it.")
            return redirect(Addresses(place).editor)
        saved = drafts.publish(place, note=request.POST.get("note", ""), by=request.actor)
    except Stale as error:
        messages.info(request, error.message)
        return redirect(Addresses(place).conflict)
    except InvalidInput as error:
        return editor.show_again(request, place, drafts.find(place, by=request.actor), error)
    except NotFound as error:
        messages.info(request, error.message)
        return redirect(Addresses(place).back)
    return editor.published(request, saved.version.skill.name, saved.version.version)
