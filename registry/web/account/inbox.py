"""What a person was told: read, opened, marked as read. Everybody sees their own and nobody else's."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from registry.services.notifications import links, notifications
from registry.web.access import PersonRequest, signed_in
from registry.web.htmx import render
from registry.web.humanize import counted

_PAGE = 30


@signed_in
@require_safe
def index(request: PersonRequest) -> HttpResponse:
    everything = request.GET.get("show") == "all"
    shown = notifications.inbox(request.user, unread=not everything)
    page = Paginator(shown, _PAGE).get_page(request.GET.get("page"))
    found = {"page": page, "everything": everything, "query": "show=all&" if everything else ""}
    return render(request, "inbox/list.html", found, partial="inbox/_rows.html")


@signed_in
@require_safe
def follow(request: PersonRequest, notice: int) -> HttpResponse:
    """Goes to what the entry is about. It counts as read from then on, which is nobody else's business."""
    return redirect(links.notice_path(notifications.open_one(request.user, notice)))


@signed_in
@require_POST
def read(request: PersonRequest, notice: int) -> HttpResponse:
    notifications.open_one(request.user, notice)
    return redirect("inbox")


@signed_in
@require_POST
def read_all(request: PersonRequest) -> HttpResponse:
    count = notifications.mark_all_read(request.user)
    messages.success(request, f"{counted(count, 'entry is,entries are')} marked as read.")
    return redirect("inbox")
