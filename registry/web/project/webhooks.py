"""Webhooks of a project, for owners: settings, secrets and the log of deliveries."""

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
_EVENTS = [(event, kind.label) for event, kind in events.TYPES.items()]
_CHOSEN_FIRST = [event for event in events.TYPES if event != events.AUDIT_HEAD]  # for programs, not for a chat
_STATES = {
    "pending": ("Waiting", "", "clock"),
    "sent": ("Delivered", "ok", "check"),
    "failed": ("Failed", "danger", "x"),
    "dropped": ("Dropped", "", "x"),
}


class EndpointForm(forms.Form):
    address = forms.CharField(
        label="Address",
        max_length=500,
        help_text="Starts with https://. We send events there as signed JSON.",
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": "Enter the address to send events to."},
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=_EVENTS,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )


@never_cache
@sensitive_post_parameters()
@in_project
@needs(roles.MANAGE, to="open webhooks")
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: ProjectRequest) -> HttpResponse:
    """List the webhooks. The response to a POST is the only page that shows the new secret."""
    form = EndpointForm(request.POST if request.method == "POST" else None, initial={"events": _CHOSEN_FIRST})
    if form.is_bound and form.is_valid():
        try:
            endpoint, secret = webhooks.create(request.project, **form.cleaned_data, by=request.actor)
        except (InvalidRequest, Conflict) as error:
            form.add_error(error.field or "address", error.message)
        else:
            return _page(request, endpoint, secret=secret, status=201)
    endpoints = [
        (endpoint, host_of(endpoint.address)) for endpoint in webhooks.list_endpoints(request.project, by=request.actor)
    ]
    status = 422 if form.errors else 200
    return render(request, "webhooks/list.html", {"endpoints": endpoints, "form": form}, status=status)


@sensitive_post_parameters()
@in_project
@needs(roles.MANAGE, to="open webhooks")
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: ProjectRequest, webhook: int) -> HttpResponse:
    endpoint = webhooks.find(request.project, webhook, by=request.actor)
    if request.method != "POST":
        return _page(request, endpoint)
    form = EndpointForm(request.POST)
    if form.is_valid():
        try:
            webhooks.update(request.project, webhook, **form.cleaned_data, by=request.actor)
        except InvalidRequest as error:
            form.add_error(error.field or "address", error.message)
        else:
            messages.success(request, "Webhook saved.")
            return redirect("webhook", request.project.slug, webhook)
    return _page(request, endpoint, form=form, status=422)


def _page(
    request: ProjectRequest,
    endpoint: Endpoint,
    *,
    form: EndpointForm | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    failed = request.GET.get("show") == "given-up"
    page = Paginator(webhooks.delivery_log(endpoint, failed=failed), _PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "endpoint": endpoint,
        "host": host_of(endpoint.address),
        "form": form or EndpointForm(initial={"address": endpoint.address, "events": endpoint.events}),
        "secret": secret,
        "page": page,
        "rows": [_row(delivery) for delivery in page],
        "failed": failed,
        "failed_count": page.paginator.count if failed else webhooks.delivery_log(endpoint, failed=True).count(),
        "query": "show=given-up&" if failed else "",
    }
    return render(request, "webhooks/webhook.html", context, partial="webhooks/_log.html", status=status)


def _row(delivery: Delivery) -> dict[str, Any]:
    label, tone, icon = _STATES[delivery.state]
    retrying = delivery.state == "pending" and delivery.attempts > 0
    return {
        "delivery": delivery,
        "label": events.TYPES[delivery.event].label if delivery.event in events.TYPES else "Test",
        "badge": ("Retrying", "warn", "clock") if retrying else (label, tone, icon),
        "retrying": retrying,
    }


@in_project
@require_POST
def switch(request: ProjectRequest, webhook: int) -> HttpResponse:
    enabled = request.POST.get("enabled") == "yes"
    webhooks.set_enabled(request.project, webhook, enabled, by=request.actor)
    messages.success(request, "Webhook turned on." if enabled else "Webhook turned off. New events are not sent later.")
    return redirect("webhook", request.project.slug, webhook)


@never_cache
@in_project
@require_POST
def secret(request: ProjectRequest, webhook: int) -> HttpResponse:
    """Replace the secret. The response is the only page that shows the new one."""
    new_secret = webhooks.renew_secret(request.project, webhook, by=request.actor)
    endpoint = webhooks.find(request.project, webhook, by=request.actor)
    return _page(request, endpoint, secret=new_secret, status=201)


@in_project
@require_POST
def test(request: ProjectRequest, webhook: int) -> HttpResponse:
    webhooks.test(request.project, webhook, by=request.actor)
    messages.success(request, "Test event queued. Reload this page in a moment to see the result.")
    return redirect("webhook", request.project.slug, webhook)


@in_project
@require_POST
def replay(request: ProjectRequest, webhook: int) -> HttpResponse:
    chosen = request.POST.get("delivery", "")
    one = int(chosen) if chosen.isdecimal() and len(chosen) < 19 else None
    if chosen and one is None:
        raise InvalidRequest("This delivery does not exist. Nothing was sent.")
    count = webhooks.replay(request.project, webhook, one, by=request.actor)
    messages.success(request, f"{counted(count, 'delivery,deliveries')} queued to be sent again.")
    return redirect("webhook", request.project.slug, webhook)


@in_project
@require_POST
def remove(request: ProjectRequest, webhook: int) -> HttpResponse:
    webhooks.remove(request.project, webhook, by=request.actor)
    messages.success(request, "Webhook removed.")
    return redirect("webhooks", request.project.slug)
