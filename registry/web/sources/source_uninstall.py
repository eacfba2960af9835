"""A skill that came from a source goes again, once somebody saw what goes with it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.errors import PreconditionRequired, Stale
from registry.core.sources import import_request
from registry.models import Installation
from registry.services.catalog import built_in
from registry.services.files import blobs
from registry.services.sources import sources, uninstalling
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.navigation import may_publish
from registry.web.render import comparison
from registry.web.sources.sources import frame


@in_project
@needs(roles.WRITE, to="uninstall skills")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def uninstall(request: ProjectRequest, source: int, name: str) -> HttpResponse:
    found = sources.find(request.project, source, by=request.actor)
    installed = uninstalling.find(request.project, source, name, by=request.actor)
    if request.method != "POST":
        return render(request, "sources/uninstall.html", {**frame(request, found), **_shown(request, installed)})
    seen = request.POST.get("seen", "")
    try:
        result = uninstalling.uninstall(request.project, source, name, seen=seen, by=request.actor)
    except (Stale, PreconditionRequired):
        said = "was saved by somebody meanwhile. Look again. Nothing was changed."
        messages.info(request, f"{installed.skill.name} {said}")
        return redirect(request.path)
    if result.status == import_request.PROPOSED and result.proposal:
        messages.success(request, f"Proposal {result.proposal} is waiting for review. Nothing changed for agents yet.")
        return redirect("proposal", request.project.slug, result.proposal)
    return _gone(request, source, result)


def _gone(request: ProjectRequest, source: int, result: import_request.ImportResult) -> HttpResponse:
    slug = request.project.slug
    if result.version:
        messages.success(request, f"{result.skill} is what it was before it came, as version {result.version}.")
        return redirect("skill", slug, result.skill)
    messages.success(request, f"{result.skill} is uninstalled. Its history stays.")
    return redirect("source", slug, source)


def _shown(request: ProjectRequest, installed: Installation) -> dict[str, Any]:
    current, base = installed.skill.current, installed.base
    mine = blobs.bundle(current.manifest) if current else {}
    return {
        "installed": installed,
        "seen": current.digest if current else "",
        "files": current.manifest if current else (),
        "edits": comparison.compare(blobs.bundle(base.manifest), mine, limits=settings.LIMITS),
        "before": {"label": "As it came", "digest": base.digest},
        "after": {"label": f"Yours, version {current.version}", "digest": current.digest} if current else {},
        "follows": _follows(installed),
        "bar": "Its history stays" if may_publish(request) else "Every change of this project is reviewed first",
    }


def _follows(installed: Installation) -> str:
    """What agents get afterwards."""
    name, before = installed.skill.name, installed.before
    if before is not None and before.yanked_at is None:
        return f"Agents get version {before.version} again, which stood here before it came."
    if name in built_in.snapshot().skills:
        return f"Agents get the bundled {name} again."
    return f"No agent gets {name} any more."
