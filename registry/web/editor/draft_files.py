"""One file of a draft: its text, its path, its replacement, and its bytes for the preview."""

from urllib.parse import quote

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from registry.core import content_types
from registry.core.catalog import token_estimate
from registry.core.errors import SkillsiteError
from registry.services.drafts import draft_files, drafts
from registry.services.drafts.drafts import Place
from registry.services.files import blobs
from registry.web import sending
from registry.web.access import ProjectRequest, in_project
from registry.web.editor.editor_page import Addresses
from registry.web.htmx import render
from registry.web.middleware import STATUS


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def file(request: ProjectRequest, path: str, name: str = "") -> HttpResponse:
    place = Place(request.project, name)
    if request.method == "POST":
        return _change(request, place, path)
    return _page(request, place, path)


def _page(request: ProjectRequest, place: Place, path: str, error: SkillsiteError | None = None) -> HttpResponse:
    entry = draft_files.entry_of(drafts.find(place, by=request.actor), path)
    text = draft_files.text_of(entry)
    typed = request.POST.get("text", text) if error else text
    shown = {
        "place": place, "urls": Addresses(place), "entry": entry, "error": error, "text": typed,
        "tokens": token_estimate.estimate(text) if text is not None else None, "raw": Addresses(place).raw(path),
        "path": request.POST.get("path", path) if error else path, "is_image": content_types.is_image(path),
    }  # fmt: skip
    return render(request, "editor/file.html", shown, status=STATUS[type(error)] if error else 200)


def _change(request: ProjectRequest, place: Place, path: str) -> HttpResponse:
    """Text, replacement and path in one form: whatever was changed of them is kept."""
    to = request.POST.get("path", path).strip() or path
    try:
        if request.POST.get("do") == "remove":
            draft_files.remove(place, path, by=request.actor)
            messages.success(request, f"{path} is out of the draft.")
            return redirect(f"{Addresses(place).editor}#files")
        sending.check(request)
        if sent := request.FILES.get("replacement"):
            draft_files.add(place, {path: sent.read()}, by=request.actor)
        elif "text" in request.POST:
            draft_files.write_text(place, path, request.POST["text"], by=request.actor)
        draft_files.rename(place, path, to, by=request.actor)
    except SkillsiteError as error:
        return _page(request, place, path, error)
    messages.success(request, f"{to} is kept in the draft.")
    return redirect(f"{Addresses(place).editor}#files")


@in_project
@never_cache
@require_safe
def raw(request: ProjectRequest, path: str, name: str = "") -> HttpResponse:
    """The bytes of one file of the person's own draft, inert in a browser."""
    entry = draft_files.entry_of(drafts.find(Place(request.project, name), by=request.actor), path)
    response = HttpResponse(
        blobs.read(entry), content_type=content_types.content_type(path), headers=content_types.HEADERS
    )
    if content_types.is_attachment(path):
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}"
    return response
