"""Pages about security: quarantine, alarms and suppressed findings of a project, and one scan."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.http import require_POST, require_safe

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.models import Proposal, Version
from registry.services.scans import scan_queries, suppressions
from registry.services.scans.scan_queries import JudgedFinding, ScanDetails
from registry.services.scans.suppressions import DEFAULT_DAYS, MOST_DAYS, REASON_CHARS
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.navigation import may
from registry.web.skills.scan_words import scan_in_words

_PAGE, _SHOWN = 50, 100
_DAYS = f"Enter a number of days from 1 to {MOST_DAYS}."


class SuppressForm(forms.Form):
    rule = forms.CharField(max_length=100, widget=forms.HiddenInput)
    file = forms.CharField(max_length=1000, widget=forms.HiddenInput, strip=False)
    line = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Why is this finding acceptable?",
        max_length=REASON_CHARS,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={
            "required": "Enter a reason. The next reviewer reads it.",
            "max_length": "The reason has %(show_value)s characters. At most %(limit_value)s are allowed.",
        },
    )
    days = forms.IntegerField(
        label="For how many days?",
        min_value=1,
        max_value=MOST_DAYS,
        initial=DEFAULT_DAYS,
        help_text=f"At most {MOST_DAYS}. Then the finding counts again.",
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), _DAYS),
    )


@dataclass(frozen=True, slots=True)
class FindingRow:
    judged: JudgedFinding
    form: SuppressForm | None
    open: bool = False


@in_project
@needs(roles.WRITE, to="open this page")
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    rows = suppressions.listed(request.project, by=request.actor)
    context = {
        "held": scan_queries.quarantined(request.project, by=request.actor)[:_SHOWN],
        "alarms": scan_queries.alarms(request.project, by=request.actor, most=_SHOWN),
        "refused": scan_queries.refused(request.project, by=request.actor, most=_SHOWN),
        "suppressed": Paginator(rows, _PAGE).get_page(request.GET.get("page")),
        "most": _SHOWN,
        "now": timezone.now(),
        "may_review": may(request, roles.REVIEW),
    }
    return render(request, "security/index.html", context)


@in_project
@require_safe
def scan(request: ProjectRequest, digest: str) -> HttpResponse:
    return _scan_page(request, digest)


@in_project
@needs(roles.REVIEW, to="suppress a finding")
@require_POST
def suppress(request: ProjectRequest, digest: str) -> HttpResponse:
    form = SuppressForm(request.POST)
    if not form.is_valid():
        return _scan_page(request, digest, form)
    try:
        made = suppressions.suppress(request.project, digest, **form.cleaned_data, by=request.actor)
    except InvalidRequest as error:
        form.add_error(error.field or None, error.message)
        return _scan_page(request, digest, form)
    messages.success(request, f"The finding is suppressed until {date_format(made.expires_at, 'j M Y')}.")
    return redirect("scan", request.project.slug, digest)


@in_project
@require_POST
def end(request: ProjectRequest, suppression: int) -> HttpResponse:
    ended = suppressions.end(request.project, suppression, by=request.actor)
    messages.success(request, "The suppression ended. The finding counts again.")
    return redirect("scan", request.project.slug, ended.digest)


def _scan_page(request: ProjectRequest, digest: str, sent: SuppressForm | None = None) -> HttpResponse:
    """Show one scan. `sent` is the form of a finding with errors."""
    found = scan_queries.require_details(request.project, digest, by=request.actor)
    context = {
        "scan": found, "words": scan_in_words(found), "rows": _rows(request, found, sent),
        "versions": _versions(request, digest), "proposals": _proposals(request, digest),
        "may_review": may(request, roles.REVIEW), "may_open_index": may(request, roles.WRITE),
    }  # fmt: skip
    return render(request, "security/scan.html", context, status=422 if sent is not None else 200)


def _rows(request: ProjectRequest, found: ScanDetails, sent: SuppressForm | None) -> list[FindingRow]:
    if not may(request, roles.REVIEW):
        return [FindingRow(judged, None) for judged in found.findings]
    failed = (sent["rule"].value(), sent["file"].value(), str(sent["line"].value() or 0)) if sent else None
    rows = []
    for place, judged in enumerate(found.findings):
        rule, file, line = suppressions.key(judged.finding)
        same = failed == (rule, file, str(line))
        initial = {"rule": rule, "file": file, "line": line, "days": DEFAULT_DAYS}
        form = sent if same and sent else SuppressForm(initial=initial, auto_id=f"finding-{place}-%s")
        rows.append(FindingRow(judged, form, open=same))
    return rows


def _versions(request: ProjectRequest, digest: str) -> Any:
    rows = Version.objects.filter(skill__project=request.project, digest=digest, yanked_at=None)
    return rows.select_related("skill").order_by("-pk")[:10]


def _proposals(request: ProjectRequest, digest: str) -> Any:
    if not may(request, roles.REVIEW):
        return ()
    return Proposal.objects.filter(project=request.project, result_digest=digest).order_by("-pk")[:10]
