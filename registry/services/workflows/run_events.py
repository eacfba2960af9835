"""Events of runs, for the audit log, webhooks and the inbox."""

from registry.core.workflows.records import RunState
from registry.models import Run
from registry.services.permissions import Actor

STARTED, WAITING, CANCELLED, REPLAYED = "run.started", "run.waiting", "run.cancelled", "run.replayed"
COMPLETED, FAILED, DENIED, EXPIRED = "run.completed", "run.failed", "run.denied", "run.expired"
QUESTION_APPROVED, QUESTION_DENIED = "question.approved", "question.denied"
QUESTION_ANSWERED, QUESTION_EXPIRED = "question.answered", "question.expired"

ENDINGS = {
    RunState.COMPLETED: COMPLETED,
    RunState.FAILED: FAILED,
    RunState.DENIED: DENIED,
    RunState.EXPIRED: EXPIRED,
    RunState.CANCELLED: "run.ended",  # `run.cancelled` is the request of a person
}


def announce(event: str, run: Run, *, by: Actor, text: str = "") -> None:
    """Notify people and webhooks, in the transaction of the change."""
