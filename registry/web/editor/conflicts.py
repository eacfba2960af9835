"""A draft that somebody else's save overtook: base, theirs and mine, with a choice where both changed the same."""

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
        return _settle(request, place)
    try:
        seen = conflicts.look(place, by=request.actor)
    except NotFound as error:
        messages.info(request, error.message)
        return redirect(Addresses(place).editor)
    return render(request, "editor/conflict.html", _shown(request, place, seen))


def _shown(request: ProjectRequest, place: Place, seen: Conflict) -> dict[str, Any]:
    """What was not answered stays as the person wrote it, so those answers are given already."""
    theirs, mine = seen.theirs, seen.joined.files({})
    version = theirs.candidate.version if theirs else ""
    return {
        "seen": seen, "place": place, "urls": Addresses(place), "note": seen.draft.content["note"],
        "open": [comparison.three_way(file) for file in seen.joined.open],
        "compared": comparison.compare(theirs.bundle() if theirs else {}, mine, limits=settings.LIMITS),
        "answers": [f"{key}={merge_bundles.MINE}" for key in seen.joined.keys], "missing": (),
        "theirs_label": f"{seen.author} wrote" if seen.author else "Bundled now", "theirs_note": f"version {version}",
        "take_theirs": f"Take {seen.author}’s" if seen.author else "Take the bundled text",
        "before": {"label": f"Version {version}" if theirs else "Nothing", "digest": seen.digest},
        "after": {"label": "With your draft", "digest": Bundle(mine).digest},
        "version": drafts.next_version(request.project, place.name), "proposing": not may_publish(request),
    }  # fmt: skip


def _settle(request: ProjectRequest, place: Place) -> HttpResponse:
    try:
        conflicts.settle(place, request.POST, theirs=request.POST.get("theirs", ""), by=request.actor)
        if request.POST.get("do") != "publish":
            messages.success(request, "Your choices are in the draft. Only you see it.")
            return redirect(Addresses(place).editor)
        saved = drafts.publish(place, note=request.POST.get("note", ""), by=request.actor)
    except Stale as error:
        messages.info(request, error.message)
        return redirect(Addresses(place).conflict)
    except InvalidInput as error:
        return editor.again(request, place, drafts.find(place, by=request.actor), error)
    except NotFound as error:
        messages.info(request, error.message)
        return redirect(Addresses(place).back)
    return editor.published(request, saved.version.skill.name, saved.version.version)
