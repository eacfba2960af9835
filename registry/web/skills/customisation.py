"""A bundled skill made the project's own, compared with its origin, and brought up to date."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core import roles
from registry.core.errors import InvalidInput, NotFound
from registry.services import permissions
from registry.services.catalog import catalog
from registry.services.skills import customisation
from registry.services.skills.customisation import Origin
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.render import comparison
from registry.web.skills import versions
from registry.web.skills.skill_page import SkillPage


@in_project
@require_POST
def customise(request: ProjectRequest, name: str) -> HttpResponse:
    version = customisation.customise(request.project, name, by=request.actor)
    name = version.skill.name
    messages.success(
        request,
        f"{name} is yours now, as version {version.version}. Agents get the same text until you edit it.",
        extra_tags=reverse("skill-delete", args=[request.project.slug, name]),
    )
    return redirect("skill", request.project.slug, name)


@in_project
@require_safe
def compare(request: ProjectRequest, name: str) -> HttpResponse:
    """What the project made of the bundled skill."""
    page = SkillPage(request, name)
    theirs = catalog.built_in_skill(page.name)
    if theirs is None or not page.own:
        raise NotFound(f"{page.name} hides no bundled skill, so there is nothing to compare it with.")
    mine = page.there
    compared = comparison.compare(theirs.bundle(), mine.bundle(), limits=settings.LIMITS, whole="all" in request.GET)
    context = page.context(
        "upstream",
        compared=compared,
        before={"label": f"Bundled, {theirs.candidate.version}", "digest": theirs.candidate.digest},
        after={"label": f"Yours, version {mine.candidate.version}", "digest": mine.candidate.digest},
        tokens=mine.candidate.tokens - theirs.candidate.tokens,
        layouts=versions.layouts(request),
        whole=versions.whole(request),
    )
    return render(request, "skills/customisation/compare.html", context)


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def changes(request: ProjectRequest, name: str) -> HttpResponse:
    """What changed underneath a copy, and what it would become; a POST brings it up to date."""
    page = SkillPage(request, name)
    if request.method == "POST":
        permissions.require(request.actor, roles.WRITE, request.project)
    origin = page.origin
    if origin is None:
        raise NotFound(f"{page.name} is no copy of a bundled skill that is still there.")
    if request.method != "POST":
        return _show(request, page, origin)
    try:
        version = customisation.rebase(
            request.project, name, theirs=request.POST.get("theirs", ""), mine=request.POST.get("mine", ""),
            answers=request.POST.dict(), by=request.actor,
        )  # fmt: skip
    except InvalidInput as error:
        return _show(request, page, origin, refused=error, status=422)
    messages.success(request, f"Version {version.version} is live, with the changes of the bundled skill in it.")
    return redirect("skill", request.project.slug, page.name)


def _show(
    request: ProjectRequest, page: SkillPage, origin: Origin, *, refused: InvalidInput | None = None, status: int = 200
) -> HttpResponse:
    joined, bundled = origin.joined, origin.bundled.candidate
    limits, unfolded = settings.LIMITS, "all" in request.GET
    result = joined.files({}) if joined.clean else None
    said = request.POST.dict() if request.method == "POST" else {}
    context = page.context(
        "upstream",
        origin=origin,
        joined=joined,
        open=[comparison.three_way(file) for file in joined.open],
        answers=[f"{key}={value}" for key, value in said.items()],
        missing=refused.data.get("missing", ()) if refused else (),
        refused=refused,
        result=comparison.compare(origin.mine.bundle(), result, limits=limits, whole=unfolded) if result else None,
        compared=comparison.compare(origin.base, origin.bundled.bundle(), limits=limits, whole=unfolded),
        layouts=versions.layouts(request),
        whole=versions.whole(request),
        before={"label": f"Bundled before, {origin.skill.upstream_version}", "digest": origin.skill.upstream_digest},
        after={"label": f"Bundled now, {bundled.version}", "digest": bundled.digest},
        now={"label": f"Yours, version {origin.mine.candidate.version}", "digest": origin.mine.candidate.digest},
        then={"label": "Yours, brought up to date", "digest": ""},
    )
    return render(request, "skills/customisation/changes.html", context, status=status)


@in_project
@require_POST
def keep(request: ProjectRequest, name: str) -> HttpResponse:
    customisation.keep(request.project, name, theirs=request.POST.get("theirs", ""), by=request.actor)
    messages.success(request, "Yours stays as it is. You hear again when the bundled one changes.")
    return redirect("skill", request.project.slug, name)
