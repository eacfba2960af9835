"""What the pages of the editor show about a draft."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString

from registry.core.bundle import SKILL_MD, FileEntry
from registry.core.catalog import precedence, token_estimate
from registry.core.catalog.precedence import Candidate
from registry.core.errors import InvalidInput, SkillsiteError, TooLarge
from registry.core.findings import Finding, Severity
from registry.core.format import skill_form
from registry.core.format.skill_form import Fields
from registry.models import Draft
from registry.services.catalog import catalog, skill_list
from registry.services.drafts import draft_checks, draft_files, drafts
from registry.services.drafts.draft_checks import Report
from registry.services.drafts.drafts import FORM, RAW, Place
from registry.web.access import ProjectRequest
from registry.web.humanize import counted
from registry.web.navigation import may_publish
from registry.web.render import markdown
from registry.web.skills import name_options

_TONES = {Severity.ERROR: ("error", "error"), Severity.WARNING: ("warn", "warning"), Severity.HINT: ("hint", "info")}
# Where the form says what a rule is about; what has no field is seen in the exact text.
_FIELDS = {
    "name": "f-name",
    "description": "f-description",
    "kind": "f-kind",
    "requires": "f-requires",
    "body": "f-text",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A finding with the way to it: a line or field of this page, a file, or the exact text."""

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


class Addresses:
    """The pages around one draft; a skill that does not exist yet has no name in them."""

    def __init__(self, place: Place) -> None:
        self.slug, self.name, self.copy_of = place.project.slug, place.name, place.copy_of

    @property
    def editor(self) -> str:
        if self.name:
            return reverse("skill-edit", args=[self.slug, self.name])
        return reverse("skill-new", args=[self.slug])

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
    report = draft_checks.report(request.project, draft)
    standing = catalog.find(request.project.pk, place.name) if place.name else None
    winner = standing.winner if standing else None
    urls = Addresses(place)
    view = catalog.view(request.project.pk, request.project.revision)
    named = report.said.name if report.said and not place.name and "name" not in report.missing else place.name
    return {
        "place": place, "draft": draft, "urls": urls, "error": error, "files_error": files_error,
        "mode": draft.content["mode"], "note": draft.content["note"], "fields": drafts.typed_fields(draft),
        "state": drafts.state(draft), "kept": draft.pk is not None, "limits": settings.LIMITS,
        "text": _exact(draft), "no_form": _no_form(draft), "winner": winner, "standing": standing,
        "overtaken": bool(draft.pk and place.name and precedence.digest_of(standing) != draft.base),
        "version": drafts.next_version(request.project, named), "report": report,
        "rows": rows(draft, report), "tally": _tally(report.findings), "errors": _errors(report.findings),
        "name_rows": [row for row in rows(draft, report) if row.target == "f-name"],
        "cost": _cost(report, winner), "preview": preview(report, draft, urls),
        **name_options.offered(view, without=place.name), "known_tags": skill_list.tags(view),
        "folded": _folded(drafts.typed_fields(draft)), "blank": not place.name and draft.pk is None,
        "proposing": not may_publish(request), "justification": request.POST.get("justification", ""),
        "files": [_file(entry, urls) for entry in draft.manifest], "removed": draft_files.removed(draft),
    }  # fmt: skip


def _folded(fields: Fields) -> int:
    """How much there is in the part of the form that is folded away."""
    return sum(len(skill_form.items(value)) for value in (fields.triggers, fields.inputs, fields.outputs))


def _exact(draft: Draft) -> str:
    held: str = draft.content["text"]
    return held


def _no_form(draft: Draft) -> SkillsiteError | None:
    """Why the form cannot be offered for this text."""
    if draft.content["mode"] == FORM:
        return None
    try:
        skill_form.parse(draft.content["text"], limits=settings.LIMITS)
    except (InvalidInput, TooLarge) as error:
        return error
    return None


def rows(draft: Draft, report: Report) -> list[Row]:
    return [_row(finding, draft, report) for finding in report.findings]


def _row(finding: Finding, draft: Draft, report: Report) -> Row:
    tone, sign = _TONES[finding.severity]
    fix = f"fix:{finding.rule}:{finding.line or ''}" if draft_checks.mended(finding, report) is not None else ""
    if finding.file != SKILL_MD:
        present = any(entry.path == finding.file for entry in draft.manifest)
        at = f"{finding.file}:{finding.line}" if finding.line else finding.file
        return Row(finding, tone, sign, at, act=f"open:{finding.file}" if present else "", fix=fix)
    if draft.content["mode"] == RAW:
        label = f"line {finding.line}" if finding.line else ""
        return Row(finding, tone, sign, label, "f-text", finding.line, fix=fix)
    return _in_the_form(Row(finding, tone, sign, fix=fix), report)


def _in_the_form(row: Row, report: Report) -> Row:
    finding, shown = row.finding, (row.finding, row.tone, row.sign)
    field = _FIELDS.get(finding.rule.partition("-")[0], "")
    in_body = report.said is not None and finding.line is not None and finding.line >= report.said.document.body_line
    if in_body and finding.line is not None:
        line = max(1, finding.line - report.first_line + 1)
        return Row(*shown, f"line {line}", "f-text", line, fix=row.fix)
    if field:
        return Row(*shown, field.removeprefix("f-").replace("text", "instructions"), field, fix=row.fix)
    if finding.line:
        return Row(*shown, "header", act="raw", fix=row.fix)
    return row


def _errors(findings: Iterable[Finding]) -> int:
    return sum(finding.severity is Severity.ERROR for finding in findings)


def _tally(findings: Iterable[Finding]) -> str:
    """ "1 error, 2 hints", or nothing."""
    severities = [finding.severity for finding in findings]
    each = [(severities.count(severity), severity.value) for severity in Severity]
    return ", ".join(counted(count, noun) for count, noun in each if count)


def _cost(report: Report, winner: Candidate | None) -> dict[str, Any]:
    """What loading will cost, and how that differs from what agents get now."""
    cost: dict[str, Any] = {"tokens": report.tokens, "line": report.line_tokens}
    if winner is not None:
        before = draft_checks.line_tokens(winner.name, winner.description)
        cost |= {"more": report.tokens - winner.tokens, "version": winner.version, "line_before": before}
    return cost


def preview(report: Report, draft: Draft, urls: Addresses) -> SafeString | str:
    if report.said is None:
        return ""
    present = {entry.path for entry in draft.manifest}
    return markdown.render(
        report.said.instructions,
        link=lambda path: urls.file(path) if path in present else None,
        image=lambda path: urls.raw(path) if path in present else None,
    )


def _file(entry: FileEntry, urls: Addresses) -> FileRow:
    text = draft_files.text_of(entry)
    folder, slash, name = entry.path.rpartition("/")
    return FileRow(
        entry, folder + slash, name, None if text is None else token_estimate.estimate(text), urls.file(entry.path)
    )
