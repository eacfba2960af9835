"""The state of a run in one sentence, with what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass

from registry.core.workflows import question_text
from registry.core.workflows.records import RunState, StepState
from registry.models import Run, RunStep
from registry.services.workflows.run_details import RunDetails
from registry.web.humanize import counted
from registry.web.runs import run_words
from registry.web.runs.run_words import several

_LATE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Headline:
    """`tone` is that of a notice. With `is_repeated`, the questions of the run say the same, so it is not drawn."""

    tone: str
    text: str
    advice: str = ""
    is_repeated: bool = False


def headline(
    details: RunDetails, rows: Mapping[str, RunStep], *, queued_seconds: float, is_single_call: bool = False
) -> Headline:
    run = details.run
    if not run.is_finished and run.cancelled_by:
        return Headline("", f"{run.cancelled_by} asked to cancel this run. The worker ends it within a few seconds.")
    match run.state:
        case RunState.QUEUED:
            late = queued_seconds > _LATE_SECONDS
            advice = "If it does not start, the worker may not be running. Ask an operator of the site." if late else ""
            return Headline("warn" if late else "", "Waiting for a worker to start it.", advice)
        case RunState.RUNNING:
            return Headline("", _working(rows))
        case RunState.WAITING:
            return _waiting(details)
        case RunState.COMPLETED:
            return _completed(run, rows)
        case RunState.CANCELLED:
            return Headline("", f"{run.cancelled_by or 'The site'} cancelled this run.", _after_cancel(rows))
    advice = run_words.advice(run.code, is_single_call=is_single_call)
    return Headline("danger", run.reason or "The run failed.", advice)


def _working(rows: Mapping[str, RunStep]) -> str:
    running = [row.step for row in rows.values() if row.state == StepState.RUNNING]
    retrying = [row.step for row in rows.values() if row.state == StepState.RETRYING]
    texts = []
    if running:
        texts.append(f"Working on {several(running)}.")
    if retrying:
        texts.append(f"{several(retrying)} failed and will be tried again.")
    return " ".join(texts) or "The worker decides what comes next."


def _waiting(details: RunDetails) -> Headline:
    questions = details.open_questions
    if not questions:
        return Headline("", "The answer is stored. A worker goes on with the run.")
    first = questions[0].row
    kind = run_words.KINDS.get(first.kind, "answer")
    others = f" {counted(len(questions) - 1, 'more question')} wait too." if len(questions) > 1 else ""
    if any(not each.obstacle for each in questions):
        return Headline("accent", f"This run waits for your {kind}.{others}", is_repeated=True)
    text = question_text.headline(first.kind, first.shown)
    return Headline("", f"Waiting for a person: {text}{others}", is_repeated=True)


def _completed(run: Run, rows: Mapping[str, RunStep]) -> Headline:
    text = f"Completed in {run_words.took(run)}."
    degraded = [row.step for row in rows.values() if row.state == StepState.DEGRADED]
    failed = [row.step for row in rows.values() if row.state == StepState.FAILED]
    parts = []
    if degraded:
        parts.append(f"A gate withheld {several(degraded)}, so the outputs may be incomplete.")
    if failed:
        parts.append(f"{several(failed)} failed, and the run went on without.")
    return Headline("warn" if parts else "ok", text, " ".join(parts))


def _after_cancel(rows: Mapping[str, RunStep]) -> str:
    unsure = [row.step for row in rows.values() if row.state == StepState.CANCELLED and row.reason]
    return (
        f"{several(unsure)} was on its way, and may have had an effect. Check it before you run it again."
        if unsure
        else ""
    )
