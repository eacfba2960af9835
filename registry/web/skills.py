"""The skills of a project, and one skill with its files and versions."""

from urllib.parse import quote

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from registry.core import bundle as bundle_files
from registry.core import media
from registry.core.errors import NotFound
from registry.models import Version
from registry.services import catalog, versions
from registry.web import markdown
from registry.web.access import ProjectRequest, in_project


@in_project
@require_safe
def skills(request: ProjectRequest) -> HttpResponse:
    view = catalog.view(request.project.pk, request.project.revision)
    return render(request, "skills/list.html", {"outcomes": view.outcomes, "left_out": view.left_out})


@in_project
@require_safe
def skill(request: ProjectRequest, name: str) -> HttpResponse:
    outcome, loaded = catalog.inspect(request.project, name)
    said = loaded.skill_md() if loaded else None

    def link(path: str) -> str | None:
        if loaded is None or path not in {entry.path for entry in loaded.files}:
            return None
        return reverse("skill-file", args=[request.project.slug, outcome.name, path])

    context = {
        "outcome": outcome,
        "loaded": loaded,
        "said": said,
        "html": markdown.render(said.instructions, link=link) if said else "",
        "versions": _history(request, name),
    }
    return render(request, "skills/skill.html", context)


def _history(request: ProjectRequest, name: str) -> list[Version]:
    try:
        return versions.history(request.project, name)
    except NotFound:
        return []


@in_project
@require_safe
def file(request: ProjectRequest, name: str, path: str) -> HttpResponse:
    """The raw bytes of one file, inert in a browser."""
    _, loaded = catalog.inspect(request.project, name)
    if loaded is None:
        raise NotFound("Every version of this skill was withdrawn.")
    return _bytes(path, loaded.read(loaded.entry(path)), attach=media.is_attachment(path))


@in_project
@require_safe
def download(request: ProjectRequest, name: str) -> HttpResponse:
    _, loaded = catalog.inspect(request.project, name)
    if loaded is None:
        raise NotFound("Every version of this skill was withdrawn.")
    return _bytes(f"{loaded.name}.zip", bundle_files.write_zip(loaded.bundle()), attach=True)


def _bytes(path: str, content: bytes, *, attach: bool) -> HttpResponse:
    response = HttpResponse(content, content_type=media.content_type(path), headers=media.HEADERS)
    if attach:
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}"
    return response
