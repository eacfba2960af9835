"""Answers about runs of workflows."""

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from registry.api.answers import timestamp
from registry.api.run_value_answers import TraceStepShape, traced_shape
from registry.core.workflows.capability import ON_FAIL
from registry.core.workflows.policy import Verdict
from registry.core.workflows.records import Asks, RunState, Shape, StepState
from registry.lib.json_types import OneOf, Timestamp
from registry.models import Run
from registry.models.workflows import QUESTION_STATES
from registry.services.workflows.run_details import RunDetails, ShownQuestion, ShownStep, ShownValue

AGENT, PERSON, OPERATOR = "agent", "person", "operator"
RUN_STATES = tuple(state.value for state in RunState)
STEP_STATES = tuple(state.value for state in StepState)
QUESTION_KINDS = tuple(kind.value for kind in Asks)


class StarterShape(TypedDict):
    kind: Annotated[str, OneOf((AGENT, PERSON, OPERATOR)), "`operator` is also given for an account that is gone."]
    name: str


class RunSummaryShape(TypedDict):
    id: int
    skill: Annotated[str, "The skill, or the capability of a run that makes a single call."]
    version: str
    digest: str
    state: Annotated[str, OneOf(RUN_STATES)]
    by: StarterShape
    code: Annotated[str, "The reason of a failure, for programs. Empty without one."]
    reason: Annotated[str, "The reason of a failure, for people."]
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    deadline: Timestamp | None
    replay_of: Annotated[int | None, "The run whose recorded outputs this one took over."]
    cancelled_by: str
    changes: Annotated[int, "Grows with every change of the run."]


class RunsPage(TypedDict):
    results: list[RunSummaryShape]
    next: str | None


class RunOptionsShape(TypedDict):
    max_workers: int
    fail_fast: bool
    deadline_seconds: float | None


class VerdictShape(TypedDict):
    gate: str
    allowed: Annotated[bool | None, "Null if the gate failed or gave no verdict, so it stopped the call."]
    on_fail: Annotated[str, OneOf(ON_FAIL)]
    reason: str


class RunStepShape(TypedDict):
    path: Annotated[str, "Such as `review`, `review[3]` for an item, or `review/read` in a nested skill."]
    step: str
    shape: Annotated[str, OneOf(tuple(shape.value for shape in Shape))]
    uses: str
    state: Annotated[str, OneOf(STEP_STATES)]
    attempts: int
    code: str
    message: str
    reason: Annotated[str, "The reason of the state, for people. Empty for a step that completed."]
    input: Any
    output: Any
    omitted: Annotated[list[str], "Which of `input` and `output` are too large for this answer, and null here."]
    verdicts: list[VerdictShape]
    warnings: Annotated[list[str], "Objections of gates that only warn."]
    wake_at: Annotated[Timestamp | None, "The time of the next attempt."]
    started_at: Timestamp
    finished_at: Timestamp | None
    milliseconds: int | None


class RunQuestionShape(TypedDict):
    id: int
    step: Annotated[str, "The path of the step that asks."]
    kind: Annotated[str, OneOf(QUESTION_KINDS)]
    state: Annotated[str, OneOf(QUESTION_STATES)]
    digest: Annotated[str, "What an answer has to name. It covers everything that is shown."]
    shown: Annotated[dict[str, Any], "What a person decides about: the capability, its target, the input, the gates."]
    omitted: Annotated[list[str], "Which values in `shown` are too large for this answer, and null here."]
    people: Annotated[list[str], "Who may answer. Every reviewer may if neither people nor roles are named."]
    roles: list[str]
    needed: Annotated[int, "How many different people have to approve."]
    approved_by: list[str]
    obstacle: Annotated[str, "Why you can't answer this open question. Empty if you can."]
    asked_at: Timestamp
    expires_at: Timestamp | None
    answered_at: Timestamp | None
    answered_by: str
    comment: str
    value: Any


class AnsweredShape(RunSummaryShape):
    question: RunQuestionShape


class LockedSkillShape(TypedDict):
    name: str
    version: str
    digest: str


class RunLockShape(TypedDict):
    skill: LockedSkillShape
    nested: list[LockedSkillShape]
    capabilities: Annotated[dict[str, str], "The digest of each definition, as it was when the run started."]
    policy: str


class RunShape(RunSummaryShape):
    trust: Annotated[str, "The trust level that the run started with."]
    options: RunOptionsShape
    frame: Any
    inputs: Any
    outputs: Annotated[Any, "Null until the run ended. A run that failed may have some of them."]
    omitted: Annotated[list[str], "Which of `inputs` and `outputs` are too large for this answer, and null here."]
    state_digest: str | None
    steps: Annotated[list[RunStepShape], "One page of the steps, in the order in which they began."]
    total_steps: int
    next: Annotated[str | None, "The address of the next page of steps."]
    questions: Annotated[list[RunQuestionShape], "The open ones first, then the latest of the others."]
    lock: RunLockShape
    trace: Annotated[list[TraceStepShape], "What the steps of this page read and wrote."]


def summary_shape(run: Run) -> RunSummaryShape:
    return {
        "id": run.pk,
        "skill": run.skill,
        "version": run.version,
        "digest": run.digest,
        "state": run.state,
        "by": {"kind": _kind_of_starter(run), "name": run.started_by},
        "code": run.code,
        "reason": run.reason,
        "created_at": run.created_at.isoformat(),
        "started_at": timestamp(run.started_at),
        "finished_at": timestamp(run.finished_at),
        "deadline": timestamp(run.deadline),
        "replay_of": run.replay_of_id,
        "cancelled_by": run.cancelled_by,
        "changes": run.changes,
    }


def _kind_of_starter(run: Run) -> str:
    if run.agent_id is not None:
        return AGENT
    return PERSON if run.user_id is not None else OPERATOR


def run_shape(found: RunDetails, *, next_link: str | None) -> RunShape:
    run = found.run
    return {
        **summary_shape(run),
        "trust": run.trust,
        "options": _options(run.options),
        "frame": run.frame,
        "inputs": found.inputs.value,
        "outputs": found.outputs.value,
        "omitted": _omitted(inputs=found.inputs, outputs=found.outputs),
        "state_digest": run.state_digest or None,
        "steps": [_step(step) for step in found.steps],
        "total_steps": found.total_steps,
        "next": next_link,
        "questions": [question_shape(question) for question in found.questions],
        "lock": found.lock,
        "trace": [traced_shape(step) for step in found.trace],
    }


def _options(stored: Mapping[str, Any]) -> RunOptionsShape:
    return {
        "max_workers": stored["max_workers"],
        "fail_fast": stored["fail_fast"],
        "deadline_seconds": stored["deadline_seconds"],
    }


def _omitted(**values: ShownValue) -> list[str]:
    return [name for name, value in values.items() if value.is_omitted]


def _step(step: ShownStep) -> RunStepShape:
    row = step.row
    return {
        "path": row.path,
        "step": row.step,
        "shape": row.shape,
        "uses": row.uses,
        "state": row.state,
        "attempts": row.attempts,
        "code": row.code,
        "message": row.message,
        "reason": row.reason,
        "input": step.input.value,
        "output": step.output.value,
        "omitted": _omitted(input=step.input, output=step.output),
        "verdicts": [_verdict(verdict) for verdict in step.verdicts],
        "warnings": list(step.warnings),
        "wake_at": timestamp(row.wake_at),
        "started_at": row.started_at.isoformat(),
        "finished_at": timestamp(row.finished_at),
        "milliseconds": step.milliseconds,
    }


def _verdict(verdict: Verdict) -> VerdictShape:
    return {
        "gate": verdict.gate,
        "allowed": verdict.allowed,
        "on_fail": verdict.on_fail,
        "reason": verdict.reason,
    }


def question_shape(question: ShownQuestion) -> RunQuestionShape:
    row = question.row
    return {
        "id": row.pk,
        "step": row.path,
        "kind": row.kind,
        "state": row.state,
        "digest": row.digest,
        "shown": dict(question.shown),
        "omitted": list(question.omitted),
        "people": row.people,
        "roles": row.roles,
        "needed": row.needed,
        "approved_by": list(question.approved_by),
        "obstacle": question.obstacle,
        "asked_at": row.asked_at.isoformat(),
        "expires_at": timestamp(row.expires_at),
        "answered_at": timestamp(row.answered_at),
        "answered_by": row.answered_by,
        "comment": row.comment,
        "value": row.value,
    }


def answered_shape(run: Run, question: ShownQuestion) -> AnsweredShape:
    return {**summary_shape(run), "question": question_shape(question)}
