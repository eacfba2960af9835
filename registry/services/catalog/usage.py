"""Usage counts. Reads only add to a buffer in memory; a thread writes it to the database in bulk."""

import logging
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from registry.models import Agent, Token, Usage

log = logging.getLogger(__name__)


class Load(NamedTuple):
    project_id: int
    skill: str
    version: str
    caller: str
    day: date


class _Buffer:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loads: Counter[Load] = Counter()
        self.seen: dict[tuple[int, int | None], datetime] = {}
        self.flusher: threading.Thread | None = None

    def take(self) -> tuple[Counter[Load], dict[tuple[int, int | None], datetime]]:
        with self.lock:
            taken = self.loads, self.seen
            self.loads, self.seen = Counter(), {}
        return taken


_buffer = _Buffer()


def count_load(project_id: int, skill: str, version: str, *, caller: str, now: datetime) -> None:
    with _buffer.lock:
        _buffer.loads[Load(project_id, skill, version, caller, now.date())] += 1
    _start_flusher()


def record_seen(token_id: int, agent_id: int | None, *, now: datetime) -> None:
    """Record the last use of a token and its agent."""
    with _buffer.lock:
        _buffer.seen[(token_id, agent_id)] = now
    _start_flusher()


def flush() -> int:
    """Write the buffer and return the number of rows. After an error the buffer is restored."""
    loads, seen = _buffer.take()
    if not loads and not seen:
        return 0
    try:
        with transaction.atomic():
            _write_loads(loads)
            _write_seen(seen)
    except Exception:
        with _buffer.lock:
            _buffer.loads.update(loads)
            _buffer.seen = {**seen, **_buffer.seen}
        raise
    return len(loads)


def _write_seen(seen: dict[tuple[int, int | None], datetime]) -> None:
    """Update rows in the order of their keys, as `_write_loads` does, so that concurrent flushes never deadlock."""
    agents: dict[int, datetime] = {}
    for (token_id, agent_id), at in sorted(seen.items()):
        Token.objects.filter(Q(last_used_at=None) | Q(last_used_at__lt=at), pk=token_id).update(last_used_at=at)
        if agent_id is not None:
            agents[agent_id] = max(at, agents.get(agent_id, at))
    for agent_id, at in sorted(agents.items()):
        Agent.objects.filter(Q(last_seen_at=None) | Q(last_seen_at__lt=at), pk=agent_id).update(last_seen_at=at)


def _write_loads(loads: Counter[Load]) -> None:
    """Upsert the rows of the day. The statement works on SQLite and PostgreSQL."""
    quote = connection.ops.quote_name
    table = quote(Usage._meta.db_table)
    statement = (
        f"INSERT INTO {table} (project_id, skill, version, caller, day, loads) VALUES (%s, %s, %s, %s, %s, %s) "  # noqa: S608
        "ON CONFLICT (project_id, skill, version, caller, day) "
        f"DO UPDATE SET loads = {table}.loads + EXCLUDED.loads"
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, [(*load, number) for load, number in sorted(loads.items())])


def _start_flusher() -> None:
    if _buffer.flusher is None or not _buffer.flusher.is_alive():
        with _buffer.lock:
            if _buffer.flusher is None or not _buffer.flusher.is_alive():
                _buffer.flusher = threading.Thread(target=_flush_for_ever, name="usage", daemon=False)
                _buffer.flusher.start()


def _flush_for_ever() -> None:
    """Flush until the main thread ends, then once more. A web worker stops without running `atexit`."""
    main = threading.main_thread()
    while main.is_alive():
        main.join(settings.USAGE_FLUSH_SECONDS)
        _flush_quietly()


def _flush_quietly() -> None:
    try:
        flush()
    except Exception:
        log.exception("Usage could not be written. It is kept in memory and written later.")
    finally:
        connection.close()


def loads_by_day(project_id: int, *, days: int, skills: Sequence[str] | None = None) -> dict[str, dict[date, int]]:
    """Return the loads of the last days by skill and day, for all skills or only `skills`."""
    rows = _since(project_id, days)
    if skills is not None:
        rows = rows.filter(skill__in=skills)
    result: dict[str, dict[date, int]] = {}
    for skill, day, total in rows.values_list("skill", "day").annotate(total=Sum("loads")):
        result.setdefault(skill, {})[day] = total
    return result


def totals(project_id: int, *, days: int) -> dict[str, int]:
    """Return the number of loads of each skill in the last days."""
    return dict(_since(project_id, days).values_list("skill").annotate(total=Sum("loads")))


@dataclass(frozen=True, slots=True)
class Use:
    """Loads of one skill by day, by version and by caller, largest first. Callers are (name, is an agent, loads)."""

    days: tuple[tuple[date, int], ...]
    versions: tuple[tuple[str, int], ...]
    callers: tuple[tuple[str, bool, int], ...]

    @property
    def total(self) -> int:
        return sum(loads for _, loads in self.days)


def of_skill(project_id: int, skill: str, *, days: int) -> Use:
    rows = _since(project_id, days).filter(skill=skill)
    today = timezone.now().date().toordinal()
    counts: dict[date, int] = dict(rows.values_list("day").annotate(total=Sum("loads")))
    versions = rows.values_list("version").annotate(total=Sum("loads")).order_by("-total", "version")
    callers = rows.values_list("caller").annotate(total=Sum("loads")).order_by("-total", "caller")
    agents = set(Agent.objects.filter(project_id=project_id).values_list("name", flat=True))
    every = (date.fromordinal(today - back) for back in range(days - 1, -1, -1))
    return Use(
        tuple((day, counts.get(day, 0)) for day in every),
        tuple(versions),
        tuple((name, name in agents, loads) for name, loads in callers),
    )


def _since(project_id: int, days: int) -> QuerySet[Usage]:
    first = date.fromordinal(timezone.now().date().toordinal() - days + 1)
    return Usage.objects.filter(project_id=project_id, day__gte=first)


def discard() -> None:
    """Discard the buffer without writing it."""
    _buffer.take()
