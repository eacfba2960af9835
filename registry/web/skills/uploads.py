"""Views to upload a zip, a folder or a Markdown file, with a preview before it is published."""

from dataclasses import dataclass
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
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import (
    AlreadyExists,
    Conflict,
    InvalidInput,
    InvalidRequest,
    NotFound,
    RateLimited,
    RoutingGateFailed,
    SkillsiteError,
    Stale,
    TooLarge,
)
from registry.services import permissions
from registry.services.drafts import uploads
from registry.services.drafts.uploads import PendingUpload
from registry.services.routing.changes import ChangedSkill
from registry.services.skills import bundles
from registry.services.skills.bundles import Preview
from registry.web import labels, request_size
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.middleware import STATUS
from registry.web.navigation import may_publish
from registry.web.render import comparison
from registry.web.skills import routing_impact, workflow_change

_DONE = {
    bundles.CREATE: "{name} is live as version {version}. Agents get it with their next request.",
    bundles.OVERRIDE: "Version {version} of {name} is live. Agents get it instead of the built-in skill.",
    bundles.NEW_VERSION: "Version {version} of {name} is live. Agents get it with their next request.",
    bundles.UNCHANGED: "Version {version} of {name} already has exactly these files. Nothing was saved.",
}


# The CSRF check reads the form, and reading it can fail. So the size is checked first, in `upload`.
@csrf_exempt
@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: ProjectRequest) -> HttpResponse:
    permissions.require(request.actor, roles.PROPOSE, request.project)
    if request.method != "POST":
        return _page(request)
    try:
        request_size.check(request)
        request.POST  # noqa: B018 - reads what was sent
    except (TooManyFilesSent, TooManyFieldsSent):
        message = f"More files were sent than the {settings.LIMITS.files:,} allowed. Nothing was saved."
        return _page(request, TooLarge(message))
    except RequestDataTooBig:
        return _page(request, TooLarge("The file names are too long. Nothing was saved."))
    except TooLarge as error:
        return _page(request, error)
    return _receive(request)


@csrf_protect
def _receive(request: ProjectRequest) -> HttpResponse:
    try:
        bundle, filename = _sent_bundle(request)
        upload = uploads.receive(request.project, filename, bundle, now=timezone.now(), by=request.actor)
    except SkillsiteError as error:
        return _page(request, error)
    return redirect("upload-preview", request.project.slug, upload.key)


def _sent_bundle(request: ProjectRequest) -> tuple[Bundle, str]:
    """Return the bundle and its name. For a folder, JavaScript sends the path of each file in `path`."""
    sent = request.FILES.getlist("file")
    if not sent:
        raise InvalidRequest("No file was chosen. Choose a zip, a .md file or a folder.")
    folder = "path" in request.POST
    names = request.POST.getlist("path") if folder else [file.name or "" for file in sent]
    if len(names) != len(sent) or len(set(names)) != len(names):
        raise InvalidRequest("The list of file names does not match the files. Choose the folder again.")
    files = {name: file.read() for name, file in zip(names, sent, strict=True)}
    return uploads.open_files(files, folder=folder), names[0].partition("/")[0] if folder else names[0]


def _page(request: ProjectRequest, error: SkillsiteError | None = None) -> HttpResponse:
    context = {"error": error, "limits": settings.LIMITS}
    return render(request, "skills/uploads/upload.html", context, status=STATUS[type(error)] if error else 200)


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: ProjectRequest, key: str) -> HttpResponse:
    """Show an upload before it is published; a POST publishes, proposes or discards it."""
    do = request.POST.get("do", "") if request.method == "POST" else ""
    try:
        if do == "confirm":
            return _confirm(request, key)
        if do == "propose":
            return _propose(request, key)
        if do in ("discard", "leave"):
            uploads.discard(request.project, key, by=request.actor)
            return HttpResponse(status=204) if do == "leave" else _discarded(request)
        return _preview(request, key)
    except NotFound as error:
        return _page(request, error)


def _preview(request: ProjectRequest, key: str, error: SkillsiteError | None = None) -> HttpResponse:
    """Show the preview; after an error, with the text that was typed."""
    typed = {name: request.POST.get(name, "") for name in ("note", "justification", "gate_reason")}
    proposing = not may_publish(request)
    pending = uploads.preview(request.project, key, by=request.actor)
    changed = ChangedSkill(pending.preview.checked.name, pending.preview.checked.bundle[SKILL_MD])
    shown = routing_impact.of_change(request, [changed])
    context = {**_context(pending, proposing=proposing), **typed, "error": error, "proposing": proposing}
    before, after = Bundle(pending.before) if pending.before else None, pending.preview.checked.bundle
    context |= {"impact": shown, "workflow": workflow_change.shown(request.project, before, after)}
    return render(request, "skills/uploads/preview.html", context, status=STATUS[type(error)] if error else 200)


def _show_again(request: ProjectRequest, key: str, error: SkillsiteError) -> HttpResponse:
    messages.info(request, error.message)
    return redirect("upload-preview", request.project.slug, key)


def _confirm(request: ProjectRequest, key: str) -> HttpResponse:
    sent = {name: request.POST.get(name, "") for name in ("seen", "note", "gate_reason")}
    try:
        imported = uploads.confirm(request.project, key, by=request.actor, **sent)
    except Stale as error:
        return _show_again(request, key, error)
    except (InvalidRequest, RoutingGateFailed) as error:
        return _preview(request, key, error)
    name, version = imported.version.skill.name, imported.version.version
    messages.success(request, _DONE[imported.action].format(name=name, version=version))
    return redirect("skill", request.project.slug, name)


def _propose(request: ProjectRequest, key: str) -> HttpResponse:
    seen, why = request.POST.get("seen", ""), request.POST.get("justification", "")
    try:
        proposed = uploads.propose(request.project, key, seen=seen, justification=why, by=request.actor)
    except (Stale, AlreadyExists) as error:
        return _show_again(request, key, error)
    except (InvalidInput, Conflict, TooLarge, RateLimited) as error:
        return _preview(request, key, error)
    messages.success(request, proposed.message)
    return redirect("proposal", request.project.slug, proposed.proposal.pk)


def _discarded(request: ProjectRequest) -> HttpResponse:
    messages.success(request, "Upload discarded. Nothing was saved.")
    return redirect("upload", request.project.slug)


@dataclass(frozen=True, slots=True)
class Effect:
    """Texts about what publishing or proposing an upload does."""

    badge: str
    icon: str
    title: str
    text: str = ""
    button: str = ""
    tone: str = "accent"
    notice: str = "accent"


def _effect(preview: Preview, *, proposing: bool) -> Effect:
    name, version = preview.checked.name, preview.version
    if proposing:
        return _effect_of_proposal(preview)
    if preview.action == bundles.UNCHANGED:
        title = f"Version {version} already has exactly these files."
        return Effect("Unchanged", "check", title, "Publishing changes nothing.", "Continue", tone="line", notice="")
    if preview.action == bundles.CREATE:
        title = f"This is a new skill, version {version}."
        return Effect("New skill", "plus", title, "Nothing is published until you confirm.", f"Publish {name}")
    if preview.action == bundles.OVERRIDE:
        roots = [f"It replaces version {each.candidate.version} from {each.candidate.root}." for each in preview.hides]
        title = f"Agents get your version {version} instead of the built-in skill and its files."
        text = " ".join([*roots, "Delete yours to return to the built-in skill."])
        return Effect("Customised", "hides", title, text, f"Publish version {version}")
    winner = preview.effective.winner if preview.effective else None
    text = f"Version {winner.version} stays in the history and can be restored." if winner else ""
    return Effect(
        "New version", "skills", f"This becomes version {version} of {name}.", text, f"Publish version {version}"
    )


def _effect_of_proposal(preview: Preview) -> Effect:
    if preview.action == bundles.UNCHANGED:
        return Effect("Proposal", "proposals", "Agents already get exactly these files.")
    new = preview.action == bundles.CREATE
    title = f"This becomes a proposal {'for a new skill' if new else f'to change {preview.checked.name}'}."
    text = (
        "Agents get it only after a reviewer approves it. It is then the next version in this project, "
        "whatever version its files name."
    )
    return Effect("Proposal", "proposals", title, text)


def _context(pending: PendingUpload, *, proposing: bool) -> dict[str, Any]:
    checked, effective = pending.preview.checked, pending.preview.effective
    winner = effective.winner if effective else None
    compared = comparison.compare(pending.before, checked.bundle, limits=settings.LIMITS) if pending.before else None
    label = (
        labels.SOURCES[BUNDLED]
        if winner and winner.source == BUNDLED
        else f"Version {winner.version}"
        if winner
        else ""
    )
    return {
        "pending": pending, "upload": pending.upload, "checked": checked,
        "effect": _effect(pending.preview, proposing=proposing),
        "compared": compared, "before": {"label": label, "digest": pending.seen},
        "after": {"label": "This upload", "digest": checked.bundle.digest},
        "files": [(entry, _status(pending, entry.path)) for entry in checked.bundle.manifest],
        "removed": sorted(pending.before.keys() - checked.bundle.keys()),
    }  # fmt: skip


def _status(pending: PendingUpload, path: str) -> str:
    """Return how a file differs from the current version; empty for a new skill."""
    if not pending.before:
        return ""
    if path not in pending.before:
        return "new"
    return "unchanged" if pending.before[path] == pending.preview.checked.bundle[path] else "changed"
