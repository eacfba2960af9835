"""The flow of one call: the policy before it, its gates, the call itself, and the policy after it."""

from collections.abc import Mapping

from registry.core.workflows import human, references
from registry.core.workflows.capability import Capability, nested_skill
from registry.core.workflows.copies import CopyTooLarge
from registry.core.workflows.failures import Code, Failure, StepFailed
from registry.core.workflows.field_checks import check_inputs, check_outputs
from registry.core.workflows.host import Host
from registry.core.workflows.plan import MOST_DEPTH, SKILL_PREFIX, Approvers, Step
from registry.core.workflows.policy import CallRequest, Rule, Ruling, approval_digest
from registry.core.workflows.records import GROUPS, Asks, Phase, Shape, StepRecord, StepState
from registry.core.workflows.scope import Scope
from registry.core.workflows.state import StateError
from registry.core.workflows.tasks import Answer, Ask, Outcome, Task
from registry.core.workflows.values import Json

MOST_INTERRUPTIONS = 5  # of one call, before it is to blame for the end of its workers
_INTERRUPTIONS = "interruptions"


class CallFlow:
    def __init__(self, scheduler: Host) -> None:
        self._scheduler = scheduler
        self._tree = scheduler.tree

    def begin(self, scope: Scope, step: Step, record: StepRecord, local: Mapping[str, Json] | None = None) -> None:
        """Begin a call with the input that the state gives now. Raise StepFailed if it has none."""
        skill = self._tree.library.skill_of(record.uses)
        record.shape = Shape.NESTED if skill is not None else Shape.HUMAN if human.asks(record.uses) else Shape.CALL
        local = dict(local or {})
        try:
            record.input = references.resolve(step.input, scope.state.view, local)
        except references.Unreadable as error:
            raise StepFailed(Code.INPUT, str(error)) from None
        except CopyTooLarge as error:
            raise StepFailed(Code.LIMIT, str(error)) from None
        record.reads = tuple(references.show(path) for path in references.references(step.input, tuple(local)))
        self._tree.begin(record)
        self._scheduler.change(record)
        self.advance(record)

    def advance(self, record: StepRecord) -> None:
        """Go on with a call as far as the policy lets it."""
        record.state, record.asks = StepState.RUNNING, ""
        self._scheduler.change(record)
        try:
            capability = self._capability(record.uses)
            request = self._request(record, capability)
            if record.phase is Phase.POST:
                ruling = self._scheduler.rules.policy.after(request, record.held, record.post_verdicts)
            else:
                record.phase = Phase.NEW
                ruling = self._scheduler.rules.policy.before(request)
            self._obey(record, request, ruling)
        except StepFailed as failed:
            self.fail(record, failed.failure)

    def _obey(self, record: StepRecord, request: CallRequest, ruling: Ruling) -> None:
        after = record.phase is Phase.POST
        if ruling.warnings:
            record.notes["warnings"] = list(ruling.warnings)
        match ruling.rule:
            case Rule.DENY:
                self.fail(record, ruling.failure or Failure(Code.SAFETY_GATE, "The policy denied the call."))
            case Rule.DEGRADE:
                record.reason, record.held = ruling.reason, None
                self._scheduler.end_record(record, StepState.DEGRADED)
            case Rule.ASK:
                self._ask(record, request, Asks.APPROVE, ruling.digest, ruling.reason)
            case Rule.GATES:
                record.phase = Phase.POST if after else Phase.PRE
                self._start(record, request)
            case _ if after:
                self.complete(record, record.held)
            case _:
                self._call(record, request)

    def _call(self, record: StepRecord, request: CallRequest) -> None:
        record.phase = Phase.CALL
        record.attempts += 1
        record.definition = request.capability.digest
        if record.shape is Shape.HUMAN:
            kind = human.kind_of(record.uses)
            digest = approval_digest(self._scheduler.rules.policy.name, request, ())
            self._ask(record, request, kind, digest, human.question_of(record.input))
        elif record.shape is Shape.NESTED:
            self._open(record)
        else:
            self._start(record, request)

    def _open(self, record: StepRecord) -> None:
        skill = self._tree.library.skill_of(record.uses) or ""
        plan = self._tree.library.plans.get(skill)
        if plan is None:
            raise StepFailed(Code.CAPABILITY, f"The skill {skill} has no workflow.")
        if self._tree.scope_of(record.path).depth + 1 >= MOST_DEPTH:
            raise StepFailed(Code.LIMIT, f"Skills are nested more than {MOST_DEPTH} deep.")
        inputs = check_inputs(plan.inputs, record.input, what=f"The skill {skill}")
        self._scheduler.open_nested(record, skill, inputs)

    def _start(self, record: StepRecord, request: CallRequest) -> None:
        step = self._tree.step_of(record)
        self._scheduler.start(Task(record.phase, request, record.attempts, step.timeout_seconds, record.held))

    def _ask(self, record: StepRecord, request: CallRequest, kind: Asks, digest: str, reason: str) -> None:
        record.state, record.asks = StepState.WAITING, kind
        self._scheduler.change(record)
        step = self._tree.step_of(record)
        approvers = _stricter(request.capability.safety.approvers, step.approvers)
        self._scheduler.ask(Ask(kind, record, digest, reason, request.capability, approvers, step.expires_seconds))

    def take(self, record: StepRecord, outcome: Outcome) -> None:
        """Take the outcome of the task that ran for a record."""
        if outcome.not_made:
            record.attempts -= record.phase is Phase.CALL
            self._scheduler.go_on(record)
        elif outcome.cut_off:
            self.resume(record, is_asked=False)
        elif outcome.in_doubt:
            self._doubt(record)
        elif outcome.failure is not None:
            self.fail(record, outcome.failure, retryable=outcome.retryable, retry_after=outcome.retry_after)
        elif record.phase is Phase.CALL:
            self.release(record, outcome.output)
        elif record.phase is Phase.PRE:
            record.verdicts = outcome.verdicts or ()
            self._scheduler.go_on(record)
        else:
            record.post_verdicts = outcome.verdicts or ()
            self._scheduler.go_on(record)

    def release(self, record: StepRecord, output: Json) -> None:
        """Hold an output until the policy releases it."""
        record.held, record.phase, record.post_verdicts = output, Phase.POST, None
        self._scheduler.go_on(record)

    def complete(self, record: StepRecord, output: Json) -> None:
        record.output, record.held = output, None
        try:
            self._scheduler.end_record(record, StepState.COMPLETED)
        except StateError as error:
            self.fail(record, Failure(Code.OUTPUT, str(error)))
        except StepFailed as failed:
            self.fail(record, failed.failure)

    def fail(
        self, record: StepRecord, failure: Failure, *, state: StepState = StepState.FAILED, retryable: bool = False,
        retry_after: float = 0.0,
    ) -> None:  # fmt: skip
        """End a record with a failure, or retry it later."""
        record.failure = failure
        retry = self._tree.step_of(record).retry
        tries = record.attempts - record.notes.get(_INTERRUPTIONS, 0)
        if retryable and retry is not None and not failure.is_safety and tries < retry.max_attempts:
            pause = retry.backoff_seconds * retry.backoff_multiplier ** (tries - 1)
            record.state, record.phase = StepState.RETRYING, Phase.NEW
            record.wake_at = self._scheduler.moment + max(pause, retry_after)
            self._scheduler.retrying.add(record.path)
            self._scheduler.change(record)
        else:
            record.reason = record.reason or failure.message
            self._scheduler.end_record(record, state)

    def cancel(self, record: StepRecord) -> None:
        """End what waits or has not been called. What is on its way comes to its end first."""
        if record.is_over or record.path in self._scheduler.in_flight:
            return
        if record.shape in GROUPS:
            group = self._tree.groups[record.path]
            group.failure = group.failure or (StepState.CANCELLED, _CANCELLED)
            self._scheduler.groups.progress(group)
            return
        scope = self._tree.scope_below(record) if record.shape is Shape.NESTED else None
        if scope is not None and not scope.is_done:
            self._scheduler.close(scope, StepState.CANCELLED, _CANCELLED)
            if scope.active:
                return
        self._scheduler.end_record(record, StepState.CANCELLED)

    def answer(self, record: StepRecord, answer: Answer) -> None:
        """Go on with a record after people answered its question."""
        by = answer.by or "Somebody"
        if answer.expired:
            self.fail(record, Failure(Code.EXPIRED, "Nobody answered in time."), state=StepState.DENIED)
        elif not answer.approved:
            said = f": {answer.comment}" if answer.comment else "."
            self.fail(record, Failure(Code.DENIED, f"{by} denied{said}"), state=StepState.DENIED)
        elif record.asks == Asks.DOUBT:
            self._settle_doubt(record, answer)
        elif record.shape is Shape.HUMAN and record.phase is Phase.CALL:
            self.release(record, human.output_of(record.uses, answer.output, by=answer.by, comment=answer.comment))
        else:
            record.approvals = (*record.approvals, answer.digest)
            self._scheduler.go_on(record)

    def _settle_doubt(self, record: StepRecord, answer: Answer) -> None:
        if not answer.happened:
            self._scheduler.go_on(record)
            return
        try:
            fields = self._capability(record.uses).outputs
            self.release(record, check_outputs(fields, answer.output or {}, what="The given result"))
        except StepFailed as failed:
            self.fail(record, failed.failure)

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
        else:
            self._scheduler.go_on(record)

    def _interrupted(self, record: StepRecord) -> None:
        """Repeat a call that was cut off, or ask whether it has happened."""
        try:
            may_repeat = self._capability(record.uses).properties.may_repeat
        except StepFailed as failed:
            self.fail(record, failed.failure)
            return
        if not may_repeat:
            self._doubt(record)
            return
        record.notes[_INTERRUPTIONS] = record.notes.get(_INTERRUPTIONS, 0) + 1
        if record.notes[_INTERRUPTIONS] > MOST_INTERRUPTIONS:
            message = f"The call was cut off {MOST_INTERRUPTIONS} times, each time with its worker."
            self.fail(record, Failure(Code.CALL, message))
        else:
            self._scheduler.go_on(record)

    def _doubt(self, record: StepRecord) -> None:
        try:
            request = self._request(record, self._capability(record.uses))
        except StepFailed as failed:
            self.fail(record, failed.failure)
            return
        digest = approval_digest(self._scheduler.rules.policy.name, request, (), attempt=record.attempts)
        self._ask(record, request, Asks.DOUBT, digest, "The call was cut off. Nobody knows whether it has happened.")

    def _request(self, record: StepRecord, capability: Capability) -> CallRequest:
        rules = self._scheduler.rules
        return CallRequest(
            self._tree.library.lock, record.path, capability, record.input, rules.trust, record.verdicts,
            frozenset(record.approvals),
        )  # fmt: skip

    def _capability(self, uses: str) -> Capability:
        if uses.startswith(SKILL_PREFIX):
            return nested_skill(uses.removeprefix(SKILL_PREFIX))
        return self._scheduler.rules.capability_of(uses)


_CANCELLED = Failure(Code.CALL, "Cancelled, because another step failed.")


def _stricter(capability: Approvers | None, step: Approvers | None) -> Approvers:
    """Return who answers: the people that the capability names, and the larger of both numbers."""
    chosen = capability or step or Approvers()
    count = max(each.count for each in (capability, step, chosen) if each is not None)
    return Approvers(chosen.people, chosen.roles, count)
