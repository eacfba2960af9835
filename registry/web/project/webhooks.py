"""Webhooks of a project: where events go, what came of each, and sending again what was given up. For owners."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from registry.core import roles
from registry.core.errors import Conflict, InvalidRequest
from registry.core.notifications import events
from registry.models import Delivery, Endpoint
from registry.remote.outbound_http import host_of
from registry.services.notifications import webhooks
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.humanize import counted

_PAGE = 30
_EVENTS = [(event, kind.label) for event, kind in events.KINDS.items()]
_STATES = {
    "pending": ("Waiting", "", "clock"),
    "sent": ("Delivered", "ok", "check"),
    "failed": ("Given up", "danger", "x"),
    "dropped": ("Dropped", "", "x"),
}


class EndpointForm(forms.Form):
    address = forms.CharField(
        label="Address",
        max_length=500,
        help_text="Begins with https://. Events are sent there as JSON with a signature.",
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": "Write the address that events are sent to."},
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=_EVENTS,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose one event or more."},
    )


@never_cache
@sensitive_post_parameters()
@in_project
@needs(roles.MANAGE, to="open webhooks")
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: ProjectRequest) -> HttpResponse:
    """The answer to the POST is the only page that ever shows the secret."""
    form = EndpointForm(request.POST if request.method == "POST" else None, initial={"events": list(events.KINDS)})
    if form.is_bound and form.is_valid():
        try:
            made, secret = webhooks.create(request.project, **form.cleaned_data, by=request.actor)
        except (InvalidRequest, Conflict) as error:
            form.add_error("address", error.message)
        else:
            return _page(request, made, secret=secret, status=201)
    endpoints = [
        (endpoint, host_of(endpoint.address)) for endpoint in webhooks.listed(request.project, by=request.actor)
    ]
    status = 422 if form.errors else 200
    return render(request, "webhooks/list.html", {"endpoints": endpoints, "form": form}, status=status)


@sensitive_post_parameters()
@in_project
@needs(roles.MANAGE, to="open webhooks")
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: ProjectRequest, webhook: int) -> HttpResponse:
    found = webhooks.find(request.project, webhook, by=request.actor)
    if request.method != "POST":
        return _page(request, found)
    form = EndpointForm(request.POST)
    if form.is_valid():
        try:
            webhooks.update(request.project, webhook, **form.cleaned_data, by=request.actor)
        except InvalidRequest as error:
            form.add_error("address", error.message)
        else:
            messages.success(request, "The webhook is saved.")
            return redirect("webhook", request.project.slug, webhook)
    return _page(request, found, form=form, status=422)


def _page(
    request: ProjectRequest,
    endpoint: Endpoint,
    *,
    form: EndpointForm | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    dead = request.GET.get("show") == "given-up"
    page = Paginator(webhooks.delivery_log(endpoint, dead=dead), _PAGE).get_page(request.GET.get("page"))
    found: dict[str, Any] = {
        "endpoint": endpoint,
        "host": host_of(endpoint.address),
        "form": form or EndpointForm(initial={"address": endpoint.address, "events": endpoint.events}),
        "secret": secret,
        "page": page,
        "rows": [_row(delivery) for delivery in page],
        "dead": dead,
        "dead_count": page.paginator.count if dead else webhooks.delivery_log(endpoint, dead=True).count(),
        "query": "show=given-up&" if dead else "",
    }
    return render(request, "webhooks/webhook.html", found, partial="webhooks/_log.html", status=status)


def _row(delivery: Delivery) -> dict[str, Any]:
    label, tone, icon = _STATES[delivery.state]
    again = delivery.state == "pending" and delivery.attempts > 0
    return {
        "delivery": delivery,
        "label": events.KINDS[delivery.event].label if delivery.event in events.KINDS else "Test",
        "badge": ("Tried again later", "warn", "clock") if again else (label, tone, icon),
        "again": again,
    }


@in_project
@require_POST
def switch(request: ProjectRequest, webhook: int) -> HttpResponse:
    enabled = request.POST.get("enabled") == "yes"
    webhooks.set_enabled(request.project, webhook, enabled, by=request.actor)
    messages.success(request, "The webhook is on." if enabled else "The webhook is off. Events are not kept for it.")
    return redirect("webhook", request.project.slug, webhook)


@never_cache
@in_project
@require_POST
def secret(request: ProjectRequest, webhook: int) -> HttpResponse:
    """The answer is the only page that ever shows the new secret."""
    made = webhooks.renew_secret(request.project, webhook, by=request.actor)
    found = webhooks.find(request.project, webhook, by=request.actor)
    return _page(request, found, secret=made, status=201)


@in_project
@require_POST
def test(request: ProjectRequest, webhook: int) -> HttpResponse:
    webhooks.test(request.project, webhook, by=request.actor)
    messages.success(request, "A test is on its way. Load the page again in a moment to see what came of it.")
    return redirect("webhook", request.project.slug, webhook)


@in_project
@require_POST
def replay(request: ProjectRequest, webhook: int) -> HttpResponse:
    chosen = request.POST.get("delivery", "")
    one = int(chosen) if chosen.isdecimal() and len(chosen) < 19 else None
    if chosen and one is None:
        raise InvalidRequest("There is no such delivery. Nothing was sent.")
    count = webhooks.replay(request.project, webhook, one, by=request.actor)
    messages.success(request, f"{counted(count, 'delivery is,deliveries are')} sent again.")
    return redirect("webhook", request.project.slug, webhook)


@in_project
@require_POST
def remove(request: ProjectRequest, webhook: int) -> HttpResponse:
    webhooks.remove(request.project, webhook, by=request.actor)
    messages.success(request, "The webhook is removed.")
    return redirect("webhooks", request.project.slug)
