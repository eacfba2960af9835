"""Groups of calls that belong to one step: foreach, while and scatter."""

from collections.abc import Mapping

from registry.core.workflows import paths
from registry.core.workflows.failures import Code, Failure, StepFailed
from registry.core.workflows.plan import CONCAT_LISTS, FIRST_SUCCESS, Step
from registry.core.workflows.records import Shape, StepRecord, StepState
from registry.core.workflows.values import Json


class Group:
    """The calls of one step. `next` is the number of calls that began, and `limit` of those that may begin so far."""

    def __init__(self, record: StepRecord, step: Step, step_fields: tuple[str, ...] = ()) -> None:
        self.record, self.step = record, step
        self.active: set[str] = set()
        self.results: dict[str, StepRecord] = {}
        self.next = 0
        self.limit = 1 if record.shape is Shape.WHILE else len(self.members)
        self.failure: tuple[StepState, Failure] | None = None
        self.won = False  # a member of a scatter has succeeded, and no other is needed
        self._fields = step_fields

    @property
    def members(self) -> tuple[Json, ...]:
        """The items of a foreach, or the capabilities of a scatter."""
        if self.record.shape is Shape.SCATTER:
            return self.step.scatter.capabilities if self.step.scatter else ()
        return tuple(self.record.input or ())

    @property
    def is_open(self) -> bool:
        """True if another call may begin."""
        return self.failure is None and not self.won and self.next < self.limit

    @property
    def is_done(self) -> bool:
        return not self.active and not self.is_open

    def path(self, index: int) -> str:
        match self.record.shape:
            case Shape.FOREACH:
                return paths.item(self.record.path, index)
            case Shape.WHILE:
                return paths.iteration(self.record.path, index + 1)
            case _:
                return paths.member(self.record.path, self.members[index])

    def note_begin(self, record: StepRecord) -> None:
        self.active.add(record.path)
        self.next += 1
        self.limit = max(self.limit, self.next)

    def note_end(self, record: StepRecord) -> None:
        self.active.discard(record.path)
        self.results[record.path] = record
        if record.state is StepState.DENIED or (
            record.state is StepState.FAILED and self.record.shape is not Shape.SCATTER
        ):
            failure = record.failure or Failure(Code.DENIED, "")
            self.failure = self.failure or (record.state, Failure(failure.code, f"{record.path}: {failure.message}"))
        elif record.failure is not None and record.failure.is_safety:
            self.failure = self.failure or (record.state, record.failure)
        scatter = self.step.scatter
        if scatter and scatter.merge == FIRST_SUCCESS and record.state is StepState.COMPLETED:
            self.won = True

    def output(self) -> dict[str, Json] | None:
        """Return the output of the step, or None if every call was withheld. Raise StepFailed if there is none."""
        done = [self.results[path] for path in map(self.path, range(self.next)) if path in self.results]
        if done and all(record.state is StepState.DEGRADED for record in done):
            return None
        match self.record.shape:
            case Shape.FOREACH:
                return self._lists(done)
            case Shape.WHILE:
                return dict(done[-1].output or {})
            case _:
                return self._scattered([record for record in done if record.state is StepState.COMPLETED])

    def _lists(self, done: list[StepRecord]) -> dict[str, Json]:
        """Return a list for each field, with one element for each item. A missing value is null."""
        outputs = [record.output if isinstance(record.output, dict) else {} for record in done]
        keys = dict.fromkeys([*self._fields, *(key for output in outputs for key in output)])
        return {key: [output.get(key) for output in outputs] for key in keys}

    def _scattered(self, done: list[StepRecord]) -> dict[str, Json]:
        scatter = self.step.scatter
        if scatter is None or not done:
            raise StepFailed(Code.CALL, f"All {len(self.results)} capabilities of the scatter failed.")
        if scatter.merge == FIRST_SUCCESS:
            return dict(min(done, key=lambda record: record.ended or 0).output or {})
        outputs: dict[str, Mapping[str, Json]] = {record.uses: record.output or {} for record in done}
        if scatter.merge != CONCAT_LISTS:
            return {name.replace(".", "_"): dict(output) for name, output in outputs.items()}
        lists: dict[str, list[Json]] = {}
        for output in outputs.values():
            for key, value in output.items():
                lists.setdefault(key, []).extend(value if isinstance(value, list) else [value])
        return dict(lists)
