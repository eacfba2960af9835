"""Views of one skill: instructions, source, files, usage, and its actions."""

from collections.abc import Iterable
from itertools import groupby
from pathlib import PurePosixPath
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core import content_types, roles
from registry.core.archive import zip_bundle as bundle_files
from registry.core.bundle import SKILL_MD, FileEntry
from registry.core.errors import NotFound, Quarantined
from registry.services import permissions
from registry.services.catalog import catalog
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.routing import health
from registry.services.skills import skills
from registry.services.skills.stale_proposals import DELETE
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.navigation import may_publish
from registry.web.render import markdown, marked_text
from registry.web.render.sparkline import trend
from registry.web.skills import file_preview, routing_impact
from registry.web.skills.routing_impact import Shown
from registry.web.skills.skill_page import DAYS, SkillPage


@in_project
@require_safe
def instructions(request: ProjectRequest, name: str, version: str | None = None) -> HttpResponse:
    page = SkillPage(request, name, version)
    if page.loaded is None:
        return render(request, "skills/skill/nothing.html", page.context(""), status=404)
    text = page.loaded.read(page.loaded.entry(SKILL_MD)).decode()
    html = markdown.render(page.loaded.skill_md().instructions, link=page.link, image=page.image)
    unseen = marked_text.summary(text, comments=False)
    return render(request, "skills/skill/instructions.html", page.context("", html=html, unseen=unseen))


@in_project
@require_safe
def source(request: ProjectRequest, name: str, version: str | None = None) -> HttpResponse:
    """Show SKILL.md as it is, with invisible characters made visible."""
    page = SkillPage(request, name, version)
    text = page.loaded_or_404.read(page.loaded_or_404.entry(SKILL_MD)).decode()
    context = page.context(
        "source", lines=marked_text.lines(text), summary=marked_text.summary(text), windows="\r\n" in text,
        path=SKILL_MD,
        raw=page.address("file", SKILL_MD),
        routing_findings=health.of_skill(request.project, page.name) if version is None else (),
    )  # fmt: skip
    return render(request, "skills/skill/source.html", context)


@in_project
@require_safe
def files(request: ProjectRequest, name: str, version: str | None = None) -> HttpResponse:
    page = SkillPage(request, name, version)
    return render(
        request, "skills/skill/files.html", page.context("files", folders=_folders(page, page.loaded_or_404.files))
    )


def _folders(page: SkillPage, entries: Iterable[FileEntry]) -> list[tuple[str, list[dict[str, object]]]]:
    """Group the files by directory, the top directory first."""

    def folder(entry: FileEntry) -> str:
        parent = PurePosixPath(entry.path).parent.as_posix()
        return "" if parent == "." else parent

    facts = page.facts
    ordered = sorted(entries, key=lambda entry: (folder(entry).encode(), entry.path != SKILL_MD, entry.path.encode()))
    return [
        (
            directory,
            [
                {
                    "entry": entry,
                    "name": PurePosixPath(entry.path).name,
                    "icon": file_preview.icon(entry.path),
                    "url": page.address("file-page", entry.path),
                    "raw": page.address("file", entry.path),
                    "tokens": facts.tokens.get(entry.path) if facts else None,
                }
                for entry in group
            ],
        )
        for directory, group in groupby(ordered, key=folder)
    ]


@in_project
@require_safe
def file_page(request: ProjectRequest, name: str, path: str, version: str | None = None) -> HttpResponse:
    page = SkillPage(request, name, version)
    entry = page.loaded_or_404.entry(path)
    preview = file_preview.preview(page, entry, source=request.GET.get("as") == "source")
    context = page.context(
        "files", entry=entry, preview=preview, raw=page.address("file", path), here=page.address("file-page", path),
        tokens=page.facts.tokens.get(path) if page.facts else None,
    )  # fmt: skip
    return render(request, "skills/skill/file.html", context)


@in_project
@require_safe
def file(request: ProjectRequest, name: str, path: str, version: str | None = None) -> HttpResponse:
    """Return the bytes of one file with headers that keep a browser from running it."""
    loaded = SkillPage(request, name, version).loaded_or_404
    attach = content_types.is_attachment(path) or "download" in request.GET
    return _bytes(path, loaded.read(loaded.entry(path)), attach=attach)


@in_project
@require_safe
def download(request: ProjectRequest, name: str, version: str | None = None) -> HttpResponse:
    page = SkillPage(request, name, version)
    loaded = page.loaded_or_404
    if page.row is not None and page.row.quarantined_at is not None:
        raise Quarantined(f"Version {page.row.version} of {page.name} is in quarantine and can’t be downloaded.")
    label = f"{loaded.name}-{version}.zip" if version else f"{loaded.name}.zip"
    return _bytes(label, bundle_files.write_zip(loaded.bundle()), attach=True)


def _bytes(path: str, content: bytes, *, attach: bool) -> HttpResponse:
    response = HttpResponse(content, content_type=content_types.content_type(path), headers=content_types.HEADERS)
    if attach:
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}"
    return response


@in_project
@require_safe
def usage(request: ProjectRequest, name: str) -> HttpResponse:
    page = SkillPage(request, name)
    busiest = max(page.usage.days, key=lambda day: day[1])
    values = [loads for _, loads in page.usage.days]
    context = page.context(
        "usage", usage=page.usage, busiest=busiest, trend=trend(values), days=DAYS, chart=_chart(values)
    )
    return render(request, "skills/skill/usage.html", context)


def _chart(values: list[int]) -> dict[str, object]:
    """Return bars for a box of 720 × 180, one a day, with a scale that ends on a round number."""
    top = _round_up(max(values, default=0))
    step = 720 / len(values)
    heights = [round(180 * value / top, 2) for value in values]
    bars = [
        {"x": round((place + 0.15) * step, 2), "width": round(step * 0.7, 2), "height": height, "y": 180 - height}
        for place, height in enumerate(heights)
    ]
    return {"bars": bars, "top": top, "half": top / 2 if top % 2 else top // 2}


def _round_up(value: int) -> int:
    """Return the next of 2, 4, 10, 20, 40, 100 …, so that the middle of the scale is a whole number."""
    scale = 1
    while True:
        for step in (2, 4, 10):
            if value <= step * scale:
                return step * scale
        scale *= 10


# -- Actions ----------------------------------------------------------------------------------------------------


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def disable(request: ProjectRequest, name: str) -> HttpResponse:
    """Ask whether to switch the skill off, then do it."""
    if request.method != "POST":
        permissions.require(request.actor, roles.WRITE, request.project)
        page = SkillPage(request, name)
        return _confirm(page, "Switch off", "disable", routing_impact.of_absence(request, page.name))
    skills.disable(request.project, name, by=request.actor)
    messages.success(
        request, f"{name} is switched off. Agents can no longer use it.", extra_tags=_undo(request, "enable", name)
    )
    return redirect("skill", request.project.slug, name)


@in_project
@require_POST
def enable(request: ProjectRequest, name: str) -> HttpResponse:
    skills.enable(request.project, name, by=request.actor)
    messages.success(request, f"{name} is switched on. Agents get it with their next request.")
    return redirect("skill", request.project.slug, name)


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: ProjectRequest, name: str) -> HttpResponse:
    """Ask whether to delete the skill, or to propose that, then do it."""
    if request.method != "POST":
        permissions.require(request.actor, roles.WRITE, request.project)
        page = SkillPage(request, name)
        if not page.own:
            raise NotFound(f"The project has no skill {page.name}.")
        label = "Return to built-in" if page.hides else "Delete"
        asks = "delete" if may_publish(request) else "propose_deletion"
        return _confirm(page, label, asks, routing_impact.of_deletion(request, page.name))
    skills.delete(request.project, name, base=request.POST.get("base") or None, by=request.actor)
    built_in = catalog.find(request.project.pk, name) is not None
    message = (
        f"Agents get the built-in {name} again." if built_in else f"{name} is deleted. Agents can no longer use it."
    )
    messages.success(request, message, extra_tags=_undo(request, "undelete", name))
    return redirect("skill", request.project.slug, name) if built_in else redirect("skills", request.project.slug)


@in_project
@require_POST
def undelete(request: ProjectRequest, name: str) -> HttpResponse:
    reason = request.POST.get("gate_reason", "")
    version = skills.undelete(request.project, name, gate_reason=reason, by=request.actor)
    messages.success(request, f"{name} is restored with version {version.version}.")
    return redirect("skill", request.project.slug, name)


@in_project
@require_POST
def propose_deletion(request: ProjectRequest, name: str) -> HttpResponse:
    suggestion = Suggestion(name, None, request.POST.get("justification", ""), kind=DELETE)
    proposed = proposals.propose(request.project, suggestion, by=request.actor)
    messages.success(request, proposed.message)
    return redirect("proposal", request.project.slug, proposed.proposal.pk)


def _confirm(page: SkillPage, label: str, asks: str, impact: Shown | None) -> HttpResponse:
    """Show the question of a dialog as a page. htmx gets the impact alone, for the dialog."""
    context = page.context("", asks=f"skills/skill/_{asks}.html", label=label, impact=impact)
    return render(page.request, "skills/skill/confirm.html", context, partial="routing/_impact_note.html")


def _undo(request: ProjectRequest, verb: str, name: str) -> str:
    """Return the address that the undo button of the toast posts to."""
    return reverse(f"skill-{verb}", args=[request.project.slug, name])
