"""Views of the versions of a skill: history, compare, restore and withdraw."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import InvalidRequest
from registry.models import Provenance, Version
from registry.services import permissions
from registry.services.files import blobs
from registry.services.scans import scan_queries
from registry.services.scans.scan_queries import OpenFindings
from registry.services.skills import versions
from registry.services.sources import source_queries
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.render import comparison
from registry.web.skills import routing_impact, workflow_change
from registry.web.skills.skill_page import SkillPage

_PAGE = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """A version and its difference from the version before it."""

    version: Version
    live: bool
    before: Version | None
    tokens: int | None
    size: int | None
    files: int
    provenance: Provenance | None
    found: OpenFindings | None


@in_project
@require_safe
def timeline(request: ProjectRequest, name: str) -> HttpResponse:
    page = SkillPage(request, name)
    history = versions.history(request.project, name)
    page.version_count = len(history)
    current = history[0].skill.current_id if page.own else None
    provenances = source_queries.provenance_of(history)
    scans = (version.scan for version in history if version.scan is not None)
    found = {each.scan.digest: each for each in scan_queries.open_findings(request.project, scans)}
    entries = [
        _entry(version, _before(history, place), current, provenances, found) for place, version in enumerate(history)
    ]
    readable = [version.version for version in history if version.yanked_at is None]
    shown = Paginator(entries, _PAGE).get_page(request.GET.get("page"))
    context = page.context("versions", entries=shown, readable=readable, chosen=(readable[1:2] or [""]) + readable[:1])
    return render(request, "skills/versions/timeline.html", context)


def _before(history: list[Version], place: int) -> Version | None:
    """Return the next older version that was not withdrawn."""
    return next((older for older in history[place + 1 :] if older.yanked_at is None), None)


def _entry(
    version: Version,
    older: Version | None,
    current: int | None,
    provenances: Mapping[int, Provenance],
    found: Mapping[str, OpenFindings],
) -> Entry:
    return Entry(
        version,
        live=version.pk == current,
        before=older if version.yanked_at is None else None,
        tokens=version.tokens - older.tokens if older else None,
        size=version.size - older.size if older else None,
        files=len(version.manifest),
        provenance=provenances.get(version.pk),
        found=found.get(version.digest),
    )


@in_project
@require_safe
def compare(request: ProjectRequest, name: str) -> HttpResponse:
    page = SkillPage(request, name)
    before, after = _chosen_versions(request, page)
    earlier, later = blobs.bundle(before.manifest), blobs.bundle(after.manifest)
    compared = comparison.compare(
        earlier, later, limits=settings.LIMITS, whole="all" in request.GET, **file_choice(request)
    )
    history = versions.history(request.project, name)
    context = page.context(
        "versions",
        compared=compared,
        before={"label": f"Version {before.version}", "digest": before.digest},
        after={"label": f"Version {after.version}", "digest": after.digest},
        chosen=(before.version, after.version),
        same=before.version == after.version,
        readable=[version.version for version in history if version.yanked_at is None],
        tokens=after.tokens - before.tokens,
        layouts=layouts(request),
        whole=whole(request),
        workflow=workflow_change.shown(request.project, earlier, later),
    )
    return render(request, "skills/versions/compare.html", context)


def _chosen_versions(request: ProjectRequest, page: SkillPage) -> tuple[Version, Version]:
    """Return the versions `from` and `to` of the address; the default is the newest two."""
    readable = [v.version for v in versions.history(request.project, page.name) if v.yanked_at is None]
    newest = [*readable[:2], *readable[:1]][:2] or [""]
    after = request.GET.get("to") or newest[0]
    before = request.GET.get("from") or newest[-1]
    return versions.get(request.project, page.name, before), versions.get(request.project, page.name, after)


def layouts(request: ProjectRequest) -> list[dict[str, Any]]:
    """Return links to the layouts of a comparison. Below 992 px it always has one column."""
    chosen = "one" if request.GET.get("layout") == "one" else ""
    return [
        {"label": label, "url": _with(request, layout=value), "current": chosen == value, "one": value == "one"}
        for value, label in (("", "Side by side"), ("one", "One column"))
    ]


def whole(request: ProjectRequest) -> str:
    """Return the address that shows folded lines too; empty if they are shown already."""
    return "" if "all" in request.GET else _with(request, all="1")


def file_choice(request: ProjectRequest) -> dict[str, str]:
    """Return arguments of `comparison.compare`: the file that the address chooses, and an address to choose others."""
    query = request.GET.copy()
    query.pop("file", None)
    return {"first": request.GET.get("file", ""), "pick": f"?{query.urlencode()}{'&' if query else ''}file="}


def _with(request: ProjectRequest, **changes: str) -> str:
    query = request.GET.copy()
    for key, value in changes.items():
        query[key] = value
        if not value:
            del query[key]
    return f"?{query.urlencode()}"


@in_project
@require_POST
def restore(request: ProjectRequest, name: str, version: str) -> HttpResponse:
    reason = request.POST.get("gate_reason", "")
    restored = versions.restore(request.project, name, version, gate_reason=reason, by=request.actor)
    messages.success(request, f"Version {restored.version} is live, with the content of version {version}.")
    return redirect("skill-versions", request.project.slug, normalise(name))


class YankForm(forms.Form):
    reason = forms.CharField(
        max_length=versions.NOTE_CHARS,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown to people and agents who ask for this version.",
        error_messages={"required": "Enter a reason. People and agents who ask for this version see it."},
    )


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def yank(request: ProjectRequest, name: str, version: str) -> HttpResponse:
    """Ask for a reason, then withdraw the version."""
    permissions.require(request.actor, roles.WRITE, request.project)
    page = SkillPage(request, name)
    withdrawn = versions.get(request.project, name, version)
    form = YankForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            versions.yank(request.project, name, version, reason=form.cleaned_data["reason"], by=request.actor)
        except InvalidRequest as error:
            form.add_error("reason", error.message)
        else:
            messages.success(request, f"Version {version} is withdrawn. Nobody can load it any more.")
            return redirect("skill-versions", request.project.slug, page.name)
    context = page.context("versions", form=form, version=withdrawn, **_effect(page, withdrawn))
    return render(request, "skills/versions/yank.html", context, status=422 if form.errors else 200)


def _effect(page: SkillPage, withdrawn: Version) -> dict[str, Any]:
    """Say what agents get without this version, and what that does to the test questions."""
    if not (page.own and page.row is not None and page.row.pk == withdrawn.pk):
        return {"effect": "Agents are not affected: they get another version."}
    following = versions.successor(withdrawn)
    impact = routing_impact.of_withdrawal(page.request, page.name, following)
    if following:
        return {"effect": f"Agents get version {following.version} instead.", "impact": impact}
    built_in = " The built-in version stays hidden until you return to it." if page.hides else ""
    effect = f"It is the last version, so agents can no longer use {page.name}.{built_in}"
    return {"effect": effect, "impact": impact}
