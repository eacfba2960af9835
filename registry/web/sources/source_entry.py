"""Page of one source entry: preview the skill, then import, update or merge it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.errors import InvalidInput, InvalidRequest, RoutingGateFailed, SkillsiteError, SourceFailed
from registry.core.sources import import_request
from registry.core.sources.import_request import RENAME, ImportRequest, ImportResult
from registry.models import SourceEntry
from registry.services.sources import import_preview, install, source_entries, sources
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.middleware import STATUS
from registry.web.sources import preview_page
from registry.web.sources.sources import frame

_DONE = {
    import_request.IMPORTED: "{skill} is published as version {version}. Agents get it with their next request.",
    import_request.UPDATED: "{skill} is updated to version {version}.",
    import_request.MERGED: "Version {version} of {skill} is published with your changes and the changes of the source.",
    import_request.KEPT: "Your {skill} is unchanged. We show an update when the source changes again.",
    import_request.UNCHANGED: "{skill} is already up to date. Nothing was saved.",
}


@in_project
@needs(roles.WRITE, to="open sources")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def entry(request: ProjectRequest, source_id: int, name: str) -> HttpResponse:
    """Show the preview of a skill. A POST imports the skill or fetches it again."""
    source = sources.find(request.project, source_id, by=request.actor)
    source_entry = source_entries.entry(source, name)
    context = {**frame(request, source), "entry": source_entry, "version": source_entry.version}
    again = request.POST.get("do") == "again"
    if request.method == "POST" and not again:
        return _decide(request, source_entry, context)
    if request.method != "POST" and "inside" not in request.GET and source_entries.staged(source_entry) is None:
        return _page(request, context, "sources/_entry_waiting.html")
    try:
        preview = import_preview.load(request.project, source.pk, name, again=again, by=request.actor)
    except (SourceFailed, InvalidInput) as error:
        return _refused(request, context, error)
    if again:
        messages.success(request, "Fetched the skill again.")
        return redirect(request.path)
    return _page(request, {**context, **preview_page.context(request, preview)}, "sources/_entry.html")


def _page(request: ProjectRequest, context: dict[str, Any], part: str, *, status: int = 200) -> HttpResponse:
    return render(request, "sources/entry.html", {**context, "part": part}, partial=part, status=status)


def _refused(request: ProjectRequest, context: dict[str, Any], error: SkillsiteError) -> HttpResponse:
    """Show the error. An htmx fragment has status 200, because htmx shows only successful responses."""
    inside = "inside" in request.GET
    status = 200 if inside else STATUS[type(error)]
    return _page(request, {**context, "error": error}, "sources/_entry_refused.html", status=status)


def _import_request(request: ProjectRequest, name: str) -> ImportRequest:
    values = request.POST.dict()
    choice = values.get("conflict", import_request.SKIP)
    return ImportRequest(
        name,
        digest=values.get("digest", ""),
        on_conflict=choice,
        new_name=values.get("name", "").strip() if choice == RENAME else "",
        if_edited=values.get("if_edited", ""),
        seen=values.get("seen", ""),
        answers={key: value for key, value in values.items() if key.startswith("take-")},
        gate_reason=values.get("gate_reason", ""),
    )


def _decide(request: ProjectRequest, source_entry: SourceEntry, context: dict[str, Any]) -> HttpResponse:
    source = context["source"]
    try:
        requested = _import_request(request, source_entry.name)
        if requested.on_conflict == RENAME and not requested.new_name:
            raise InvalidRequest("Enter a new name. Nothing was saved.")
        result = install.import_skill(request.project, source.pk, requested, by=request.actor)
    except SourceFailed as error:
        return _refused(request, context, error)
    except (InvalidInput, RoutingGateFailed) as error:
        return _again(request, context, source_entry, error)
    if result.status == import_request.MOVED:
        messages.info(request, result.reason)
        return redirect(request.path)
    if result.status == import_request.SKIPPED and "conflict" not in request.POST:
        undecided = InvalidRequest("This name is taken. Choose what to do. Nothing was saved.")
        return _again(request, context, source_entry, undecided)
    if result.status in import_request.REFUSED and (result.status != import_request.SKIPPED or requested.new_name):
        return _again(request, context, source_entry, InvalidRequest(result.reason), missing=result)
    return _after(request, source.pk, result)


def _again(
    request: ProjectRequest,
    context: dict[str, Any],
    source_entry: SourceEntry,
    error: SkillsiteError,
    missing: ImportResult | None = None,
) -> HttpResponse:
    """Show the page again with the choices and the error."""
    preview = import_preview.load(request.project, context["source"].pk, source_entry.name, by=request.actor)
    shown = preview_page.context(request, preview, refused=error, unanswered=missing is not None)
    return _page(request, {**context, **shown}, "sources/_entry.html", status=422)


def _after(request: ProjectRequest, source_id: int, result: ImportResult) -> HttpResponse:
    slug = request.project.slug
    if result.status == import_request.PROPOSED and result.proposal:
        message = f"Proposal {result.proposal} is waiting for review. Agents get the skill after it is approved."
        messages.success(request, message)
        return redirect("proposal", slug, result.proposal)
    if result.status == import_request.SKIPPED:
        messages.info(request, "Nothing was imported. Your skill is unchanged.")
        return redirect("source", slug, source_id)
    messages.success(request, _DONE[result.status].format(skill=result.skill, version=result.version))
    return redirect("skill", slug, result.skill)
