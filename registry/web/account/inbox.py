"""Inbox of a user: list, open and mark notifications as read."""

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
    context = {"page": page, "everything": everything, "query": "show=all&" if everything else ""}
    return render(request, "inbox/list.html", context, partial="inbox/_rows.html")


@signed_in
@require_safe
def follow(request: PersonRequest, notification: int) -> HttpResponse:
    """Mark the notification as read and redirect to the page it is about."""
    return redirect(links.notification_path(notifications.open_notification(request.user, notification)))


@signed_in
@require_POST
def read(request: PersonRequest, notification: int) -> HttpResponse:
    notifications.open_notification(request.user, notification)
    return redirect("inbox")


@signed_in
@require_POST
def read_all(request: PersonRequest) -> HttpResponse:
    count = notifications.mark_all_read(request.user)
    messages.success(request, f"{counted(count, 'notification')} marked as read.")
    return redirect("inbox")
