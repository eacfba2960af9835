"""The scheduler of a run: decides which steps begin, and what follows when they end.

It is a pure function of the records, the reports and the clock that callers pass in. Callers store what `decide`
changed before they start any of its tasks, so that a run survives the end of its worker at any moment.
"""

from collections import deque
from collections.abc import Collection

from registry.core.workflows import expressions, paths
from registry.core.workflows.budget import Budget
from registry.core.workflows.calls import CallFlow
from registry.core.workflows.expressions import ExpressionError
from registry.core.workflows.failures import Code, Failure, StepFailed
from registry.core.workflows.field_checks import check_outputs
from registry.core.workflows.group_flow import GroupFlow
from registry.core.workflows.host import Rules
from registry.core.workflows.plan import MOST_ITERATIONS, Step
from registry.core.workflows.records import Phase, RunState, Shape, StepRecord, StepState, in_order
from registry.core.workflows.run_tree import RunTree
from registry.core.workflows.scope import Scope
from registry.core.workflows.state import State
from registry.core.workflows.tasks import MAYBE_DONE, Answer, Ask, Decision, Outcome, RunEnd, Task
from registry.core.workflows.values import Json, canonical, type_of

_STEP, _GROUP, _CALL = "step", "group", "call"


class Scheduler:
    """Decides about one run. `resume` has to be called once, after the records of the run were replayed."""

    def __init__(self, tree: RunTree, rules: Rules) -> None:
        self.tree, self.rules = tree, rules
        self.end: RunEnd | None = None
        self.moment = 0.0
        self.budget = Budget()
        self.in_flight: set[str] = set()
        self.retrying: set[str] = set()
        self._queue: deque[tuple[str, str]] = deque()
        self._queued: set[tuple[str, str]] = set()
        self._changed: dict[str, StepRecord] = {}
        self._tasks: list[Task] = []
        self._asks: list[Ask] = []
        self._settled: list[str] = []
        self._paused = False
        self.calls = CallFlow(self)
        self.groups = GroupFlow(self)

    def resume(self, asked: Collection[str] = (), running: Collection[str] = ()) -> None:
        """Pick up a run where its records end.

        `asked` are the paths with an open question, and `running` those whose task outlived the last worker.
        """
        self.in_flight.update(running)
        self._close_again()
        for record in [record for record in self.tree.records.values() if not record.is_over]:
            if record.is_over or record.path in self.in_flight:
                continue  # it was cancelled with another, or comes to its end first
            if self.tree.is_closing(record):
                self.calls.cancel(record)
            else:
                self.calls.resume(record, is_asked=record.path in asked)
        for scope in filter(self.tree.is_live, list(self.tree.scopes.values())):
            for id_ in scope.unblocked() if scope.closing is None else ():
                if scope.prefix + id_ not in self.tree.records:
                    self.enqueue(_STEP, scope.prefix + id_)
        for group in list(self.tree.groups.values()):
            self.groups.progress(group)
        if self.tree.root.is_done:
            self._finish(self.tree.root)

    def _close_again(self) -> None:
        """Close the workflows that could not go on when the last worker lost the run."""
        for _, record, is_end in in_order(self.tree.records.values()):
            if is_end and self.tree.group_of(record) is None:
                scope = self.tree.scope_of(record.path)
                scope.closing = scope.closing or self._obstacle(scope, record)

    def report(self, path: str, outcome: Outcome, now: float) -> None:
        """Take the outcome of a task."""
        self.moment = now
        if path in self.in_flight:
            self.in_flight.discard(path)
            self.calls.take(self.tree.records[path], outcome)

    def answer(self, answer: Answer, now: float) -> None:
        """Take an answer of people. An answer to a question that is no longer open changes nothing."""
        self.moment = now
        record = self.tree.records.get(answer.path)
        if record is not None and record.state is StepState.WAITING:
            self.calls.answer(record, answer)

    def stop(self, state: RunState, failure: Failure | None, now: float) -> None:
        """End the run at once. Calls that are on their way may still have an effect."""
        self.moment = now
        for record in sorted(self.tree.records.values(), key=lambda record: -record.began):
            if not record.is_over:
                is_call = record.phase is Phase.CALL and record.shape is Shape.CALL
                record.reason = MAYBE_DONE if is_call else ""
                self.tree.end(record, StepState.CANCELLED)
                self.change(record)
        self.in_flight.clear()
        self.retrying.clear()
        self._queue.clear()
        self.end = self.end or RunEnd(state, self.tree.root.state.outputs, failure)

    def decide(self, now: float) -> Decision:
        """Return what has to be stored and started. Only `max_workers` tasks run at the same time."""
        self.moment = now
        for path in [path for path in self.retrying if (self.tree.records[path].wake_at or 0) <= now]:
            self.retrying.discard(path)
            self.enqueue(_CALL, path)
        self.budget.begin()
        while self._may_take() and self.budget.allows_more:
            self._take(*self._queue.popleft())
        if self.end is None and self.rules.deadline is not None and now >= self.rules.deadline:
            self.stop(RunState.FAILED, Failure(Code.DEADLINE, "The run took longer than it may."), now)
        decision = Decision(
            tuple(self._changed.values()), tuple(self._tasks) if self.end is None else (),
            tuple(self._asks) if self.end is None else (), tuple(self._settled), self.end, self._wake_at(),
            bool(self._queue) and len(self.in_flight) >= self.rules.max_workers, self._may_take(),
        )  # fmt: skip
        self._changed, self._tasks, self._asks, self._settled = {}, [], [], []
        return decision

    def _may_take(self) -> bool:
        is_open = self.end is None and not self._paused
        return bool(self._queue) and is_open and len(self.in_flight) < self.rules.max_workers

    def pause(self) -> None:
        """Begin nothing more. Outcomes are still taken, so that another worker goes on from there."""
        self._paused = True

    def _wake_at(self) -> float | None:
        if self._paused and self._queue and not self.in_flight:
            return self.moment  # there is more to do, for another worker
        times = [self.tree.records[path].wake_at for path in self.retrying] + [self.rules.deadline]
        return min((time for time in times if time is not None), default=None)

    def _take(self, kind: str, key: str) -> None:
        self._queued.discard((kind, key))
        if reason := self.budget.take_step(len(self.tree.records)):
            self.stop(RunState.FAILED, Failure(Code.LIMIT, reason), self.moment)
        elif kind == _STEP:
            self._step(key)
        elif kind == _GROUP:
            self.groups.begin_next(self.tree.groups[key])
        elif not self.tree.records[key].is_over:
            self.calls.advance(self.tree.records[key])

    def may_repeat(self, uses: str) -> bool:
        """Return whether a call that was cut off can be made again without asking a person."""
        try:
            return self.rules.capability_of(uses).properties.may_repeat
        except StepFailed:
            return False

    # What the flow of calls uses.

    def enqueue_group(self, path: str) -> None:
        self.enqueue(_GROUP, path)

    def enqueue(self, kind: str, key: str, *, first: bool = False) -> None:
        if (kind, key) not in self._queued:
            self._queued.add((kind, key))
            (self._queue.appendleft if first else self._queue.append)((kind, key))

    def go_on(self, record: StepRecord) -> None:
        """Advance a call before any other."""
        self.change(record)
        self.enqueue(_CALL, record.path, first=True)

    def change(self, record: StepRecord) -> None:
        self._changed[record.path] = record

    def start(self, task: Task) -> None:
        self.in_flight.add(task.path)
        self._tasks.append(task)

    def ask(self, question: Ask) -> None:
        self._asks.append(question)

    def open_nested(self, record: StepRecord, skill: str, inputs: dict[str, Json]) -> None:
        scope = self.tree.open_scope(paths.prefix(record.path, record.attempts), skill, inputs)
        for id_ in scope.unblocked():
            self.enqueue(_STEP, scope.prefix + id_)

    def end_record(self, record: StepRecord, state: StepState) -> None:
        """End a record, and go on with what waited for it."""
        if record.asks:
            self._settled.append(record.path)
        freed = self.tree.end(record, state)
        self.change(record)
        self.retrying.discard(record.path)
        group = self.tree.group_of(record)
        if group is not None:
            self.groups.progress(group)
            return
        scope = self.tree.scope_of(record.path)
        obstacle = self._obstacle(scope, record)
        if obstacle is not None:
            self.close(scope, *obstacle)
        if scope.closing is None:
            for id_ in freed:
                self.enqueue(_STEP, scope.prefix + id_)
        if scope.is_done:
            self._finish(scope)

    # Steps

    def _step(self, path: str) -> None:
        scope = self.tree.scope_of(path)
        step = scope.steps[path[len(scope.prefix) :]]
        if scope.closing is not None:
            return
        record = StepRecord(path, step.id, Shape.CALL, StepState.RUNNING, 0, uses=step.uses)
        try:
            reason = self._reason_to_skip(scope, step)
            if reason is not None:
                record.reason, record.blocked = reason, step.id in scope.blocked
                self.tree.begin(record)
                self.end_record(record, StepState.SKIPPED)
                return
            record.uses = self._route(scope, step, record)
            self._begin(scope, step, record)
        except StepFailed as failed:
            if record.path not in self.tree.records:
                self.tree.begin(record)
            self.calls.fail(record, failed.failure)

    def _reason_to_skip(self, scope: Scope, step: Step) -> str | None:
        if step.id in scope.blocked:
            return scope.blocked[step.id]
        if scope.is_uncalled_for(step):
            return "Skipped: nobody denied"
        if step.condition and not expressions.truthy(self.evaluate(scope.state, step.condition)):
            return f"Skipped: the condition is false: {step.condition}"
        return None

    def evaluate(self, state: State, text: str) -> Json:
        """Return the value of an expression. Raise StepFailed if it has none."""
        try:
            return expressions.parse(text).evaluate(state.view, spend=self.budget.spend)
        except ExpressionError as error:
            raise StepFailed(Code.EXPRESSION, str(error)) from None

    def _route(self, scope: Scope, step: Step, record: StepRecord) -> str:
        if step.router is None:
            return step.uses
        value = self.evaluate(scope.state, step.router.on)
        key = value if isinstance(value, str) else canonical(value)
        uses = step.router.cases.get(key, step.router.default)
        if not uses:
            cases = ", ".join(step.router.cases)
            raise StepFailed(Code.ROUTER, f"No case of the router is “{key}”, and there is no default. Cases: {cases}.")
        record.notes["router_matched"] = key if key in step.router.cases else "__default__"
        return uses

    def _begin(self, scope: Scope, step: Step, record: StepRecord) -> None:
        """Begin a step as what it is: a scatter, a foreach, a while or one call, in this order."""
        if step.scatter is not None:
            record.shape, record.uses = Shape.SCATTER, ""
        elif step.foreach is not None:
            record.shape, record.input = Shape.FOREACH, self._items(scope, step)
        elif step.while_ is not None:
            record.shape = Shape.WHILE
        else:
            self.calls.begin(scope, step, record)
            return
        self.tree.begin(record)
        self.change(record)
        self.groups.progress(self.tree.groups[record.path])

    def _items(self, scope: Scope, step: Step) -> list[Json]:
        items = self.evaluate(scope.state, step.foreach.items) if step.foreach else []
        if not isinstance(items, list):
            raise StepFailed(Code.EXPRESSION, f"foreach.items is no list, but {type_of(items)}.")
        if len(items) > MOST_ITERATIONS:
            message = f"foreach has {len(items):,} items. {MOST_ITERATIONS:,} are allowed."
            raise StepFailed(Code.LIMIT, f"{message} Divide the list.")
        return list(items)

    # Workflows

    def _obstacle(self, scope: Scope, record: StepRecord) -> tuple[StepState, Failure] | None:
        """Return the reason why a workflow cannot go on after a record ended, None if it can."""
        failure = record.failure or Failure(Code.CALL, "")
        if record.state is StepState.DENIED and not scope.steps[record.step].on_deny:
            return StepState.DENIED, failure
        if record.state is StepState.FAILED and (self.rules.fail_fast or failure.is_safety):
            blocked = scope.blocked_by(record.step)
            after = f" Blocked steps due to failed dependencies: {', '.join(blocked)}." if blocked else ""
            message = f"Step {record.step} failed: {failure.message}{after}"
            return StepState.FAILED, Failure(failure.code, message)
        return None

    def close(self, scope: Scope, state: StepState, failure: Failure) -> None:
        """Let nothing more of a workflow begin. What waits is cancelled; what runs comes to its end."""
        if scope.closing is None:
            scope.closing = (state, failure)
            for path in sorted(scope.active):
                self.calls.cancel(self.tree.records[path])

    def _finish(self, scope: Scope) -> None:
        state, failure = scope.closing or (StepState.COMPLETED, None)
        outputs = scope.state.outputs
        if failure is None:
            try:
                outputs = check_outputs(scope.plan.outputs, outputs, what="The workflow")
            except StepFailed as failed:
                state, failure = StepState.FAILED, failed.failure
        if scope is self.tree.root:
            self.end = self.end or RunEnd(_run_state(state, failure), outputs, failure)
            return
        record = self.tree.records[paths.owner_of(scope.prefix)]
        if record.is_over:
            return
        if failure is None:
            self.calls.release(record, outputs)
        else:
            self.calls.fail(record, failure, state=state, retryable=state is StepState.FAILED)


def _run_state(state: StepState, failure: Failure | None) -> RunState:
    if failure is not None and failure.code is Code.EXPIRED:
        return RunState.EXPIRED
    return {StepState.COMPLETED: RunState.COMPLETED, StepState.DENIED: RunState.DENIED}.get(state, RunState.FAILED)
