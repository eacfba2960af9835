"""The page “Skill health”: for each skill how well it is found, which skills it loses to, and what to mend."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.core.findings import Finding, Severity
from registry.core.routing.metrics import MISSED_TRIGGER, WRONG_SKILL, Report, SkillMetrics
from registry.core.text.shorten import shorten
from registry.models import Evaluation
from registry.services.catalog import catalog
from registry.services.routing import evaluations, golden_set, health
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.navigation import may
from registry.web.routing import tabs
from registry.web.routing.link_words import percent

_PAGE, _QUESTIONS, _QUESTION_CHARS = 50, 3, 80


@dataclass(frozen=True, slots=True)
class State:
    """The state of a skill as a badge. A lower `rank` is worse."""

    rank: int
    label: str
    tone: str
    icon: str


_NEVER = State(0, "Never found", "danger", "error")
_OFTEN_LOST = State(1, "Often not found", "warn", "warning")
_ALIKE = State(2, "Easily mixed up", "warn", "warning")
_SOMETIMES_LOST = State(3, "Sometimes not found", "warn", "warning")
_UNTESTED = State(4, "No test question", "", "info")
_FOUND = State(5, "Found", "ok", "check")
_OFTEN = 0.5


@dataclass(frozen=True, slots=True)
class Loss:
    """Questions for which another skill was offered, or none if `rival` is empty."""

    rival: str
    count: int
    questions: tuple[str, ...]

    @property
    def sentence(self) -> str:
        quoted = ", ".join(f"“{question}”" for question in self.questions)
        more = " and others" if self.questions and self.count > len(self.questions) else ""
        lost = f"{quoted or counted(self.count, 'question')}{more}"
        return f"Loses {lost} to {self.rival}." if self.rival else f"Nothing is found for {lost}."


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    state: State
    metrics: SkillMetrics
    losses: tuple[Loss, ...]
    findings: tuple[Finding, ...]

    @property
    def recall(self) -> str:
        return "" if self.metrics.recall is None else percent(self.metrics.recall)

    @property
    def precision(self) -> str:
        return "" if self.metrics.precision is None else percent(self.metrics.precision)


@dataclass(frozen=True, slots=True)
class _Measured:
    """The last evaluation by skill."""

    metrics: Mapping[str, SkillMetrics] = field(default_factory=dict)
    losses: Mapping[str, tuple[Loss, ...]] = field(default_factory=dict)


@in_project
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    last = next(iter(evaluations.history(request.project, limit=1)), None)
    found = health.of_project(request.project)
    measured = _measured(last, shows_questions=may(request, roles.WRITE))
    names = [candidate.name for candidate in catalog.view(request.project.pk, request.project.revision).served]
    rows = sorted((_row(name, measured, found.findings) for name in names), key=lambda row: (row.state.rank, row.name))
    attention = [row for row in rows if row.state != _FOUND]
    show_all = request.GET.get("show") == "all" or not attention
    context = tabs.page(
        request,
        "routing-health",
        page=Paginator(rows if show_all else attention, _PAGE).get_page(request.GET.get("page")),
        evaluation=last,
        questions=last is not None or golden_set.exists(request.project),
        health=found,
        show_all=show_all,
        attention=len(attention),
        total=len(rows),
        query="show=all&" if show_all else "",
    )
    return render(request, "routing/health.html", context)


def _measured(last: Evaluation | None, *, shows_questions: bool) -> _Measured:
    if last is None:
        return _Measured()
    report = evaluations.report_of(last)
    return _Measured({row.name: row for row in report.per_skill}, _losses(report, shows_questions=shows_questions))


def _losses(report: Report, *, shows_questions: bool) -> dict[str, tuple[Loss, ...]]:
    """Return for each expected skill the skills that were offered in its place, the most frequent first."""
    lost: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for outcome in report.outcomes:
        if outcome.verdict in (WRONG_SKILL, MISSED_TRIGGER):
            lost[outcome.case.expected[0]][outcome.picked].append(outcome.case.query)
    return {name: _in_order(rivals, shows_questions) for name, rivals in lost.items()}


def _in_order(rivals: Mapping[str, Sequence[str]], shows_questions: bool) -> tuple[Loss, ...]:
    def shown(queries: Iterable[str]) -> tuple[str, ...]:
        first = list(queries)[:_QUESTIONS] if shows_questions else []
        return tuple(shorten(query, _QUESTION_CHARS) for query in first)

    losses = [Loss(rival, len(queries), shown(queries)) for rival, queries in rivals.items()]
    return tuple(sorted(losses, key=lambda loss: (-loss.count, loss.rival)))


def _row(name: str, measured: _Measured, findings: Mapping[str, tuple[Finding, ...]]) -> Row:
    metrics = measured.metrics.get(name) or SkillMetrics(name, 0, 0, 0)
    own = tuple(one for one in findings.get(name, ()) if one.rule != health.NO_TEST_QUESTION)
    return Row(name, _state(metrics, own), metrics, measured.losses.get(name, ()), own)


def _state(metrics: SkillMetrics, findings: Sequence[Finding]) -> State:
    if metrics.expected and not metrics.right:
        return _NEVER
    if metrics.recall is not None and metrics.recall < _OFTEN:
        return _OFTEN_LOST
    if any(one.severity == Severity.WARNING for one in findings):
        return _ALIKE
    if metrics.right < metrics.expected:
        return _SOMETIMES_LOST
    return _FOUND if metrics.expected else _UNTESTED
