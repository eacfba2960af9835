"""Upload: drop a zip, a folder or a Markdown file, see what it would do, then decide."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.bundle import Bundle
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import (
    AlreadyExists,
    Conflict,
    InvalidInput,
    InvalidRequest,
    NotFound,
    SkillsiteError,
    Stale,
    TooLarge,
)
from registry.services import permissions
from registry.services.drafts import uploads
from registry.services.drafts.uploads import Waiting
from registry.services.skills import bundles
from registry.web import sending
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.middleware import STATUS
from registry.web.navigation import may_publish
from registry.web.proposing import proposed_in_words
from registry.web.render import comparison

_DONE = {
    bundles.CREATE: "{name} is live as version {version}. Agents get it with their next request.",
    bundles.OVERRIDE: "Version {version} of {name} is live and hides the bundled skill.",
    bundles.NEW_VERSION: "Version {version} of {name} is live. Agents get it with their next request.",
    bundles.UNCHANGED: "Version {version} of {name} holds these very files already. Nothing was stored.",
}


# Reading the form is what can fail here, and the check of the token reads it: so that check comes second.
@csrf_exempt
@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: ProjectRequest) -> HttpResponse:
    permissions.require(request.actor, roles.PROPOSE, request.project)
    if request.method != "POST":
        return _page(request)
    try:
        sending.check(request)
        request.POST  # noqa: B018 - reads what was sent
    except (TooManyFilesSent, TooManyFieldsSent):
        message = f"More files were sent than the {settings.LIMITS.files:,} allowed. Nothing was stored."
        return _page(request, TooLarge(message))
    except RequestDataTooBig:
        return _page(request, TooLarge("The names of the files are too long to be read. Nothing was stored."))
    except TooLarge as error:
        return _page(request, error)
    return _receive(request)


@csrf_protect
def _receive(request: ProjectRequest) -> HttpResponse:
    try:
        bundle, filename = _sent(request)
        waiting = uploads.receive(request.project, filename, bundle, now=timezone.now(), by=request.actor)
    except SkillsiteError as error:
        return _page(request, error)
    return redirect("upload-preview", request.project.slug, waiting.key)


def _sent(request: ProjectRequest) -> tuple[Bundle, str]:
    """The bundle, and the name of what was dropped. Browsers send the paths of a folder's files beside them."""
    sent = request.FILES.getlist("file")
    if not sent:
        raise InvalidRequest("Nothing was chosen. Choose a zip, a .md file or a folder.")
    folder = "path" in request.POST
    names = request.POST.getlist("path") if folder else [file.name or "" for file in sent]
    if len(names) != len(sent) or len(set(names)) != len(names):
        raise InvalidRequest("The names of the files do not match the files. Choose the folder again.")
    files = {name: file.read() for name, file in zip(names, sent, strict=True)}
    return uploads.opened(files, folder=folder), names[0].partition("/")[0] if folder else names[0]


def _page(request: ProjectRequest, error: SkillsiteError | None = None) -> HttpResponse:
    shown = {"error": error, "limits": settings.LIMITS}
    return render(request, "skills/uploads/upload.html", shown, status=STATUS[type(error)] if error else 200)


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: ProjectRequest, key: str) -> HttpResponse:
    """What waits under the key, until it is confirmed, proposed, discarded or left alone."""
    do = request.POST.get("do", "") if request.method == "POST" else ""
    try:
        if do == "confirm":
            return _confirm(request, key)
        if do == "propose":
            return _propose(request, key)
        if do in ("discard", "leave"):
            uploads.discard(request.project, key, by=request.actor)
            return HttpResponse(status=204) if do == "leave" else _forgotten(request)
        return _preview(request, key)
    except NotFound as error:
        return _page(request, error)


def _preview(request: ProjectRequest, key: str, error: SkillsiteError | None = None) -> HttpResponse:
    """The page of what waits; after a refusal with the words that were typed."""
    words = {name: request.POST.get(name, "") for name in ("note", "justification")}
    shown = _shown(uploads.look(request.project, key, by=request.actor))
    context = {**shown, **words, "error": error, "proposing": not may_publish(request)}
    return render(request, "skills/uploads/preview.html", context, status=STATUS[type(error)] if error else 200)


def _look_again(request: ProjectRequest, key: str, error: SkillsiteError) -> HttpResponse:
    messages.info(request, error.message)
    return redirect("upload-preview", request.project.slug, key)


def _confirm(request: ProjectRequest, key: str) -> HttpResponse:
    seen, note = request.POST.get("seen", ""), request.POST.get("note", "")
    try:
        imported = uploads.confirm(request.project, key, seen=seen, note=note, by=request.actor)
    except Stale as error:
        return _look_again(request, key, error)
    except InvalidRequest as error:
        return _preview(request, key, error)
    name, version = imported.version.skill.name, imported.version.version
    messages.success(request, _DONE[imported.action].format(name=name, version=version))
    return redirect("skill", request.project.slug, name)


def _propose(request: ProjectRequest, key: str) -> HttpResponse:
    seen, why = request.POST.get("seen", ""), request.POST.get("justification", "")
    try:
        made = uploads.propose(request.project, key, seen=seen, justification=why, by=request.actor)
    except (Stale, AlreadyExists) as error:
        return _look_again(request, key, error)
    except (InvalidInput, Conflict, TooLarge) as error:
        return _preview(request, key, error)
    messages.success(request, proposed_in_words(made))
    return redirect("proposal", request.project.slug, made.proposal.pk)


def _forgotten(request: ProjectRequest) -> HttpResponse:
    messages.success(request, "The upload is forgotten. Nothing was stored.")
    return redirect("upload", request.project.slug)


def _shown(waiting: Waiting) -> dict[str, Any]:
    checked, standing = waiting.preview.checked, waiting.preview.standing
    winner = standing.winner if standing else None
    compared = comparison.compare(waiting.before, checked.bundle, limits=settings.LIMITS) if waiting.before else None
    label = "Bundled" if winner and winner.source == BUNDLED else f"Version {winner.version}" if winner else ""
    return {
        "waiting": waiting, "upload": waiting.upload, "preview": waiting.preview, "checked": checked, "winner": winner,
        "compared": compared, "before": {"label": label, "digest": waiting.seen},
        "after": {"label": "This upload", "digest": checked.bundle.digest},
        "files": [(entry, _fate(waiting, entry.path)) for entry in checked.bundle.manifest],
        "removed": sorted(waiting.before.keys() - checked.bundle.keys()),
    }  # fmt: skip


def _fate(waiting: Waiting, path: str) -> str:
    """What becomes of a file against what stands; nothing is said where nothing stands."""
    if not waiting.before:
        return ""
    if path not in waiting.before:
        return "new"
    return "unchanged" if waiting.before[path] == waiting.preview.checked.bundle[path] else "changed"
