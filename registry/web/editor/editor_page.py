"""View model of the editor pages."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString

from registry.core.bundle import SKILL_MD, FileEntry
from registry.core.catalog import precedence, token_estimate
from registry.core.catalog.precedence import Candidate
from registry.core.errors import InvalidInput, SkillsiteError, TooLarge
from registry.core.findings import Finding, Severity, in_reading_order
from registry.core.format import skill_form
from registry.core.format.skill_form import Fields
from registry.models import Draft
from registry.services.catalog import catalog, skill_list
from registry.services.drafts import draft_checks, draft_files, drafts
from registry.services.drafts.draft_checks import Report
from registry.services.drafts.drafts import FORM, RAW, Place
from registry.services.routing import health, impact
from registry.services.routing.changes import ChangedSkill
from registry.web.access import ProjectRequest
from registry.web.humanize import counted
from registry.web.navigation import may_publish
from registry.web.render import markdown
from registry.web.skills import name_options, routing_impact
from registry.web.skills.routing_impact import Shown

_TONES = {Severity.ERROR: ("error", "error"), Severity.WARNING: ("warn", "warning"), Severity.HINT: ("hint", "info")}
# The form field for each group of lint rules. Other findings link to code mode.
_FIELDS = {
    "name": "f-name",
    "description": "f-description",
    "kind": "f-kind",
    "requires": "f-requires",
    "body": "f-text",
    "loses": "f-description",
    "routes": "f-description",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A finding with a link to its line, field, file, or to code mode."""

    finding: Finding
    tone: str
    sign: str
    label: str = ""
    target: str = ""
    line: int | None = None
    act: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class FileRow:
    entry: FileEntry
    folder: str
    filename: str
    tokens: int | None
    url: str

    @property
    def is_text(self) -> bool:
        return self.tokens is not None

    @property
    def action(self) -> str:
        return "Edit" if self.is_text else "Replace"


class Addresses:
    """Addresses of the editor pages of one draft."""

    def __init__(self, place: Place) -> None:
        self.slug, self.name, self.copy_of = place.project.slug, place.name, place.copy_of

    @property
    def editor(self) -> str:
        if self.name:
            return reverse("skill-edit", args=[self.slug, self.name])
        return reverse("skill-new", args=[self.slug])

    @property
    def form_action(self) -> str:
        return f"{self.editor}?{urlencode({'from': self.copy_of})}" if self.copy_of else self.editor

    @property
    def workflow(self) -> str:
        return f"{self.editor}workflow/"

    def file(self, path: str) -> str:
        return f"{self.editor}files/{quote(path)}"

    def raw(self, path: str) -> str:
        return f"{self.editor}raw/{quote(path)}"

    @property
    def conflict(self) -> str:
        return reverse("skill-conflict", args=[self.slug, self.name])

    @property
    def back(self) -> str:
        return reverse("skill", args=[self.slug, self.name]) if self.name else reverse("skills", args=[self.slug])


def context(
    request: ProjectRequest, place: Place, draft: Draft, *, error: SkillsiteError | None = None, files_error: str = ""
) -> dict[str, Any]:
    report = draft_checks.check(request.project, draft)
    effective = catalog.find(request.project.pk, place.name) if place.name else None
    winner = effective.winner if effective else None
    urls = Addresses(place)
    view = catalog.view(request.project.pk, request.project.revision)
    shown = in_reading_order([*report.findings, *_health(request, draft, report)])
    findings = [_row(finding, draft, report) for finding in shown]
    typed_name = report.parsed.name if report.parsed and "name" not in report.missing else ""
    return {
        "place": place, "draft": draft, "urls": urls, "error": error, "files_error": files_error,
        "mode": draft.content["mode"], "note": draft.content["note"], "fields": drafts.typed_fields(draft),
        "state": drafts.state(draft), "saved": draft.pk is not None, "limits": settings.LIMITS,
        "text": draft.content["text"], "no_form": _no_form(draft), "winner": winner,
        "outdated": bool(draft.pk and place.name and precedence.digest_of(effective) != draft.base),
        "version": drafts.next_version(request.project, place.name or typed_name), "report": report,
        "rows": findings, "tally": tally(shown),
        "errors": report.errors + (report.blocked if may_publish(request) else 0),
        "name_rows": _about_the_name(findings),
        "cost": _cost(report, winner), "preview": _preview(report, draft, urls),
        **name_options.name_options(view, without=place.name), "known_tags": skill_list.tags(view),
        "folded": _folded(drafts.typed_fields(draft)), "blank": not place.name and draft.pk is None,
        "proposing": not may_publish(request),
        "goes_live": "you publish" if may_publish(request) else "a reviewer approves it",
        "justification": request.POST.get("justification", ""),
        "impact": _impact(request, draft, report), "gate_reason": request.POST.get("gate_reason", ""),
        "files": [_file(entry, urls) for entry in draft.manifest], "removed": draft_files.removed(draft),
    }  # fmt: skip


def _health(request: ProjectRequest, draft: Draft, report: Report) -> tuple[Finding, ...]:
    """Return what routing finds about the draft: a skill like it, or one that its description finds first."""
    if report.parsed is None or report.missing or draft.pk is None:
        return ()
    return health.of_draft(request.project, draft.name or report.parsed.name, report.parsed)


def _impact(request: ProjectRequest, draft: Draft, report: Report) -> Shown | None:
    """Return what the draft does to the test questions, as far as it can be told while somebody types."""
    if report.parsed is None or report.missing or draft.pk is None:
        return None
    changed = ChangedSkill(draft.name or report.parsed.name, drafts.text(draft).encode())
    return routing_impact.of_change(request, [changed], seconds=impact.LIVE_SECONDS, most=routing_impact.FEW_ROWS)


def _folded(fields: Fields) -> int:
    """Return the number of entries in the folded part of the form."""
    return sum(len(skill_form.items(value)) for value in (fields.triggers, fields.inputs, fields.outputs))


def _no_form(draft: Draft) -> SkillsiteError | None:
    """Return the reason why the form cannot show this text, if any."""
    if draft.content["mode"] == FORM:
        return None
    try:
        skill_form.parse(draft.content["text"], limits=settings.LIMITS)
    except (InvalidInput, TooLarge) as error:
        return error
    return None


def _about_the_name(rows: Iterable[Row]) -> list[Row]:
    """Return the findings shown beside the name. A missing name is listed under Checks only."""
    return [row for row in rows if row.target == "f-name" and row.finding.rule != "name-missing"]


def _row(finding: Finding, draft: Draft, report: Report) -> Row:
    tone, sign = _TONES[finding.severity]
    fix = f"fix:{finding.rule}:{finding.line or ''}" if draft_checks.fixed_text(finding, report) is not None else ""
    if finding.file != SKILL_MD:
        present = any(entry.path == finding.file for entry in draft.manifest)
        at = f"{finding.file}:{finding.line}" if finding.line else finding.file
        return Row(finding, tone, sign, at, act=f"open:{finding.file}" if present else "", fix=fix)
    if draft.content["mode"] == RAW:
        label = f"line {finding.line}" if finding.line else ""
        return Row(finding, tone, sign, label, "f-text", finding.line, fix=fix)
    return _form_row(Row(finding, tone, sign, fix=fix), report)


def _form_row(row: Row, report: Report) -> Row:
    """Add the link to a field, a line of the instructions, or code mode."""
    finding, basics = row.finding, (row.finding, row.tone, row.sign)
    field = _FIELDS.get(finding.rule.partition("-")[0], "")
    in_body = (
        report.parsed is not None and finding.line is not None and finding.line >= report.parsed.document.body_line
    )
    if in_body and finding.line is not None:
        line = max(1, finding.line - report.first_line + 1)
        return Row(*basics, f"line {line}", "f-text", line, fix=row.fix)
    if field:
        return Row(*basics, field.removeprefix("f-").replace("text", "instructions"), field, fix=row.fix)
    if finding.line:
        return Row(*basics, "code", act="raw", fix=row.fix)
    return row


def tally(findings: Iterable[Finding]) -> str:
    """Return "1 error, 2 hints", or an empty string."""
    severities = [finding.severity for finding in findings]
    each = [(severities.count(severity), severity.value) for severity in Severity]
    return ", ".join(counted(count, noun) for count, noun in each if count)


def _cost(report: Report, winner: Candidate | None) -> dict[str, Any]:
    """Return the token estimates, and their difference from the current version."""
    cost: dict[str, Any] = {"tokens": report.tokens, "line": report.catalog_tokens}
    if winner is not None:
        before = draft_checks.catalog_tokens(winner.name, winner.description)
        cost |= {"more": report.tokens - winner.tokens, "version": winner.version, "line_before": before}
    return cost


def _preview(report: Report, draft: Draft, urls: Addresses) -> SafeString | str:
    if report.parsed is None:
        return ""
    present = {entry.path for entry in draft.manifest}
    return markdown.render(
        report.parsed.instructions,
        link=lambda path: urls.file(path) if path in present else None,
        image=lambda path: urls.raw(path) if path in present else None,
    )


def _file(entry: FileEntry, urls: Addresses) -> FileRow:
    text = draft_files.text_of(entry)
    folder, slash, name = entry.path.rpartition("/")
    return FileRow(
        entry, folder + slash, name, None if text is None else token_estimate.estimate(text), urls.file(entry.path)
    )
