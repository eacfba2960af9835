"""Everything that people and programs see of one run, bounded in size, with a fixed number of queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Case, IntegerField, QuerySet, Value, When

from registry.core.errors import NotFound, TooLarge
from registry.core.workflows import policy, run_trace
from registry.core.workflows.capability import WARN
from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.policy import Verdict
from registry.core.workflows.records import Shape, StepRecord, StepState
from registry.core.workflows.run_trace import Times
from registry.core.workflows.run_tree import RunTree
from registry.core.workflows.trace import Contribution, TraceStep, lineage
from registry.core.workflows.values import Json, canonical
from registry.models import Project, Run, RunQuestion, RunStep
from registry.models.workflows import OPEN
from registry.services.permissions import Actor
from registry.services.workflows import answerers, locks, runs, step_rows, stored_values

MOST_STEPS = 1_000  # in one answer
MOST_QUESTIONS = 200
MOST_TRACED = 20_000  # steps of a run whose lineage is computed
MOST_REBUILT = 2_000  # steps of a run whose state is rebuilt
SHOWN_CHARS = 16 * 1024  # of one value
_ALL_CHARS = 1024 * 1024  # of the values in one answer
_READ_CHARS = 8 * 1024 * 1024  # of the values that are looked at for one answer
_QUESTION_CHARS = 2 * 1024 * 1024  # of what the questions of one answer show
_VALUES = ("input", "output")


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value, or its size if it is too large to be shown. A size of None was not measured."""

    value: Json = None
    is_omitted: bool = False
    chars: int | None = None


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One path of a run. `warnings` are the objections of gates that only warn."""

    row: RunStep  # without its values
    input: ShownValue
    output: ShownValue
    verdicts: tuple[Verdict, ...]
    warnings: tuple[str, ...]

    @property
    def milliseconds(self) -> int | None:
        return _milliseconds(self.row)


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question. `obstacle` says why the actor cannot answer an open one, and is empty if they can.

    `shown` lacks the output of a call for agents, because people decide whether an agent gets it. It also lacks the
    values in `omitted`, because together with those of other questions they are too large.
    """

    row: RunQuestion
    shown: Mapping[str, Json]
    approved_by: tuple[str, ...]
    obstacle: str
    omitted: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.row.state == OPEN


@dataclass(frozen=True, slots=True)
class RunDetails:
    """`steps` are those of one page, in the order in which they began. `total_steps` counts all."""

    run: Run
    inputs: ShownValue
    outputs: ShownValue
    steps: Sequence[ShownStep]
    total_steps: int
    questions: Sequence[ShownQuestion]
    lock: Json
    trace: Sequence[TraceStep] = field(default=())

    @property
    def open_questions(self) -> list[ShownQuestion]:
        return [question for question in self.questions if question.is_open]


def details(project: Project, run_id: int, *, first: int = 0, most: int = MOST_STEPS, by: Actor) -> RunDetails:
    """Return a run with the page of its steps that starts at number `first`."""
    return details_of(runs.find(project, run_id, by=by), first=first, most=most, by=by)


def details_of(run: Run, *, first: int = 0, most: int = MOST_STEPS, by: Actor) -> RunDetails:
    budget = _Budget()
    inputs = budget.shown(run.inputs)
    outputs = budget.shown(run.outputs)
    rows = list(light(run)[first : first + min(most, MOST_STEPS)])
    is_whole = first == 0 and len(rows) < min(most, MOST_STEPS)
    return RunDetails(
        run=run,
        inputs=inputs,
        outputs=outputs,
        steps=list(_shown_steps(rows, budget)),
        total_steps=len(rows) if is_whole else run.steps.count(),
        questions=list(_questions(run, by)),
        lock=locks.shown(run.lock.document),
        trace=_trace(run, rows),
    )


def light(run: Run) -> QuerySet[RunStep]:
    """Return the steps of a run without their values, in the order in which they began."""
    return RunStep.objects.filter(run=run).defer("input", "output", "held").order_by("began")


def shown_steps(rows: Sequence[RunStep]) -> list[ShownStep]:
    """Return steps with their values, as far as these are small."""
    return list(_shown_steps(rows, _Budget()))


def _shown_steps(rows: Sequence[RunStep], budget: "_Budget") -> Iterator[ShownStep]:
    values = _values(rows, budget)
    omitted = ShownValue(is_omitted=True)
    for row in rows:
        given, produced = values.get(row.pk, (omitted, omitted))
        verdicts = tuple(Verdict(**each) for each in (*(row.verdicts or ()), *(row.post_verdicts or ())))
        warnings = tuple(policy.says(each) for each in verdicts if each.allowed is False and each.on_fail == WARN)
        yield ShownStep(row, given, produced, verdicts, warnings)


def _values(rows: Sequence[RunStep], budget: "_Budget") -> dict[int, tuple[ShownValue, ShownValue]]:
    """Return the values of steps by their ids, as far as the budget allows. Others are not even read."""
    found = {}
    wanted = RunStep.objects.filter(pk__in=[row.pk for row in rows]).order_by("began").values_list("pk", *_VALUES)
    for pk, given, produced in wanted.iterator(chunk_size=50) if rows else ():
        found[pk] = (budget.shown(given), budget.shown(produced))
        if budget.is_spent:
            break
    return found


class _Budget:
    """Decides which values are shown: none that is large, and not too many."""

    def __init__(self) -> None:
        self._shown = self._read = 0

    @property
    def is_spent(self) -> bool:
        return self._shown >= _ALL_CHARS or self._read >= _READ_CHARS

    def shown(self, stored: Json) -> ShownValue:
        if stored is None:
            return ShownValue()
        chars = stored_values.stored_size(stored)
        if chars is None:
            chars = len(canonical(stored))
            self._read += chars
            if chars <= SHOWN_CHARS and self._shown + chars <= _ALL_CHARS:
                self._shown += chars
                return ShownValue(stored, chars=chars)
        return ShownValue(is_omitted=True, chars=chars)


def question(project: Project, run_id: int, question_id: int, *, by: Actor) -> ShownQuestion:
    """Return one question with everything that it shows, however large it is."""
    run = runs.find(project, run_id, by=by)
    return next(_shown_questions(run, [_question(run, question_id)], by, most_chars=None))


def question_in_turn(
    project: Project, run_id: int, question_id: int, *, by: Actor
) -> tuple[Run, ShownQuestion, RunQuestion | None, RunQuestion | None]:
    """Return a run, one of its questions with everything that it shows, and those that the run asked before and after.

    The two others are of the same path and kind: the one before it, and the one that is open now.
    """
    run = runs.find(project, run_id, by=by)
    row = _question(run, question_id)
    alike = run.questions.filter(path=row.path, kind=row.kind)
    before = alike.filter(pk__lt=row.pk).order_by("-pk").first()
    after = alike.filter(pk__gt=row.pk, state=OPEN).first()
    return run, next(_shown_questions(run, [row], by, most_chars=None)), before, after


def _question(run: Run, question_id: int) -> RunQuestion:
    found = run.questions.select_related("run").filter(pk=question_id).first()
    if found is None:
        raise NotFound("This run has no such question.")
    return found


def _questions(run: Run, by: Actor) -> Iterator[ShownQuestion]:
    """Yield the open questions first, and then the latest of the others."""
    is_closed = Case(When(state=OPEN, then=Value(0)), default=Value(1), output_field=IntegerField())
    rows = list(run.questions.select_related("run").order_by(is_closed, "-pk")[:MOST_QUESTIONS])
    return _shown_questions(run, rows, by, most_chars=_QUESTION_CHARS)


def _shown_questions(
    run: Run, rows: Sequence[RunQuestion], by: Actor, *, most_chars: int | None
) -> Iterator[ShownQuestion]:
    several = [row for row in rows if row.needed > 1]
    approvals = answerers.standing(several) if several else {}
    answerer = answerers.answerer(run, by) if any(row.state == OPEN for row in rows) else None
    chars = 0
    for row in rows:
        given = approvals.get(row.pk, [])
        obstacle = ""
        if answerer is not None and row.state == OPEN:
            obstacle = answerer.obstacle(row, [user for user, _ in given])
        shown = _visible(row, by)
        chars += len(canonical(shown)) if most_chars is not None else 0
        omitted = () if most_chars is None or chars <= most_chars else _VALUES
        yield ShownQuestion(
            row, {**shown, **dict.fromkeys(omitted)}, tuple(name for _, name in given), obstacle, omitted
        )


def _visible(row: RunQuestion, by: Actor) -> Mapping[str, Json]:
    return {**row.shown, "output": None} if by.agent_id is not None else row.shown


def _trace(run: Run, rows: Sequence[RunStep]) -> tuple[TraceStep, ...]:
    times = {row.path: _times(row) for row in rows}
    return run_trace.trace_of(locks.library_of(run.lock), [_record(row) for row in rows], times)


def lineage_of(project: Project, run_id: int, target: str, *, scope: str = "", by: Actor) -> tuple[Contribution, ...]:
    """Return the steps that contributed to a value such as `outputs.summary`."""
    run = runs.find(project, run_id, by=by)
    rows = list(light(run)[: MOST_TRACED + 1])
    if len(rows) > MOST_TRACED:
        raise TooLarge(f"The run has more than {MOST_TRACED:,} steps, so the lineage of a value is not computed.")
    return lineage(_trace(run, rows), target, scope)


def state_of(project: Project, run_id: int, *, by: Actor) -> dict[str, Json]:
    """Return the state of a run as its records give it: the namespaces with everything that steps wrote."""
    run = runs.find(project, run_id, by=by)
    if run.steps.count() > MOST_REBUILT:
        raise TooLarge(f"The run has more than {MOST_REBUILT:,} steps, so its state is not rebuilt.")
    tree = RunTree(locks.library_of(run.lock), stored_values.unpack(run.inputs), run.frame)
    tree.replay(step_rows.read(run))
    return tree.root.state.as_json()


def run_values(project: Project, run_id: int, *, by: Actor) -> dict[str, Json]:
    """Return the inputs and outputs of a run, however large they are."""
    run = runs.find(project, run_id, by=by)
    return {"inputs": stored_values.unpack(run.inputs), "outputs": stored_values.unpack(run.outputs)}


def step_values(project: Project, run_id: int, path: str, *, by: Actor) -> dict[str, Json]:
    """Return what one step got and gave, however large it is."""
    run = runs.find(project, run_id, by=by)
    row = run.steps.filter(path=path[:500]).values(*_VALUES).first()
    if row is None:
        raise NotFound("The run has no such step.")
    return {name: stored_values.unpack(value) for name, value in row.items()}


def _record(row: RunStep) -> StepRecord:
    return StepRecord(
        path=row.path, step=row.step, shape=Shape(row.shape), state=StepState(row.state), began=row.began,
        uses=row.uses, attempts=row.attempts, ended=row.ended, reads=tuple(row.reads), writes=tuple(row.writes),
        failure=Failure(Code(row.code), row.message) if row.code else None,
    )  # fmt: skip


def _times(row: RunStep) -> Times:
    return Times(_text(row.started_at), _text(row.finished_at), _milliseconds(row))


def _text(moment: datetime | None) -> str:
    return moment.isoformat() if moment is not None else ""


def _milliseconds(row: RunStep) -> int | None:
    return None if row.finished_at is None else round((row.finished_at - row.started_at).total_seconds() * 1_000)
