"""The tree of a run: its records, the scopes of its workflows and the groups of its steps.

The tree only remembers. `scheduling.py` decides what happens, and writes it here. Replaying the records of a run in
their order gives the same tree again, whatever the code that decides has become since.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from registry.core.workflows import outputs, paths
from registry.core.workflows.capability import Hints
from registry.core.workflows.failures import Code, StepFailed
from registry.core.workflows.field_checks import check_inputs
from registry.core.workflows.groups import Group
from registry.core.workflows.json_tree import Size, size_of
from registry.core.workflows.plan import SKILL_PREFIX, Plan, Step
from registry.core.workflows.records import GROUPS, Phase, Shape, StepRecord, StepState, in_order
from registry.core.workflows.scope import Scope
from registry.core.workflows.values import Json

ROOT = ""
# Of all inputs and outputs of a run. Values are counted too, because 32 MiB of empty lists take 700 MB of memory.
MOST_CHARS = 32 * 1024 * 1024
MOST_VALUES = 800_000


@dataclass(frozen=True, slots=True)
class Library:
    """Everything that a run consists of, as its lock fixed it at the start.

    `plans` has the workflow of the run under the empty name, and nested skills under theirs. `skills` names the skill
    behind each capability that is one. `fields` are the outputs of each capability.
    """

    lock: str
    plans: Mapping[str, Plan]
    hints: Mapping[str, Hints] = field(default_factory=dict)
    skills: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def skill_of(self, uses: str) -> str | None:
        """Return the nested skill that a name calls, or None for a capability that is none."""
        return uses.removeprefix(SKILL_PREFIX) if uses.startswith(SKILL_PREFIX) else self.skills.get(uses)


class RunTree:
    def __init__(self, library: Library, inputs: Mapping[str, Json], frame: Mapping[str, Json] | None = None) -> None:
        self.library = library
        self.frame = frame
        self.records: dict[str, StepRecord] = {}
        self.scopes: dict[str, Scope] = {}
        self.groups: dict[str, Group] = {}
        self.sequence = 0
        self.kept = Size(0, 0)  # of the inputs and outputs of all records
        self.root = self.open_scope("", ROOT, inputs)

    def replay(self, records: Iterable[StepRecord]) -> None:
        """Take over the records of a run that has begun before."""
        for number, record, is_end in in_order(records):
            self.sequence = max(self.sequence, number)
            if not is_end:
                for value in (record.input, record.output, record.held):
                    self.kept = self.kept.plus(size_of(value))
                self._note_begin(record)
                if record.shape is Shape.NESTED:
                    self._reopen(record)
                continue
            if record.state is StepState.COMPLETED:
                self._write(record)
            self._note_end(record)

    def keep(self, size: Size) -> None:
        """Count a value that a record keeps. Raise StepFailed if the run has too much."""
        kept = self.kept.plus(size)
        for count, most, what in ((kept.chars, MOST_CHARS, "characters"), (kept.values, MOST_VALUES, "values")):
            if count > most:
                message = f"The inputs and outputs of the run have more than {most:,} {what}."
                raise StepFailed(Code.LIMIT, f"{message} Divide the work into several runs.")
        self.kept = kept

    def open_scope(self, prefix: str, skill: str, inputs: Mapping[str, Json]) -> Scope:
        scope = Scope(self.library.plans[skill], prefix, inputs, self.frame)
        self.scopes[prefix] = scope
        return scope

    def scope_of(self, path: str) -> Scope:
        return self.scopes[paths.scope_of(path)]

    def step_of(self, record: StepRecord) -> Step:
        return self.scope_of(record.path).steps[record.step]

    def group_of(self, record: StepRecord) -> Group | None:
        return self.groups.get(paths.group_of(record.path))

    def is_closing(self, record: StepRecord) -> bool:
        """Return whether nothing more may begin at a record, because its workflow or its group cannot go on."""
        group = self.group_of(record)
        closed = group is not None and (group.failure is not None or group.won)
        return closed or self.scope_of(record.path).closing is not None

    def is_live(self, scope: Scope) -> bool:
        """Return whether a workflow still runs. An earlier attempt of a nested skill does not."""
        owner = self.records.get(paths.owner_of(scope.prefix)) if scope.prefix else None
        if owner is None:
            return not scope.prefix
        is_latest = scope.prefix == paths.prefix(owner.path, owner.attempts)
        return not owner.is_over and owner.phase is Phase.CALL and is_latest

    def scope_below(self, record: StepRecord) -> Scope | None:
        """Return the open scope of a nested skill."""
        return self.scopes.get(paths.prefix(record.path, record.attempts))

    def begin(self, record: StepRecord) -> None:
        """Number a new record and put it into the tree."""
        self.sequence += 1
        record.began = self.sequence
        self._note_begin(record)

    def end(self, record: StepRecord, state: StepState) -> list[str]:
        """End a record. Return the steps of its scope that need not wait any longer.

        A completed record is written to the state of its workflow first. StateError means that this is not possible,
        and that the record has not ended.
        """
        if state is StepState.COMPLETED:
            self._write(record)
        self.sequence += 1
        record.ended, record.state = self.sequence, state
        record.wake_at, record.asks = None, ""
        return self._note_end(record)

    def wiring(self, record: StepRecord) -> Hints:
        """Return the hints that decide about the outputs of a step without an output mapping."""
        return self.library.hints.get(record.uses) or Hints()

    def _write(self, record: StepRecord) -> None:
        """Write the outputs of a step. A foreach and a scatter write once, a while after each iteration."""
        group = self.group_of(record)
        repeats = group is not None and group.record.shape is Shape.WHILE
        if record.shape is Shape.WHILE or (group is not None and not repeats):
            return
        step = self.step_of(record)
        writes = outputs.writes_of(step, record.output, self.wiring(record), again=repeats)
        self.scope_of(record.path).state.apply(writes, step=step.id)
        record.writes = tuple(write.target for write in writes)

    def _note_begin(self, record: StepRecord) -> None:
        self.records[record.path] = record
        group = self.group_of(record)
        if group is not None:
            group.note_begin(record)
        else:
            self.scope_of(record.path).active.add(record.path)
        if record.shape in GROUPS:
            fields = self.library.fields.get(record.uses, ())
            self.groups[record.path] = Group(record, self.step_of(record), fields)

    def _note_end(self, record: StepRecord) -> list[str]:
        group = self.group_of(record)
        if group is not None:
            group.note_end(record)
            return []
        scope = self.scope_of(record.path)
        if record.state in (StepState.SKIPPED, StepState.DEGRADED):
            scope.state.mark_absent(outputs.targets_of(self.step_of(record), self.wiring(record)))
        return scope.note_end(record)

    def _reopen(self, record: StepRecord) -> None:
        """Open the scopes of every attempt of a nested skill."""
        skill = self.library.skill_of(record.uses) or ""
        inputs = check_inputs(self.library.plans[skill].inputs, record.input, what=f"The skill {skill}")
        for attempt in range(1, record.attempts + 1):
            self.open_scope(paths.prefix(record.path, attempt), skill, inputs)
