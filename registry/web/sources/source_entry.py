"""One skill of a source: looked at before anything is stored, then imported, updated or merged; and uninstalled."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.errors import InvalidInput, InvalidRequest, SkillsiteError, SourceFailed
from registry.core.sources import import_request
from registry.core.sources.import_request import RENAME, ImportRequest, ImportResult
from registry.models import SourceEntry
from registry.services.sources import import_preview, install, source_entries, sources
from registry.services.sources.import_preview import ImportPreview
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.middleware import STATUS
from registry.web.sources import preview_page
from registry.web.sources.sources import frame

_DONE = {
    import_request.IMPORTED: "{skill} is live as version {version}. Agents get it with their next request.",
    import_request.UPDATED: "{skill} is up to date: version {version} is live.",
    import_request.MERGED: "Version {version} of {skill} is live, with the changes of the source and yours in it.",
    import_request.KEPT: "Your {skill} stays as it is. You hear again when the source changes.",
    import_request.UNCHANGED: "{skill} is what the source has already. Nothing was stored.",
}


@in_project
@needs(roles.WRITE, to="open sources")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def entry(request: ProjectRequest, source: int, name: str) -> HttpResponse:
    """What is inside, once somebody asks for that; a POST decides, or fetches it anew."""
    found = sources.find(request.project, source, by=request.actor)
    offered = source_entries.entry(found, name)
    context = {**frame(request, found), "entry": offered, "version": offered.version}
    again = request.POST.get("do") == "again"
    if request.method == "POST" and not again:
        return _decide(request, offered, context)
    if request.method != "POST" and "inside" not in request.GET and source_entries.staged(offered) is None:
        return _page(request, context, "sources/_entry_waiting.html")
    try:
        preview = import_preview.load(request.project, found.pk, name, again=again, by=request.actor)
    except (SourceFailed, InvalidInput) as error:
        return _refused(request, context, error)
    if again:
        messages.success(request, "Fetched again from the source.")
        return redirect(request.path)
    return _page(request, {**context, **preview_page.context(request, preview)}, "sources/_entry.html")


def _page(request: ProjectRequest, context: dict[str, Any], part: str, *, status: int = 200) -> HttpResponse:
    return render(request, "sources/entry.html", {**context, "part": part}, partial=part, status=status)


def _refused(request: ProjectRequest, context: dict[str, Any], error: SkillsiteError) -> HttpResponse:
    """A fragment that says why is an answer like any other; a page has the status of the error."""
    inside = "inside" in request.GET
    status = 200 if inside else STATUS[type(error)]
    return _page(request, {**context, "error": error}, "sources/_entry_refused.html", status=status)


def _import_request(request: ProjectRequest, name: str) -> ImportRequest:
    given = request.POST.dict()
    choice = given.get("conflict", import_request.SKIP)
    return ImportRequest(
        name,
        digest=given.get("digest", ""),
        on_conflict=choice,
        new_name=given.get("name", "").strip() if choice == RENAME else "",
        if_edited=given.get("if_edited", ""),
        seen=given.get("seen", ""),
        answers={key: value for key, value in given.items() if key.startswith("take-")},
    )


def _decide(request: ProjectRequest, offered: SourceEntry, context: dict[str, Any]) -> HttpResponse:
    source = context["source"]
    try:
        requested = _import_request(request, offered.name)
        if requested.on_conflict == RENAME and not requested.new_name:
            raise InvalidRequest("Write the other name. Nothing was stored.")
        result = install.import_skill(request.project, source.pk, requested, by=request.actor)
    except SourceFailed as error:
        return _refused(request, context, error)
    except InvalidInput as error:
        return _again(request, context, offered, error)
    if result.status == import_request.MOVED:
        messages.info(request, result.reason)
        return redirect(request.path)
    if result.status == import_request.SKIPPED and "conflict" not in request.POST:
        undecided = InvalidRequest("Choose what to do about the name. Nothing was stored.")
        return _again(request, context, offered, undecided)
    if result.status in import_request.REFUSED and (result.status != import_request.SKIPPED or requested.new_name):
        return _again(request, context, offered, InvalidRequest(result.reason), missing=result)
    return _after(request, source.pk, result)


def _again(
    request: ProjectRequest,
    context: dict[str, Any],
    offered: SourceEntry,
    error: SkillsiteError,
    missing: ImportResult | None = None,
) -> HttpResponse:
    """The same page with what was chosen, and what is wrong with it."""
    preview: ImportPreview = import_preview.load(request.project, context["source"].pk, offered.name, by=request.actor)
    shown = preview_page.context(request, preview, refused=error, unanswered=missing is not None)
    return _page(request, {**context, **shown}, "sources/_entry.html", status=422)


def _after(request: ProjectRequest, source: int, result: ImportResult) -> HttpResponse:
    slug = request.project.slug
    if result.status == import_request.PROPOSED and result.proposal:
        said = "Agents get nothing of it before somebody approves it."
        messages.success(request, f"Proposal {result.proposal} is waiting for review. {said}")
        return redirect("proposal", slug, result.proposal)
    if result.status == import_request.SKIPPED:
        messages.info(request, "Nothing was imported. Yours stays as it is.")
        return redirect("source", slug, source)
    messages.success(request, _DONE[result.status].format(skill=result.skill, version=result.version))
    return redirect("skill", slug, result.skill)
