"""Records of steps as rows, and back."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime

from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.policy import Verdict
from registry.core.workflows.records import Phase, Shape, StepRecord, StepState
from registry.core.workflows.values import Json
from registry.models import Run, RunStep
from registry.services.workflows import stored_values

TEXT_CHARS = 1_000
_KEYS = ("run", "path", "step", "began", "started_at")  # never change
_UPDATED = tuple(field.name for field in RunStep._meta.concrete_fields if field.name not in (*_KEYS, "id"))


def read(run: Run) -> list[StepRecord]:
    """Return the records of a run with one query. Large values are read from the storage."""
    return [_record(row) for row in RunStep.objects.filter(run=run).order_by("began")]


def read_one(run: Run, path: str) -> StepRecord | None:
    row = RunStep.objects.filter(run=run, path=path).first()
    return _record(row) if row is not None else None


def prepare(run_id: int, changed: Iterable[StepRecord], *, now: datetime) -> list[RunStep]:
    """Return the rows of records, with their large values stored. Call it before the transaction."""
    return [_row(run_id, record, now) for record in changed]


def write(run_id: int, rows: list[RunStep]) -> None:
    """Insert or update rows with one statement."""
    stored_values.claim(run_id, (value for row in rows for value in (row.input, row.output, row.held)))
    RunStep.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["run", "path"], update_fields=_UPDATED, batch_size=200
    )


def _row(run_id: int, record: StepRecord, now: datetime) -> RunStep:
    failure = record.failure
    return RunStep(
        run_id=run_id, path=record.path, step=record.step, shape=record.shape.value, state=record.state.value,
        uses=record.uses, phase=record.phase.value, asks=record.asks, began=record.began, ended=record.ended,
        attempts=record.attempts, input=_packed(record.input, now), output=_packed(record.output, now),
        held=_packed(record.held, now), code=failure.code.value if failure else "",
        message=failure.message[:TEXT_CHARS] if failure else "", reason=record.reason[:TEXT_CHARS],
        blocked=record.blocked, verdicts=_verdicts(record.verdicts), post_verdicts=_verdicts(record.post_verdicts),
        approvals=list(record.approvals), definition=record.definition, reads=list(record.reads),
        writes=list(record.writes), notes=record.notes,
        wake_at=datetime.fromtimestamp(record.wake_at, UTC) if record.wake_at is not None else None,
        started_at=now, finished_at=now if record.is_over else None,
    )  # fmt: skip


def _packed(value: Json, now: datetime) -> Json:
    return None if value is None else stored_values.pack(value, now=now)


def _verdicts(verdicts: tuple[Verdict, ...] | None) -> list[Json] | None:
    return None if verdicts is None else [asdict(verdict) for verdict in verdicts]


def _record(row: RunStep) -> StepRecord:
    return StepRecord(
        path=row.path, step=row.step, shape=Shape(row.shape), state=StepState(row.state), began=row.began,
        uses=row.uses, input=stored_values.unpack(row.input), output=stored_values.unpack(row.output),
        held=stored_values.unpack(row.held), phase=Phase(row.phase), attempts=row.attempts,
        failure=Failure(Code(row.code), row.message) if row.code else None, reason=row.reason, blocked=row.blocked,
        verdicts=_read_verdicts(row.verdicts), post_verdicts=_read_verdicts(row.post_verdicts),
        approvals=tuple(row.approvals), asks=row.asks,
        wake_at=row.wake_at.timestamp() if row.wake_at is not None else None, ended=row.ended,
        definition=row.definition, reads=tuple(row.reads), writes=tuple(row.writes), notes=dict(row.notes),
    )  # fmt: skip


def _read_verdicts(stored: list[dict[str, Json]] | None) -> tuple[Verdict, ...] | None:
    return None if stored is None else tuple(Verdict(**verdict) for verdict in stored)
