"""View of one file of a draft."""

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
from registry.web import request_size
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
    context = {
        "place": place, "urls": Addresses(place), "entry": entry, "error": error, "text": typed,
        "tokens": token_estimate.estimate(text) if text is not None else None, "raw": Addresses(place).raw(path),
        "path": request.POST.get("path", path) if error else path, "is_image": content_types.is_image(path),
    }  # fmt: skip
    return render(request, "editor/file.html", context, status=STATUS[type(error)] if error else 200)


def _change(request: ProjectRequest, place: Place, path: str) -> HttpResponse:
    """Save the form: text or replacement, and path."""
    new_path = request.POST.get("path", path).strip() or path
    try:
        if request.POST.get("do") == "remove":
            draft_files.remove(place, path, by=request.actor)
            messages.success(request, f"Removed {path} from the draft.")
            return redirect(f"{Addresses(place).editor}#files")
        request_size.check(request)
        if replacement := request.FILES.get("replacement"):
            draft_files.add(place, {path: replacement.read()}, by=request.actor)
        elif "text" in request.POST:
            draft_files.write_text(place, path, request.POST["text"], by=request.actor)
        draft_files.rename(place, path, new_path, by=request.actor)
    except SkillsiteError as error:
        return _page(request, place, path, error)
    messages.success(request, f"Saved {new_path} in the draft.")
    return redirect(f"{Addresses(place).editor}#files")


@in_project
@never_cache
@require_safe
def raw(request: ProjectRequest, path: str, name: str = "") -> HttpResponse:
    """Return the bytes of a file with headers that keep a browser from running it."""
    entry = draft_files.entry_of(drafts.find(Place(request.project, name), by=request.actor), path)
    response = HttpResponse(
        blobs.read(entry), content_type=content_types.content_type(path), headers=content_types.HEADERS
    )
    if content_types.is_attachment(path):
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rsplit('/', 1)[-1])}"
    return response
