"""View model of the page of one run: its steps in the order of the workflow, with their states."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from django.core.paginator import Page, Paginator
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from registry.core import roles
from registry.core.workflows import paths, question_text
from registry.core.workflows.plan import Plan, Step
from registry.core.workflows.records import ENDED, StepState
from registry.models import Run, RunStep
from registry.services.workflows import locks, run_details, run_list, run_overview
from registry.services.workflows.run_details import RunDetails, ShownStep, ShownValue
from registry.services.workflows.run_overview import Below
from registry.web.access import ProjectRequest
from registry.web.humanize import counted, duration
from registry.web.navigation import may
from registry.web.render import workflow_graph
from registry.web.render.json_fields import JsonField, Room, fields_of, preview
from registry.web.render.workflow_graph import State
from registry.web.runs import headline, run_words

STEPS = 100  # on a page
_PREVIEW, _NOTE = 2_000, 160  # characters
_ENDED = {state.value for state in ENDED}
_WAITS = StepState.WAITING.value
_NOTHING = Below({}, {})


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the workflow. `shown` is None if it has not started."""

    step: Step
    uses: str
    facts: tuple[tuple[str, str], ...]
    state: State
    note: str
    took: str
    href: str
    shown: ShownStep | None
    parts: str
    input: list[JsonField]
    output: list[JsonField]


@dataclass(frozen=True, slots=True)
class Values:
    """Inputs or outputs. `size` is set if they are too large for the page, and `empty` says that there are none."""

    fields: list[JsonField]
    size: int | None
    is_omitted: bool
    empty: str = ""


class RunPage:
    """One run for the templates."""

    def __init__(self, request: ProjectRequest, run: Run) -> None:
        self.request = request
        self.run = run
        self.slug = request.project.slug
        self._room = Room()

    @cached_property
    def plan(self) -> Plan:
        return locks.library_of(self.run.lock).plans[""]

    @cached_property
    def details(self) -> RunDetails:
        return run_details.details_of(self.run, most=0, by=self.request.actor)

    @cached_property
    def overview(self) -> run_overview.Overview:
        return run_overview.overview(self.run)

    # -- Head ------------------------------------------------------------------------------------------------

    @property
    def is_single_call(self) -> bool:
        return locks.is_single_call(self.run.lock.document)

    @cached_property
    def badge(self) -> run_words.Badge:
        waiting = run_list.Waiting(1, is_for_me=True, people=(), roles=())
        return run_words.state_badge(self.run, waiting if self.waits_for_me else None)

    @cached_property
    def waits_for_me(self) -> bool:
        return any(not question.obstacle for question in self.details.open_questions)

    @property
    def headline(self) -> headline.Headline:
        queued = (timezone.now() - self.run.created_at).total_seconds()
        return headline.headline(
            self.details, self.overview.rows, queued_seconds=queued, is_single_call=self.is_single_call
        )

    @property
    def progress(self) -> str:
        ended = sum(row.state in _ENDED for row in self.overview.rows.values())
        return f"{ended:,} of {counted(len(self.plan.steps), 'step')} finished"

    @property
    def took(self) -> str:
        return run_words.took(self.run)

    @property
    def may_cancel(self) -> bool:
        return not self.run.is_finished and not self.run.cancelled_by and may(self.request, roles.RUN)

    @property
    def may_replay(self) -> bool:
        return self.run.is_finished and not self.is_single_call and may(self.request, roles.RUN)

    @property
    def failed_step(self) -> str:
        """Return the step to begin a replay with."""
        bad = (StepState.FAILED.value, StepState.DENIED.value)
        return next((row.step for row in self.overview.rows.values() if row.state in bad and not row.blocked), "")

    # -- Steps -----------------------------------------------------------------------------------------------

    @cached_property
    def steps_page(self) -> "Page[Step]":
        return Paginator(self.plan.steps, STEPS).get_page(self.request.GET.get("page"))

    @cached_property
    def steps(self) -> list[StepView]:
        steps = list(self.steps_page)
        rows = [self.overview.rows[step.id] for step in steps if step.id in self.overview.rows]
        shown = {each.row.step: each for each in run_details.shown_steps(rows)}
        return [self._view(step, shown.get(step.id)) for step in steps]

    def _view(self, step: Step, shown: ShownStep | None) -> StepView:
        below = self.overview.below.get(step.id, _NOTHING)
        return StepView(
            step=step,
            uses=", ".join(step.used),
            facts=workflow_graph.step_facts(step),
            state=workflow_graph.state_of(self._state(step)),
            note=note_of(shown, below, self._questions.get(step.id, "")),
            took=took_of(shown),
            href=step_address(self.slug, self.run.pk, step.id) if shown else "",
            shown=shown,
            parts=parts_of(below),
            input=self._values(shown.input).fields if shown else [],
            output=self._values(shown.output).fields if shown else [],
        )

    @cached_property
    def _questions(self) -> dict[str, str]:
        """Return what the steps ask, by path."""
        rows = [each.row for each in self.details.open_questions]
        return {row.path: question_text.headline(row.kind, row.shown) for row in rows}

    @cached_property
    def _states(self) -> dict[str, str]:
        """Return the states of the steps that have begun, by their id."""
        mine = {paths.top_of(each.row.path) for each in self.details.open_questions if not each.obstacle}
        states = {id_: row.state for id_, row in self.overview.rows.items()}
        return {id_: f"{state} for you" if state == _WAITS and id_ in mine else state for id_, state in states.items()}

    def _state(self, step: Step) -> str:
        return self._states.get(step.id, workflow_graph.NOT_STARTED)

    @property
    def graph(self) -> SafeString:
        here = {step.id for step in self.steps_page}
        rows = self.overview.rows
        links = {id_: f"#step-{id_}" if id_ in here else step_address(self.slug, self.run.pk, id_) for id_ in rows}
        return workflow_graph.draw(
            self.plan,
            states=self._states,
            details={id_: _row_took(row) for id_, row in rows.items()},
            links=links | {id_: f"#step-{id_}" for id_ in here},
            name="run",
            lists_steps=False,
        )

    # -- Values ----------------------------------------------------------------------------------------------

    def _values(self, shown: ShownValue, *, order: Iterable[str] = (), empty: str = "") -> Values:
        """Return a value as fields, those of `order` first."""
        value = shown.value
        if isinstance(value, dict):
            value = {name: value[name] for name in dict.fromkeys((*order, *value)) if name in value}
        is_empty = shown.is_omitted or value in (None, {})
        fields = [] if is_empty else fields_of(value, most_chars=_PREVIEW, room=self._room)
        return Values(fields, shown.chars if shown.is_omitted else None, shown.is_omitted, empty)

    @property
    def inputs(self) -> Values:
        return self._values(self.details.inputs, order=self.plan.inputs, empty="No inputs")

    @property
    def outputs(self) -> Values:
        empty = "No outputs" if self.run.is_finished else "No outputs yet"
        return self._values(self.details.outputs, order=self.plan.outputs, empty=empty)

    # -- Live ------------------------------------------------------------------------------------------------

    @property
    def questions_mark(self) -> str:
        """Return a text that changes with the open questions, so that a half-filled form is not replaced."""
        shown = [(each.row.pk, each.row.digest, each.approved_by, each.obstacle) for each in self.details.questions
                 if each.is_open]  # fmt: skip
        closed = sum(not each.is_open for each in self.details.questions)
        return sha256(repr((shown, closed)).encode()).hexdigest()[:12]

    @property
    def actions_mark(self) -> str:
        return "final" if self.run.is_finished else "cancelled" if self.run.cancelled_by else "open"

    @property
    def live_address(self) -> str:
        page = f"&page={self.steps_page.number}" if self.steps_page.number > 1 else ""
        marks = f"was={self.run.changes}&asked={self.questions_mark}&acts={self.actions_mark}"
        return f"{reverse('run-live', args=[self.slug, self.run.pk])}?{marks}{page}"


def step_address(slug: str, run: int, path: str) -> str:
    return reverse("run-step", args=[slug, run, path])


def note_of(shown: ShownStep | None, below: Below = _NOTHING, question: str = "") -> str:
    """Return the most important remark about a step on one line."""
    if shown is None:
        return ""
    row, output = shown.row, shown.output.value
    for text in (question, row.message, row.reason, *shown.warnings, parts_of(below)):
        if text:
            return text
    if isinstance(output, dict) and len(output) == 1:
        [output] = output.values()
    return preview(output, _NOTE) if output not in (None, {}) else ""


def took_of(shown: ShownStep | None) -> str:
    return _row_took(shown.row) if shown else ""


def _row_took(row: RunStep) -> str:
    """Return how long a step took. One that was skipped took no time."""
    if row.finished_at is None or row.state == StepState.SKIPPED:
        return ""
    return duration((row.finished_at - row.started_at).total_seconds())


def parts_of(below: Below) -> str:
    """Return the paths below a step in words: "1,000 calls, 998 completed, 2 failed"."""
    texts = [_counts(below.calls, "call"), _counts(below.steps, "step inside,steps inside")]
    return "; ".join(text for text in texts if text)


def _counts(numbers: Mapping[str, int], noun: str) -> str:
    if not numbers:
        return ""
    ordered: Iterable[tuple[str, int]] = sorted(numbers.items(), key=lambda pair: -pair[1])
    words = ", ".join(f"{number:,} {workflow_graph.state_of(state).label.lower()}" for state, number in ordered)
    return f"{counted(sum(numbers.values()), noun)}: {words}"
