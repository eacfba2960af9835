"""The questions of one run: panels for the first open ones, and a line for each of the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.safestring import SafeString

from registry.core.text.shorten import shorten
from registry.core.workflows.question_text import headline
from registry.models import Project, Run, RunQuestion
from registry.services.permissions import Actor
from registry.services.workflows import answerers, run_details
from registry.services.workflows.run_details import RunDetails, ShownQuestion
from registry.web.render.value_table import Drawing
from registry.web.runs.question_panel import QuestionPanel

_PANELS = 5  # on the page of a run
_TITLE_CHARS = 160


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A question in a list. `waits` is true if the person can answer it."""

    row: RunQuestion
    title: SafeString
    waits: bool


@dataclass(frozen=True, slots=True)
class RunQuestions:
    """`waiting` are open questions without a panel, because there are many."""

    panels: Sequence[QuestionPanel]
    waiting: Sequence[QuestionLine]
    closed: Sequence[QuestionLine]


def of_run(details: RunDetails, *, by: Actor) -> RunQuestions:
    """Return the questions of a run. Those that the person can answer have a panel first.

    A question whose values are too large for the page has a line, so that nobody answers it without seeing them.
    """
    open_ = sorted(details.open_questions, key=lambda each: (bool(each.obstacle), each.row.pk))
    whole = [each for each in open_ if not each.omitted][:_PANELS]
    drawing = Drawing()
    return RunQuestions(
        panels=_panels(details, whole, drawing, by),
        waiting=[_line(each, drawing) for each in open_ if each not in whole],
        closed=[_line(each, drawing) for each in details.questions if not each.is_open],
    )


def _panels(details: RunDetails, shown: Sequence[ShownQuestion], drawing: Drawing, by: Actor) -> list[QuestionPanel]:
    able = answerers.able(details.run, [each.row for each in shown]) if shown else []
    own_agent = _is_own_agent(details.run, shown, by)
    return [
        QuestionPanel(
            details.run,
            each,
            able=people,
            before=_before(details.questions, each.row),
            own_agent=own_agent,
            drawing=drawing,
        )
        for each, people in zip(shown, able, strict=True)
    ]


def _is_own_agent(run: Run, shown: Sequence[ShownQuestion], by: Actor) -> bool:
    """Return whether to say that the person made a token of the agent. Without the permission, they cannot answer."""
    may_decide = any(not each.obstacle and each.is_open and each.row.kind in answerers.NEEDS_OTHERS for each in shown)
    return may_decide and answerers.is_of_own_agent(run, by)


def _before(questions: Sequence[ShownQuestion], row: RunQuestion) -> RunQuestion | None:
    """Return the question that the run asked at the same step before, if there is one."""
    alike = (each.row for each in questions if (each.row.path, each.row.kind) == (row.path, row.kind))
    return max((each for each in alike if each.pk < row.pk), key=lambda each: each.pk, default=None)


def of_question(
    project: Project, run_id: int, question_id: int, *, data: QueryDict | None = None, by: Actor
) -> QuestionPanel:
    """Return the panel of one question. `data` is a form that was refused."""
    run, shown, before, newer = run_details.question_in_turn(project, run_id, question_id, by=by)
    run.project = project
    able = answerers.able(run, [shown.row])[0] if shown.is_open else []
    return QuestionPanel(
        run, shown, able=able, before=before, newer=newer, own_agent=_is_own_agent(run, [shown], by), data=data
    )


def _line(shown: ShownQuestion, drawing: Drawing) -> QuestionLine:
    title = drawing.text(shorten(headline(shown.row.kind, shown.shown), _TITLE_CHARS))
    return QuestionLine(shown.row, title, shown.is_open and not shown.obstacle)
