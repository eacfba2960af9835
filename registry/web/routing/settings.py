"""Settings of routing: the threshold, the limits of the gate, and the log. Owners change them, others read them."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.core.routing.gate import Limits
from registry.core.routing.golden import CASES
from registry.services import permissions
from registry.services.routing import routing_settings
from registry.services.routing.routing_settings import DEFAULT_THRESHOLD, MOST_LOG_DAYS, Settings
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.routing import tabs
from registry.web.routing.link_words import percent, threshold_from

_DEFAULTS = Limits()
_LEARNED, _FIXED = "learned", "fixed"
_SHARE = "Enter a number from 0 to 100."
_RATE = "Enter a number from 0 to 1, such as 0.85."


def _errors(message: str) -> dict[str, str]:
    return dict.fromkeys(("required", "invalid", "min_value", "max_value"), message)


def _percent_field(label: str, hint: str, *, required: bool = True) -> forms.FloatField:
    return forms.FloatField(
        label=label, help_text=hint, min_value=0, max_value=100, required=required, error_messages=_errors(_SHARE)
    )


class SettingsForm(forms.Form):
    mode = forms.ChoiceField(
        label="Below which probability is no skill offered?",
        choices=[(_LEARNED, "Learn it from the test questions"), (_FIXED, "Use a fixed threshold")],
        widget=forms.RadioSelect,
        error_messages={"required": "Choose one of the two."},
        help_text="Each evaluation learns a threshold that keeps 95 % of the right answers. A fixed one never changes.",
    )
    fixed_threshold = _percent_field("Fixed threshold (%)", "Used only if you chose a fixed threshold.", required=False)
    least_p_at_1 = _percent_field(
        "Right skill first, at least (%)", f"P@1. The default is {100 * _DEFAULTS.least_p_at_1:g}."
    )
    least_mrr = forms.FloatField(
        label="Place of the right skill, at least",
        min_value=0,
        max_value=1,
        error_messages=_errors(_RATE),
        help_text=f"MRR, from 0 to 1. The default is {_DEFAULTS.least_mrr:g}.",
    )
    most_false_triggers = _percent_field(
        "False triggers, at most (%)", f"The default is {100 * _DEFAULTS.most_false_triggers:g}."
    )
    least_cases = forms.IntegerField(
        label="Test questions, at least",
        min_value=1,
        max_value=CASES,
        error_messages=_errors(f"Enter a whole number from 1 to {CASES:,}."),
        help_text=f"With fewer questions an evaluation does not pass. The default is {_DEFAULTS.least_cases}.",
    )
    blocking = forms.BooleanField(
        label="Do not publish a change that fails these limits",
        required=False,
        help_text="The person who publishes can override it with a reason, which the audit log keeps.",
    )
    log_days = forms.IntegerField(
        label="Keep questions for how many days?",
        min_value=0,
        max_value=MOST_LOG_DAYS,
        error_messages=_errors(f"Enter a whole number from 0 to {MOST_LOG_DAYS}."),
        help_text="0 switches the log off and deletes what it holds.",
    )
    log_share = _percent_field("Share of the questions to keep (%)", "100 keeps all, 10 keeps about every tenth.")

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("mode") == _FIXED and data.get("fixed_threshold") is None and not self["fixed_threshold"].errors:
            self.add_error("fixed_threshold", _SHARE)
        return data

    def values(self) -> dict[str, Any]:
        """Return the settings as the service names them."""
        data = dict(self.cleaned_data)
        fixed = data.pop("mode") == _FIXED
        shares = ("least_p_at_1", "most_false_triggers", "log_share")
        data |= {name: data[name] / 100 for name in shares}
        return data | {"fixed_threshold": data["fixed_threshold"] / 100 if fixed else None}


@in_project
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: ProjectRequest) -> HttpResponse:
    if request.method == "POST":
        permissions.require(request.actor, roles.MANAGE, request.project)
    current = routing_settings.of(request.project.pk, request.project.revision)
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=_initial(current))
    if form.is_bound and form.is_valid():
        try:
            routing_settings.change(request.project, by=request.actor, **form.values())
        except InvalidRequest as error:
            form.add_error(error.field if error.field in form.fields else None, error.message)
        else:
            messages.success(request, "Settings saved.")
            return redirect("routing-settings", request.project.slug)
    used, origin = current.threshold_for(None)
    context = tabs.page(
        request,
        "routing-settings",
        form=form,
        settings=current,
        threshold=percent(used),
        threshold_from=threshold_from(origin),
        learned=percent(current.learned_threshold) if current.learned_threshold is not None else "",
        default=percent(DEFAULT_THRESHOLD),
        p_at_1=percent(current.limits.least_p_at_1),
        mrr=f"{current.limits.least_mrr:g}",
        false_triggers=percent(current.limits.most_false_triggers),
        share=percent(current.log_share),
    )
    return render(request, "routing/settings.html", context, status=422 if form.errors else 200)


def _initial(current: Settings) -> dict[str, Any]:
    fixed = current.fixed_threshold
    return {
        "mode": _LEARNED if fixed is None else _FIXED,
        "fixed_threshold": "" if fixed is None else _hundred(fixed),
        "least_p_at_1": _hundred(current.limits.least_p_at_1),
        "least_mrr": f"{current.limits.least_mrr:g}",
        "most_false_triggers": _hundred(current.limits.most_false_triggers),
        "least_cases": current.limits.least_cases,
        "blocking": current.blocking,
        "log_days": current.log_days,
        "log_share": _hundred(current.log_share),
    }


def _hundred(share: float) -> str:
    """Return 0.8 as "80" and 0.125 as "12.5"."""
    return f"{round(100 * share, 6):g}"
