"""The flow of one call: the policy before it, its gates, the call itself, and the policy after it.

A call that was cut off is in `interruptions.py`.
"""

from collections.abc import Mapping

from registry.core.workflows import human, references
from registry.core.workflows.capability import SKILL, Capability, nested_skill
from registry.core.workflows.copies import CopyTooLarge
from registry.core.workflows.failures import Code, Failure, StepFailed
from registry.core.workflows.field_checks import check_inputs
from registry.core.workflows.host import Host
from registry.core.workflows.input_form import declared_fields
from registry.core.workflows.interruptions import INTERRUPTIONS, InterruptionFlow
from registry.core.workflows.json_tree import size_of
from registry.core.workflows.plan import MOST_DEPTH, SKILL_PREFIX, Approvers, Plan, Step
from registry.core.workflows.policy import CallRequest, Rule, Ruling, approval_digest, gates_failed
from registry.core.workflows.records import GROUPS, Asks, Phase, Shape, StepRecord, StepState
from registry.core.workflows.scope import Scope
from registry.core.workflows.state import StateError
from registry.core.workflows.tasks import MAYBE_DONE, Answer, Ask, Outcome, Task
from registry.core.workflows.values import Json

MOST_INPUT_CHARS = 1024 * 1024  # of one call
_PATH_CHARS = 280  # of a nested skill, so that the paths of its steps fit into 500
_JUDGED = "judged"  # the definition whose gates have given the verdicts


class CallFlow:
    def __init__(self, scheduler: Host) -> None:
        self._scheduler = scheduler
        self._tree = scheduler.tree
        self._interruptions = InterruptionFlow(scheduler, self)

    def begin(self, scope: Scope, step: Step, record: StepRecord, local: Mapping[str, Json] | None = None) -> None:
        """Begin a call with the input that the state gives now. Raise StepFailed if it has none."""
        skill = self._tree.library.skill_of(record.uses)
        record.shape = Shape.NESTED if skill is not None else Shape.HUMAN if human.asks(record.uses) else Shape.CALL
        local = dict(local or {})
        try:
            record.input = references.resolve(step.input, scope.state.view, local, self._scheduler.budget.spend)
        except references.Unreadable as error:
            raise StepFailed(Code.INPUT, str(error)) from None
        except CopyTooLarge as error:
            raise StepFailed(Code.LIMIT, str(error)) from None
        self._check_size(record.input)
        record.reads = tuple(references.show(path) for path in references.references(step.input, tuple(local)))
        self._tree.begin(record)
        self._scheduler.change(record)
        self.advance(record)

    def _check_size(self, given: Json) -> None:
        size = size_of(given)
        if size.chars > MOST_INPUT_CHARS:
            message = f"The input has {size.chars:,} characters, and {MOST_INPUT_CHARS:,} are allowed."
            raise StepFailed(Code.LIMIT, f"{message} Use less of it.")
        self._tree.keep(size)

    def advance(self, record: StepRecord) -> None:
        """Go on with a call as far as the policy lets it."""
        record.state, record.asks = StepState.RUNNING, ""
        self._scheduler.change(record)
        policy = self._scheduler.rules.policy
        try:
            capability = self.capability(record.uses)
            knows_gates = record.notes.get(_JUDGED) == capability.digest
            if record.phase is Phase.POST:
                request = self.request(record, capability)
                ruling = policy.after(request, record.held, record.post_verdicts if knows_gates else None)
            elif self._tree.is_closing(record):
                self.cancel(record)
                return
            else:
                record.phase, record.input = Phase.NEW, self._checked(record, capability)
                record.verdicts = record.verdicts if knows_gates else None
                request = self.request(record, capability)
                ruling = policy.before(request)
            self._obey(record, request, ruling)
        except StepFailed as failed:
            self.fail(record, failed.failure)

    def _checked(self, record: StepRecord, capability: Capability) -> dict[str, Json]:
        """Return the input with its defaults, so that gates and people see exactly what is sent."""
        if record.uses.startswith(SKILL_PREFIX):
            return check_inputs(self._plan(record).inputs, record.input, what=f"The input of {record.uses}")
        given = check_inputs(capability.inputs, record.input, what=f"The input of {capability.id}")
        if record.uses == human.INPUT:
            declared_fields(given.get("fields"))
        return given

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
                self.ask(record, request, Asks.APPROVE, ruling.digest, ruling.reason)
            case Rule.GATES:
                record.phase = Phase.POST if after else Phase.PRE
                record.notes[_JUDGED] = request.capability.digest
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
            self.ask(record, request, kind, digest, human.question_of(record.input))
        elif (record.shape is Shape.NESTED) is not (request.capability.kind == SKILL):
            raise StepFailed(Code.CAPABILITY, f"{record.uses} is of another kind since the run started.")
        elif record.shape is Shape.NESTED:
            self._open(record, request.capability)
        else:
            self._start(record, request)

    def _open(self, record: StepRecord, capability: Capability) -> None:
        skill, plan = self._tree.library.skill_of(record.uses) or "", self._plan(record)
        if capability.binding.get("name") != skill:
            raise StepFailed(Code.CAPABILITY, f"{capability.id} calls another skill since the run started.")
        if self._tree.scope_of(record.path).depth + 1 >= MOST_DEPTH:
            raise StepFailed(Code.LIMIT, f"Skills are nested more than {MOST_DEPTH} deep.")
        if len(record.path) > _PATH_CHARS:
            raise StepFailed(Code.LIMIT, "The path of the nested skill is too long. Use shorter ids of steps.")
        inputs = check_inputs(plan.inputs, record.input, what=f"The skill {skill}")
        try:
            self._scheduler.open_nested(record, skill, inputs)
        except StateError as error:
            raise StepFailed(Code.INPUT, str(error)) from None

    def _plan(self, record: StepRecord) -> Plan:
        skill = self._tree.library.skill_of(record.uses) or ""
        plan = self._tree.library.plans.get(skill)
        if plan is None:
            raise StepFailed(Code.CAPABILITY, f"The skill {skill} has no workflow.")
        return plan

    def _start(self, record: StepRecord, request: CallRequest) -> None:
        step = self._tree.step_of(record)
        self._scheduler.start(Task(record.phase, request, record.attempts, step.timeout_seconds, record.held))

    def ask(self, record: StepRecord, request: CallRequest, kind: Asks, digest: str, reason: str) -> None:
        if self._tree.is_closing(record):
            self.cancel(record)
            return
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
        elif record.phase is not Phase.CALL and outcome.verdicts is None:
            self.fail(record, gates_failed(record.uses, "could not be asked"))
        elif outcome.in_doubt:
            self._interruptions.doubt(record)
        elif outcome.failure is not None:
            self.fail(record, outcome.failure, retryable=outcome.retryable, retry_after=outcome.retry_after)
        elif record.phase is Phase.CALL:
            self.release(record, outcome.output)
        elif record.phase is Phase.PRE:
            record.verdicts = outcome.verdicts
            self._scheduler.go_on(record)
        else:
            record.post_verdicts = outcome.verdicts
            self._scheduler.go_on(record)

    def release(self, record: StepRecord, output: Json) -> None:
        """Hold an output until the policy releases it."""
        try:
            size = size_of(output)
            self._scheduler.budget.spend(size.values + size.chars // 100)
            self._tree.keep(size)
        except StepFailed as failed:
            self.fail(record, failed.failure)
            return
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
        tries = record.attempts - record.notes.get(INTERRUPTIONS, 0)
        retryable = retryable and not failure.is_safety and not self._tree.is_closing(record)
        if retryable and retry is not None and tries < retry.max_attempts:
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
            if scope.active or record.is_over:
                return
        if record.phase is Phase.CALL and record.shape is Shape.CALL:
            record.reason = MAYBE_DONE
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
            self._interruptions.settle(record, answer)
        elif record.shape is Shape.HUMAN and record.phase is Phase.CALL:
            self.release(record, human.output_of(record.uses, answer.output, by=answer.by, comment=answer.comment))
        else:
            record.approvals = (*record.approvals, answer.digest)
            self._scheduler.go_on(record)

    def resume(self, record: StepRecord, *, is_asked: bool) -> None:
        """Pick up a record that had not ended when the last worker lost the run."""
        self._interruptions.resume(record, is_asked=is_asked)

    def request(self, record: StepRecord, capability: Capability) -> CallRequest:
        rules = self._scheduler.rules
        return CallRequest(
            self._tree.library.lock, record.path, capability, record.input, rules.trust, record.verdicts,
            frozenset(record.approvals),
        )  # fmt: skip

    def capability(self, uses: str) -> Capability:
        if uses.startswith(SKILL_PREFIX):
            return nested_skill(uses.removeprefix(SKILL_PREFIX))
        return self._scheduler.rules.capability_of(uses)


_CANCELLED = Failure(Code.CALL, "Cancelled, because another step failed.")


def _stricter(capability: Approvers | None, step: Approvers | None) -> Approvers:
    """Return who answers: the people that the capability names, or fewer of them, and the larger of both numbers."""
    wide, narrow = capability or Approvers(), step or Approvers()
    chosen = narrow if narrow.is_within(wide) else wide
    return Approvers(chosen.people, chosen.roles, max(wide.count, narrow.count))
