"""Page to uninstall an imported skill, with the files and edits that are removed."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.errors import PreconditionRequired, Stale
from registry.core.sources import import_request
from registry.models import Installation
from registry.services.catalog import built_in
from registry.services.files import blobs
from registry.services.routing.changes import ChangedSkill
from registry.services.sources import sources, uninstalling
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.navigation import may_publish
from registry.web.render import comparison
from registry.web.skills import routing_impact
from registry.web.skills.routing_impact import Shown
from registry.web.sources.sources import frame


@in_project
@needs(roles.WRITE, to="uninstall skills")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def uninstall(request: ProjectRequest, source_id: int, name: str) -> HttpResponse:
    source = sources.find(request.project, source_id, by=request.actor)
    installed = uninstalling.find(request.project, source_id, name, by=request.actor)
    if request.method != "POST":
        return render(request, "sources/uninstall.html", {**frame(request, source), **_context(request, installed)})
    sent = {name: request.POST.get(name, "") for name in ("seen", "gate_reason")}
    try:
        result = uninstalling.uninstall(request.project, source_id, name, by=request.actor, **sent)
    except (Stale, PreconditionRequired):
        messages.info(
            request, f"Somebody saved {installed.skill.name} meanwhile. Review it again. Nothing was changed."
        )
        return redirect(request.path)
    if result.status == import_request.PROPOSED and result.proposal:
        messages.success(request, f"Proposal {result.proposal} is waiting for review. Agents still get the skill.")
        return redirect("proposal", request.project.slug, result.proposal)
    return _after(request, source_id, result)


def _after(request: ProjectRequest, source_id: int, result: import_request.ImportResult) -> HttpResponse:
    slug = request.project.slug
    if result.version:
        messages.success(request, f"{result.skill} is restored to its earlier content, as version {result.version}.")
        return redirect("skill", slug, result.skill)
    messages.success(request, f"{result.skill} uninstalled. Its history stays.")
    return redirect("source", slug, source_id)


def _context(request: ProjectRequest, installed: Installation) -> dict[str, Any]:
    current, base = installed.skill.current, installed.base
    mine = blobs.bundle(current.manifest) if current else {}
    return {
        "installed": installed,
        "seen": installed.skill.current_digest,
        "files": current.manifest if current else (),
        "edits": comparison.compare(blobs.bundle(base.manifest), mine, limits=settings.LIMITS),
        "before": {"label": "As imported", "digest": base.digest},
        "after": {"label": f"Yours, version {current.version}", "digest": current.digest} if current else {},
        "follows": _consequence(installed),
        "impact": _impact(request, installed),
        "bar": "Its history stays" if may_publish(request) else "Every change in this project is reviewed first",
    }


def _consequence(installed: Installation) -> str:
    """Return a sentence about what agents get afterwards."""
    name, before = installed.skill.name, installed.before
    if before is not None and before.available:
        return f"Agents get version {before.version} again, the version from before the import."
    if name in built_in.snapshot().skills:
        return f"Agents get the built-in {name} again."
    return f"Agents no longer get {name}."


def _impact(request: ProjectRequest, installed: Installation) -> Shown | None:
    name, before = installed.skill.name, installed.before
    if before is not None and before.available:
        changed = ChangedSkill(name, blobs.bundle(before.manifest)[SKILL_MD])
        return routing_impact.of_change(request, [changed])
    return routing_impact.of_deletion(request, name)
