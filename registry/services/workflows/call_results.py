"""Results of single calls: the outputs, or the error that fits the failure of their run."""

from dataclasses import dataclass
from typing import Any

from registry.core.errors import (
    CallDenied,
    CallFailed,
    CallTimedOut,
    CallUnavailable,
    ConfirmationRequired,
    Conflict,
    GateFailed,
    InvalidRequest,
    SafetyDenied,
    SkillsiteError,
)
from registry.core.workflows.failures import Code
from registry.core.workflows.question_text import headline
from registry.core.workflows.records import RunState
from registry.core.workflows.values import Json
from registry.models import Project, Run, RunQuestion
from registry.models.workflows import OPEN
from registry.services.notifications import links
from registry.services.permissions import Actor
from registry.services.workflows import runs, stored_values

ERRORS: dict[Code, type[SkillsiteError]] = {
    Code.INPUT: InvalidRequest,
    Code.OUTPUT: CallFailed,
    Code.EXPRESSION: InvalidRequest,
    Code.ROUTER: InvalidRequest,
    Code.CAPABILITY: Conflict,
    Code.CALL: CallFailed,
    Code.TIMEOUT: CallTimedOut,
    Code.LIMIT: InvalidRequest,
    Code.DEADLINE: CallTimedOut,
    Code.UNAVAILABLE: CallUnavailable,
    Code.DENIED: CallDenied,
    Code.EXPIRED: CallDenied,
    Code.SAFETY_TRUST: SafetyDenied,
    Code.SAFETY_GATE: SafetyDenied,
    Code.SAFETY_GATE_ERROR: GateFailed,
    Code.SAFETY_TARGET: SafetyDenied,
}
RETRY_SECONDS = 30


@dataclass(frozen=True, slots=True)
class CallResult:
    """A call that has not failed. `outputs` is None unless `run` is completed."""

    run: Run
    outputs: Json


def of(project: Project, run_id: int, *, by: Actor) -> CallResult:
    """Return the result of a call. Raise the error of its failure, or ConfirmationRequired while it needs a person."""
    run = runs.find(project, run_id, by=by)
    if run.state == RunState.COMPLETED:
        return CallResult(run, stored_values.unpack(run.outputs))
    if run.is_finished:
        raise failure(run)
    question = run.questions.filter(state=OPEN).order_by("pk").first() if run.state == RunState.WAITING else None
    if question is not None:
        raise confirmation(project, run, question)
    return CallResult(run, None)


def failure(run: Run) -> SkillsiteError:
    """Return the error that a run ended with. It quotes no other server, because failures do not."""
    if run.state == RunState.CANCELLED or not run.code:
        return Conflict(f"The call was cancelled by {run.cancelled_by or 'the site'}.", run=run.pk, reason=run.code)
    code = Code(run.code)
    kind = ERRORS[code]
    data: dict[str, Any] = {"run": run.pk, "reason": code.value}
    if kind is CallUnavailable:
        data["retry_after"] = RETRY_SECONDS
    return kind(run.reason or "The call failed.", **data)


def confirmation(project: Project, run: Run, question: RunQuestion) -> ConfirmationRequired:
    """Return the error that says how to get a call confirmed."""
    page = links.absolute(links.run_question_path(project.slug, run.pk, question.pk))
    address = links.run_api_path(project.slug, run.pk)
    who = _who(question)
    return ConfirmationRequired(
        f"{headline(question.kind, question.shown)} {who} can answer on {page}. Then read {address} until the run "
        "has ended. Do not call again: each call asks anew.",
        run=run.pk,
        question={
            "id": question.pk,
            "kind": question.kind,
            "digest": question.digest,
            "people": question.people,
            "roles": question.roles,
            "needed": question.needed,
            "expires_at": question.expires_at.isoformat() if question.expires_at else None,
        },
        who=who,
        page=page,
        poll=address,
    )


def _who(question: RunQuestion) -> str:
    named = " or ".join([*question.people, *(f"anybody with the role {role}" for role in question.roles)])
    if question.needed == 1:
        return named or "A reviewer who did not start the run"
    others = f" out of {named}" if named else " reviewers who did not start the run"
    return f"{question.needed}{others}"
