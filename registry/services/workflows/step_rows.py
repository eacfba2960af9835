"""Records of steps as rows, and back."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection

from registry.core.workflows.failures import Code, Failure
from registry.core.workflows.policy import Verdict
from registry.core.workflows.records import Phase, Shape, StepRecord, StepState
from registry.core.workflows.values import Json
from registry.models import Run, RunStep
from registry.services.workflows import stored_values

TEXT_CHARS = 1_000
_ROWS = 32  # in one statement, because SQLite may allow 999 values
_PATH = ("run_id", "path")
_NEVER_CHANGE = (*_PATH, "step", "began", "started_at")
_FIELDS = tuple(field for field in RunStep._meta.concrete_fields if not field.primary_key)


@dataclass(frozen=True, slots=True)
class PreparedRows:
    """Statements that insert or update rows, with their values, and the stored values that may be files."""

    statements: Sequence[tuple[str, list[Any]]]
    stored: Sequence[Json]


def read(run: Run) -> list[StepRecord]:
    """Return the records of a run with one query. Large values are read from the storage."""
    return [_record(row) for row in RunStep.objects.filter(run=run).order_by("began")]


def read_one(run: Run, path: str) -> StepRecord | None:
    row = RunStep.objects.filter(run=run, path=path).first()
    return _record(row) if row is not None else None


def prepare(run_id: int, changed: Iterable[StepRecord], *, now: datetime) -> PreparedRows:
    """Prepare the rows of records. Call it before the transaction, which on SQLite keeps all other writers waiting."""
    rows = [_row(run_id, record, now) for record in changed]
    parts = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
    return PreparedRows(
        [(_statement(len(part)), [value for row in part for value in _values(row)]) for part in parts],
        [value for row in rows for value in (row.input, row.output, row.held)],
    )


def write(run_id: int, rows: PreparedRows) -> None:
    """Insert or update rows, with one statement for 32 of them."""
    stored_values.claim(run_id, rows.stored)
    with connection.cursor() as cursor:
        for statement, values in rows.statements:
            cursor.execute(statement, values)


@lru_cache(maxsize=_ROWS)
def _statement(count: int) -> str:
    """Return the statement for a number of rows. It works on SQLite and PostgreSQL.

    `bulk_create` builds it anew each time. That took a third of the CPU time of a step.
    """
    quote = connection.ops.quote_name
    columns = [str(field.column) for field in _FIELDS]
    row = f"({', '.join(['%s'] * len(columns))})"
    changed = ", ".join(f"{quote(name)} = EXCLUDED.{quote(name)}" for name in columns if name not in _NEVER_CHANGE)
    return (
        f"INSERT INTO {quote(RunStep._meta.db_table)} ({', '.join(map(quote, columns))}) "  # noqa: S608
        f"VALUES {', '.join([row] * count)} ON CONFLICT ({', '.join(map(quote, _PATH))}) DO UPDATE SET {changed}"
    )


def _values(row: RunStep) -> list[Any]:
    return [field.get_db_prep_save(getattr(row, field.attname), connection) for field in _FIELDS]


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
