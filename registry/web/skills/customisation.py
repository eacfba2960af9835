"""Views to customise a built-in skill, compare it, and merge later changes of the built-in skill."""

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
        f"You customised {name}. Agents get your version {version.version}, unchanged until you edit it.",
        extra_tags=reverse("skill-delete", args=[request.project.slug, name]),
    )
    return redirect("skill", request.project.slug, name)


@in_project
@require_safe
def compare(request: ProjectRequest, name: str) -> HttpResponse:
    """Compare the project's version with the built-in skill."""
    page = SkillPage(request, name)
    theirs = catalog.built_in_skill(page.name)
    if theirs is None or not page.own:
        raise NotFound(f"There is no built-in {page.name} to compare with.")
    mine = page.loaded_or_404
    compared = comparison.compare(
        theirs.bundle(), mine.bundle(), limits=settings.LIMITS, whole="all" in request.GET,
        **versions.file_choice(request),
    )  # fmt: skip
    context = page.context(
        "upstream",
        compared=compared,
        before={"label": f"Built-in, {theirs.candidate.version}", "digest": theirs.candidate.digest},
        after={"label": f"Yours, version {mine.candidate.version}", "digest": mine.candidate.digest},
        tokens=mine.candidate.tokens - theirs.candidate.tokens,
        layouts=versions.layouts(request),
        whole=versions.whole(request),
    )
    return render(request, "skills/customisation/compare.html", context)


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def changes(request: ProjectRequest, name: str) -> HttpResponse:
    """Show the changes of the built-in skill and their merge; a POST stores the merge."""
    page = SkillPage(request, name)
    if request.method == "POST":
        permissions.require(request.actor, roles.WRITE, request.project)
    origin = page.origin
    if origin is None:
        raise NotFound(f"{page.name} is not customised, or the built-in skill was removed.")
    if request.method != "POST":
        return _show(request, page, origin)
    try:
        version = customisation.rebase(
            request.project, name, theirs=request.POST.get("theirs", ""), mine=request.POST.get("mine", ""),
            answers=request.POST.dict(), gate_reason=request.POST.get("gate_reason", ""), by=request.actor,
        )  # fmt: skip
    except InvalidInput as error:
        return _show(request, page, origin, refused=error, status=422)
    messages.success(request, f"Version {version.version} is live. It includes the changes of the built-in skill.")
    return redirect("skill", request.project.slug, page.name)


def _show(
    request: ProjectRequest, page: SkillPage, origin: Origin, *, refused: InvalidInput | None = None, status: int = 200
) -> HttpResponse:
    merge, theirs, mine = origin.merge, origin.built_in.candidate, origin.mine.candidate
    limits, unfolded = settings.LIMITS, "all" in request.GET
    result = merge.files({}) if merge.clean else None
    choices = request.POST.dict() if request.method == "POST" else {}
    context = page.context(
        "upstream",
        origin=origin,
        merge=merge,
        open=comparison.three_way(merge.open),
        answers=[f"{key}={value}" for key, value in choices.items()],
        missing=refused.data.get("missing", ()) if refused else (),
        refused=refused,
        result=comparison.compare(origin.mine.bundle(), result, limits=limits, whole=unfolded) if result else None,
        compared=comparison.compare(origin.base, origin.built_in.bundle(), limits=limits, whole=unfolded),
        layouts=versions.layouts(request),
        whole=versions.whole(request),
        before={"label": f"Built-in before, {origin.skill.upstream_version}", "digest": origin.skill.upstream_digest},
        after={"label": f"Built-in now, {theirs.version}", "digest": theirs.digest},
        now={"label": f"Yours, version {mine.version}", "digest": mine.digest},
        then={"label": "Yours, updated", "digest": ""},
        base_label="Built-in before",
        base_note=origin.skill.upstream_version,
        theirs_label="Built-in now",
        theirs_note=theirs.version,
        mine_label="Yours",
        mine_note=f"version {mine.version}",
        take_theirs="Use the built-in text",
        take_mine="Keep yours",
    )
    return render(request, "skills/customisation/changes.html", context, status=status)


@in_project
@require_POST
def keep(request: ProjectRequest, name: str) -> HttpResponse:
    customisation.keep(request.project, name, theirs=request.POST.get("theirs", ""), by=request.actor)
    messages.success(request, "Your version is unchanged. You will see a notice when the built-in skill changes again.")
    return redirect("skill", request.project.slug, name)
