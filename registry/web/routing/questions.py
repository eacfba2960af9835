"""The list of test questions: filter, delete and export them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST, require_safe

from registry.core import roles
from registry.core.errors import InvalidRequest, NotFound
from registry.core.routing import golden_files
from registry.core.routing.golden import case_key, query_digest
from registry.models import GoldenCase
from registry.services.routing import evaluations, golden_set
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.routing import tabs, verdict_words
from registry.web.routing.verdict_words import CATEGORIES, VerdictWords

_PAGE = 50
_TO = "open the test questions"


@dataclass(frozen=True, slots=True)
class Row:
    """A test question with its result in the last evaluation. `stale` says why it cannot be judged."""

    case: GoldenCase
    stale: str
    verdict: VerdictWords | None
    category: str


@dataclass(frozen=True, slots=True)
class Filter:
    words: str = ""
    category: str = ""
    skill: str = ""
    stale: bool = False

    @classmethod
    def read(cls, data: QueryDict) -> "Filter":
        category = data.get("category", "")
        return cls(
            data.get("q", "").strip()[:200],
            category if category in CATEGORIES else "",
            data.get("skill", "").strip()[:128],
            data.get("stale", "") == "yes",
        )

    def accepts(self, row: Row) -> bool:
        case = row.case
        return (
            (not self.category or case.category == self.category)
            and (not self.skill or self.skill in (*case.expected, *case.acceptable))
            and (not self.stale or bool(row.stale))
            and self.words.lower() in f"{case.query}\n{case.note}".lower()
        )

    @property
    def active(self) -> bool:
        return self != Filter()

    @property
    def address(self) -> str:
        """Return the filter as the start of a query string."""
        values = QueryDict(mutable=True)
        pairs = (("q", self.words), ("category", self.category), ("skill", self.skill))
        values.update({name: value for name, value in pairs if value})
        if self.stale:
            values["stale"] = "yes"
        return f"{values.urlencode()}&" if values else ""


@dataclass(frozen=True, slots=True)
class _Results:
    """The verdicts of the last evaluation, by the key of the case."""

    by_key: Mapping[str, str] = field(default_factory=dict)

    def of(self, row: GoldenCase) -> VerdictWords | None:
        name = self.by_key.get(case_key(golden_set.as_case(row)))
        return verdict_words.verdict(name) if name else None


@in_project
@needs(roles.WRITE, to=_TO)
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    return _page(request)


def _page(request: ProjectRequest, refused: str = "") -> HttpResponse:
    rows = _rows(request)
    chosen = Filter.read(request.GET)
    shown = [row for row in rows if chosen.accepts(row)]
    context = tabs.page(
        request,
        "routing-questions",
        page=Paginator(shown, _PAGE).get_page(request.GET.get("page")),
        total=len(rows),
        stale=sum(bool(row.stale) for row in rows),
        filter=chosen,
        categories=CATEGORIES,
        skills=sorted({name for row in rows for name in row.case.expected}),
        refused=refused,
    )
    status = 422 if refused else 200
    return render(request, "routing/questions.html", context, partial="routing/_questions.html", status=status)


def _rows(request: ProjectRequest) -> list[Row]:
    cases = golden_set.cases(request.project, by=request.actor)
    stale = {query_digest(one.case.query): one.reason for one in golden_set.stale(request.project)}
    last = next(iter(evaluations.history(request.project, limit=1)), None)
    outcomes = evaluations.report_of(last).outcomes if last else ()
    results = _Results({case_key(one.case): one.verdict for one in outcomes})
    return [Row(case, stale.get(case.query_digest, ""), results.of(case), CATEGORIES[case.category]) for case in cases]


@in_project
@needs(roles.WRITE, to=_TO)
@require_POST
def delete(request: ProjectRequest) -> HttpResponse:
    chosen = [int(value) for value in request.POST.getlist("case") if value.isdecimal() and len(value) < 19]
    try:
        deleted = golden_set.delete(request.project, chosen, by=request.actor)
    except (InvalidRequest, NotFound) as error:
        return _page(request, error.message)
    messages.success(request, f"{counted(deleted, 'test question')} deleted.")
    return redirect("routing-questions", request.project.slug)


@in_project
@needs(roles.WRITE, to=_TO)
@require_safe
def export(request: ProjectRequest) -> HttpResponse:
    """Download the test questions as JSON, or with `?form=lines` as JSON Lines."""
    cases = [golden_set.as_case(row) for row in golden_set.cases(request.project, by=request.actor)]
    lines = request.GET.get("form") == "lines"
    text = golden_files.to_json_lines(cases) if lines else golden_files.to_json(request.project.name, cases)
    name = f"{request.project.slug}-questions.{'jsonl' if lines else 'json'}"
    headers: dict[str, Any] = {
        "Content-Disposition": content_disposition_header(as_attachment=True, filename=name),
        "Cache-Control": "private, no-store",
    }
    media_type = "application/jsonl" if lines else "application/json"
    return HttpResponse(text, content_type=f"{media_type}; charset=utf-8", headers=headers)
