"""The style guide: all components of the design system in all states, for developers."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone

from registry.core.findings import Finding, Severity
from registry.web import labels
from registry.web.htmx import render

_NOW_DIGEST = "sha256:4f9c21ab77e0" + "0" * 52
_NEXT_DIGEST = "sha256:b07e93d4c158" + "0" * 52
_SURFACES = ["surface", "surface-sunken", "surface-hover", "surface-selected", "surface-raised"]
_LINES = ["line-hair", "line", "line-strong", "line-control"]
_TEXTS = ["text-faint", "text-muted", "text", "text-ink"]
_HUES = {
    "accent": ["wash", "tint", "mark", "line", "solid", "text"],
    "ok": ["wash", "tint", "mark", "line", "solid", "text"],
    "warn": ["wash", "tint", "line", "solid", "text"],
    "danger": ["wash", "tint", "mark", "line", "solid", "text"],
}
_SIGN = re.compile(r'<symbol id="i-([a-z]+)"')


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    description: str
    source: str
    kind: str
    tokens: int
    loads: list[int]
    changed_hours: int
    changed_by: str
    hides: bool = False
    proposals: int = 0
    long: bool = False

    @property
    def total(self) -> int:
        return sum(self.loads)

    @property
    def changed(self) -> Any:
        return timezone.now() - timedelta(hours=self.changed_hours)


_ROWS = [
    _Row("brand-voice", "How we write to customers: tone, words we avoid, greetings, sign-offs by country",
         "project", "knowledge", 920, [9, 12, 10, 13, 13, 3, 2, 15, 9, 9] * 3, 50, "Ada Okafor", hides=True),
    _Row("expense-report", "Fill in and check a travel expense report",
         "project", "tool", 1_840, [2, 3, 1, 4, 5, 6, 8, 9, 7, 12] * 3, 3, "Maja Lindqvist", True, 1),
    _Row("incident-summary", "Turn an incident channel into one page with a timeline, causes and owners",
         "bundled", "tool", 1_260, [0] * 18 + [17, 5, 5, 3] + [1] * 8, 1_500, "library 2.3.0"),
    _Row("invoice-matching", "Match supplier invoices to purchase orders and explain every difference",
         "imported", "tool", 6_180, [0] * 30, 500, "Jun Watanabe", long=True),
]  # fmt: skip

_FINDINGS = [
    Finding("duplicate-key", Severity.ERROR, "SKILL.md", 4, "The key description appears twice.",
            "Keep one of the two and save."),
    Finding("outside-address", Severity.WARNING, "SKILL.md", 42,
            "The text now sends agents to an outside address with a secret.",
            "Approve only if you know who runs costcentres.example.com."),
    Finding("vague-time", Severity.HINT, "SKILL.md", 24, "“As soon as possible” leaves the agent guessing.",
            "Give a number of days."),
]  # fmt: skip


class _SampleForm(forms.Form):
    name = forms.CharField(
        help_text="Agents use this name.",
        error_messages={"required": "Give the skill a name, for example expense-report."},
    )
    description = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Say what it does, then “Use when …”. Agents choose a skill by its description.",
        error_messages={"required": "Write at least one sentence. Agents choose a skill by it."},
    )
    kind = forms.ChoiceField(choices=list(labels.KINDS.items()), widget=forms.RadioSelect, initial="tool")
    project = forms.ChoiceField(choices=[("ops", "Customer operations"), ("fin", "Finance")])
    note = forms.CharField(required=False)
    tell = forms.BooleanField(label="Notify members who use this skill", required=False, initial=True)


def styleguide(request: HttpRequest) -> HttpResponse:
    if not getattr(request.user, "is_staff", False):
        raise Http404
    now = timezone.now()
    refused = _SampleForm({"kind": "tool", "project": "ops"}, auto_id="refused_%s")
    refused.is_valid()
    swatches = {"Surfaces": _SURFACES, "Lines": _LINES, "Text": _TEXTS}
    swatches |= {hue.capitalize(): [f"{hue}-{job}" for job in jobs] for hue, jobs in _HUES.items()}
    return render(
        request,
        "styleguide.html",
        {
            "swatches": swatches,
            "icons": _SIGN.findall(render_to_string("shell/sprite.html")),
            "rows": _ROWS,
            "findings_list": _FINDINGS,
            "no_findings": [],
            "form": _SampleForm(),
            "refused": refused,
            "digest": _NOW_DIGEST,
            "next_digest": _NEXT_DIGEST,
            "catalog": [("Project and imported", 303), ("Built-in", 145)],
            "states": ["open", "approved", "changes-requested", "stale", "rejected", "withdrawn"],
            "trail": [("Skills", "#main"), ("expense-report", "#main"), ("Edit", "")],
            "hours_ago": now - timedelta(hours=3),
            "days_ago": now - timedelta(days=6),
            "long_ago": now - timedelta(days=64),
            "soon": now + timedelta(days=12),
            "busy": [9, 12, 10, 13, 13, 3, 2, 15, 9, 9] * 3,
            "quiet": [0] * 30,
            "page": Paginator(range(312), 50).page(2),
        },
    )
