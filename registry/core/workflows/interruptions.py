"""Calls that were cut off: repeat them, or ask a person whether they have happened."""

from registry.core.workflows.failures import Code, Failure, StepFailed
from registry.core.workflows.field_checks import check_outputs
from registry.core.workflows.host import Calls, Host
from registry.core.workflows.policy import approval_digest, gates_failed
from registry.core.workflows.records import GROUPS, Asks, Phase, Shape, StepRecord, StepState
from registry.core.workflows.tasks import MAYBE_DONE, Answer

MOST_INTERRUPTIONS = 5  # of one call, before it is to blame for the end of its workers
INTERRUPTIONS, _OF_GATES = "interruptions", "gate_interruptions"


class InterruptionFlow:
    def __init__(self, scheduler: Host, calls: Calls) -> None:
        self._scheduler, self._calls = scheduler, calls
        self._tree = scheduler.tree

    def resume(self, record: StepRecord, *, is_asked: bool) -> None:
        """Pick up a record that had not ended when the last worker lost the run."""
        if record.shape in GROUPS or (record.state is StepState.WAITING and is_asked):
            return
        if record.state is StepState.RETRYING:
            self._scheduler.retrying.add(record.path)
        elif record.asks == Asks.DOUBT or (record.phase is Phase.CALL and record.shape is Shape.CALL):
            self._interrupted(record)
        elif record.phase is Phase.CALL and record.shape is Shape.NESTED:
            if self._tree.scope_below(record) is None:
                self._scheduler.go_on(record)
        elif record.phase in (Phase.PRE, Phase.POST) and self._is_often(record, _OF_GATES):
            self._calls.fail(record, gates_failed(record.uses, _CUT_OFF))
        else:
            self._scheduler.go_on(record)

    def _is_often(self, record: StepRecord, kind: str) -> bool:
        """Count an interruption. Return whether there were too many."""
        record.notes[kind] = record.notes.get(kind, 0) + 1
        return int(record.notes[kind]) > MOST_INTERRUPTIONS

    def _interrupted(self, record: StepRecord) -> None:
        """Repeat a call that was cut off, or ask whether it has happened."""
        try:
            may_repeat = self._calls.capability(record.uses).properties.may_repeat
        except StepFailed as failed:
            self._calls.fail(record, failed.failure)
            return
        if not may_repeat:
            self.doubt(record)
        elif self._is_often(record, INTERRUPTIONS):
            self._calls.fail(record, Failure(Code.CALL, f"The call {_CUT_OFF}."))
        else:
            self._scheduler.go_on(record)

    def doubt(self, record: StepRecord) -> None:
        """Ask whether a call has happened, unless the answer would change nothing."""
        if self._tree.is_closing(record):
            record.reason = MAYBE_DONE
            self._scheduler.end_record(record, StepState.CANCELLED)
            return
        try:
            request = self._calls.request(record, self._calls.capability(record.uses))
        except StepFailed as failed:
            self._calls.fail(record, failed.failure)
            return
        digest = approval_digest(self._scheduler.rules.policy.name, request, (), attempt=record.attempts)
        reason = "The call was cut off. Nobody knows whether it has happened."
        self._calls.ask(record, request, Asks.DOUBT, digest, reason)

    def settle(self, record: StepRecord, answer: Answer) -> None:
        """Go on with a call after a person said whether it has happened."""
        if not answer.happened:
            self._scheduler.go_on(record)
            return
        try:
            fields = self._calls.capability(record.uses).outputs
            self._calls.release(record, check_outputs(fields, answer.output or {}, what="The given result"))
        except StepFailed as failed:
            self._calls.fail(record, failed.failure)


_CUT_OFF = f"was cut off {MOST_INTERRUPTIONS} times, each time with its worker"
