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
from registry.core.errors import InvalidRequest, NotFound, SkillsiteError, Stale, TooLarge
from registry.core.merge import BUNDLED
from registry.core.skill import Bundle
from registry.services import bundles, permissions, uploads
from registry.services.uploads import Waiting
from registry.web import comparison, sending
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.middleware import STATUS

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
    permissions.require(request.actor, roles.WRITE, request.project)
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
    return render(request, "uploads/upload.html", shown, status=STATUS[type(error)] if error else 200)


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: ProjectRequest, key: str) -> HttpResponse:
    """What waits under the key, until it is confirmed, discarded or left alone."""
    do = request.POST.get("do", "") if request.method == "POST" else ""
    try:
        if do == "confirm":
            return _confirm(request, key)
        if do in ("discard", "leave"):
            uploads.discard(request.project, key, by=request.actor)
            return HttpResponse(status=204) if do == "leave" else _forgotten(request)
        waiting = uploads.look(request.project, key, by=request.actor)
    except NotFound as error:
        return _page(request, error)
    return render(request, "uploads/preview.html", _shown(waiting))


def _confirm(request: ProjectRequest, key: str) -> HttpResponse:
    seen, note = request.POST.get("seen", ""), request.POST.get("note", "")
    try:
        imported = uploads.confirm(request.project, key, seen=seen, note=note, by=request.actor)
    except Stale as error:
        messages.info(request, error.message)
        return redirect("upload-preview", request.project.slug, key)
    except InvalidRequest as error:
        waiting = uploads.look(request.project, key, by=request.actor)
        return render(request, "uploads/preview.html", {**_shown(waiting), "error": error, "note": note}, status=422)
    name, version = imported.version.skill.name, imported.version.version
    messages.success(request, _DONE[imported.action].format(name=name, version=version))
    return redirect("skill", request.project.slug, name)


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
