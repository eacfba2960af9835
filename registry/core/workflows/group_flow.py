"""The flow of groups: which call of a foreach, while or scatter begins next, and when the group ends."""

from typing import TYPE_CHECKING

from registry.core.workflows import expressions
from registry.core.workflows.failures import StepFailed
from registry.core.workflows.groups import Group
from registry.core.workflows.records import Shape, StepRecord, StepState
from registry.core.workflows.values import Json

if TYPE_CHECKING:
    from registry.core.workflows.scheduling import Scheduler


class GroupFlow:
    def __init__(self, scheduler: "Scheduler") -> None:
        self._scheduler = scheduler
        self._tree = scheduler.tree

    def begin_next(self, group: Group) -> None:
        """Begin the next call of a group."""
        scope = self._tree.scope_of(group.record.path)
        if scope.closing is not None or not group.is_open or group.record.is_over:
            return
        calls, record = self._scheduler.calls, group.record
        uses = group.members[group.next] if record.shape is Shape.SCATTER else record.uses
        call = StepRecord(group.path(group.next), record.step, Shape.CALL, StepState.RUNNING, 0, uses=uses)
        local = self._local_values(group)
        try:
            calls.begin(scope, group.step, call, local)
        except StepFailed as failed:
            self._tree.begin(call)
            calls.fail(call, failed.failure)
        if group.is_open and not record.is_over:
            self._scheduler.enqueue_group(record.path)

    def _local_values(self, group: Group) -> dict[str, Json]:
        loop = group.step.foreach
        if group.record.shape is not Shape.FOREACH or loop is None:
            return {}
        return {loop.as_: group.members[group.next], loop.index_as: group.next}

    def progress(self, group: Group) -> None:
        """Go on with a group after one of its calls ended, or end it."""
        record = group.record
        if record.is_over:
            return
        try:
            self._repeat(group)
            if group.failure is not None or group.won:
                for path in sorted(group.active):
                    self._scheduler.calls.cancel(self._tree.records[path])
            if group.is_open:
                self._scheduler.enqueue_group(record.path)
            elif group.is_done and not record.is_over:
                self._end(group)
        except StepFailed as failed:
            self._scheduler.calls.fail(record, failed.failure)

    def _repeat(self, group: Group) -> None:
        """Allow another iteration of a while, if its condition holds."""
        loop = group.step.while_
        if group.record.shape is not Shape.WHILE or loop is None or group.active or group.failure:
            return
        if not 0 < group.next == group.limit:
            return
        state = self._tree.scope_of(group.record.path).state
        goes_on = expressions.truthy(self._scheduler.evaluate(state, loop.condition))
        exhausted = goes_on and group.next >= loop.max_iterations
        group.record.notes = {"while_iterations": group.next, "while_exhausted": exhausted}
        if goes_on and not exhausted:
            group.limit += 1

    def _end(self, group: Group) -> None:
        record = group.record
        if group.failure is not None:
            self._scheduler.calls.fail(record, group.failure[1], state=group.failure[0])
            return
        output = group.output()
        if output is None:
            self._scheduler.end_record(record, StepState.DEGRADED)
            return
        if record.shape is Shape.FOREACH:
            record.notes["foreach_count"] = len(group.members)
        self._scheduler.calls.complete(record, output)
