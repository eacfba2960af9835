"""The history of a skill: every version, any two of them compared, back to one, one taken out of reach."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import InvalidRequest
from registry.models import Provenance, Version
from registry.services import permissions
from registry.services.files import blobs
from registry.services.skills import versions
from registry.services.sources import source_queries
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.render import comparison
from registry.web.skills.skill_page import SkillPage

_PAGE = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """A version and what it changed against the one before it."""

    version: Version
    live: bool
    before: Version | None
    tokens: int | None
    size: int | None
    files: int
    came: Provenance | None


@in_project
@require_safe
def timeline(request: ProjectRequest, name: str) -> HttpResponse:
    page = SkillPage(request, name)
    history = versions.history(request.project, name)
    current = history[0].skill.current_id if page.own else None
    came = source_queries.origins(history)
    entries = [_entry(version, _before(history, place), current, came) for place, version in enumerate(history)]
    readable = [version.version for version in history if version.yanked_at is None]
    shown = Paginator(entries, _PAGE).get_page(request.GET.get("page"))
    context = page.context("versions", entries=shown, readable=readable)
    return render(request, "skills/versions/timeline.html", context)


def _before(history: list[Version], place: int) -> Version | None:
    """The next older version that can still be read."""
    return next((older for older in history[place + 1 :] if older.yanked_at is None), None)


def _entry(version: Version, older: Version | None, current: int | None, came: Mapping[int, Provenance]) -> Entry:
    return Entry(
        version,
        live=version.pk == current,
        before=older if version.yanked_at is None else None,
        tokens=version.tokens - older.tokens if older else None,
        size=version.size - older.size if older else None,
        files=len(version.manifest),
        came=came.get(version.pk),
    )


@in_project
@require_safe
def compare(request: ProjectRequest, name: str) -> HttpResponse:
    page = SkillPage(request, name)
    before, after = _asked(request, page)
    compared = comparison.compare(
        blobs.bundle(before.manifest), blobs.bundle(after.manifest), limits=settings.LIMITS, whole="all" in request.GET
    )
    history = versions.history(request.project, name)
    context = page.context(
        "versions",
        compared=compared,
        before={"label": f"Version {before.version}", "digest": before.digest},
        after={"label": f"Version {after.version}", "digest": after.digest},
        chosen=(before.version, after.version),
        readable=[version.version for version in history if version.yanked_at is None],
        tokens=after.tokens - before.tokens,
        layouts=layouts(request),
        whole=whole(request),
    )
    return render(request, "skills/versions/compare.html", context)


def _asked(request: ProjectRequest, page: SkillPage) -> tuple[Version, Version]:
    """`from` and `to` in the address; without them the newest two that can be read."""
    readable = [v.version for v in versions.history(request.project, page.name) if v.yanked_at is None]
    newest = [*readable[:2], *readable[:1]][:2] or [""]
    after = request.GET.get("to") or newest[0]
    before = request.GET.get("from") or newest[-1]
    return versions.get(request.project, page.name, before), versions.get(request.project, page.name, after)


def layouts(request: ProjectRequest) -> list[dict[str, Any]]:
    """Side by side, or one column; below 992 px it is one column in any case."""
    chosen = "one" if request.GET.get("layout") == "one" else ""
    return [
        {"label": label, "url": _with(request, layout=value), "current": chosen == value, "one": value == "one"}
        for value, label in (("", "Side by side"), ("one", "One column"))
    ]


def whole(request: ProjectRequest) -> str:
    """The address that shows the folded lines too; nothing where they are shown."""
    return "" if "all" in request.GET else _with(request, all="1")


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
    made = versions.restore(request.project, name, version, by=request.actor)
    messages.success(request, f"Version {made.version} is live. It is version {version} again.")
    return redirect("skill-versions", request.project.slug, normalise(name))


class YankForm(forms.Form):
    reason = forms.CharField(
        max_length=versions.NOTE_CHARS,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown to whoever asks for this version, people and agents.",
        error_messages={"required": "Say why. Whoever looks for this version reads the reason."},
    )


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def yank(request: ProjectRequest, name: str, version: str) -> HttpResponse:
    """Asks for the reason, then makes the version unavailable everywhere."""
    permissions.require(request.actor, roles.WRITE, request.project)
    page = SkillPage(request, name)
    found = versions.get(request.project, name, version)
    form = YankForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            versions.yank(request.project, name, version, reason=form.cleaned_data["reason"], by=request.actor)
        except InvalidRequest as error:
            form.add_error("reason", error.message)
        else:
            messages.success(request, f"Version {version} is withdrawn. Nobody can load it.")
            return redirect("skill-versions", request.project.slug, page.name)
    context = page.context("versions", form=form, version=found, follows=_follows(page, found))
    return render(request, "skills/versions/yank.html", context, status=422 if form.errors else 200)


def _follows(page: SkillPage, found: Version) -> dict[str, Any]:
    """What agents get once this version is gone."""
    left = [v for v in versions.history(page.project, page.name) if v.yanked_at is None and v.pk != found.pk]
    live = page.own and page.row is not None and page.row.pk == found.pk
    return {
        "live": live,
        "next": left[0] if left else None,
        "back": reverse("skill-versions", args=[page.project.slug, page.name]),
    }
