"""Counts loads without a write on the read path: buffered in the process, flushed in bulk by a thread."""

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
    """Remembers when a token, and the agent it belongs to, was last used."""
    with _buffer.lock:
        _buffer.seen[(token_id, agent_id)] = now
    _start_flusher()


def flush() -> int:
    """Writes what was counted; returns how many rows. What cannot be written is counted again later."""
    loads, seen = _buffer.take()
    if not loads and not seen:
        return 0
    try:
        with transaction.atomic():
            _add(loads)
            _mark(seen)
    except Exception:
        with _buffer.lock:
            _buffer.loads.update(loads)
            _buffer.seen = {**seen, **_buffer.seen}
        raise
    return len(loads)


def _mark(seen: dict[tuple[int, int | None], datetime]) -> None:
    """Rows in order of their keys, here as in `_add`: several processes that flush at once never wait in a circle."""
    agents: dict[int, datetime] = {}
    for (token_id, agent_id), at in sorted(seen.items()):
        Token.objects.filter(Q(last_used_at=None) | Q(last_used_at__lt=at), pk=token_id).update(last_used_at=at)
        if agent_id is not None:
            agents[agent_id] = max(at, agents.get(agent_id, at))
    for agent_id, at in sorted(agents.items()):
        Agent.objects.filter(Q(last_seen_at=None) | Q(last_seen_at__lt=at), pk=agent_id).update(last_seen_at=at)


def _add(loads: Counter[Load]) -> None:
    """Adds to the rows of the day; the same statement on SQLite and PostgreSQL."""
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
    """Until the main thread ends, and then once more: a web worker is stopped without running `atexit`."""
    main = threading.main_thread()
    while main.is_alive():
        main.join(settings.USAGE_FLUSH_SECONDS)
        _flush_quietly()


def _flush_quietly() -> None:
    try:
        flush()
    except Exception:
        log.exception("Usage could not be written; it is kept and tried again.")
    finally:
        connection.close()


def loads_by_day(project_id: int, *, days: int, skills: Sequence[str] | None = None) -> dict[str, dict[date, int]]:
    """Loads in the last days, of every skill of a project or of those named."""
    rows = _since(project_id, days)
    if skills is not None:
        rows = rows.filter(skill__in=skills)
    result: dict[str, dict[date, int]] = {}
    for skill, day, total in rows.values_list("skill", "day").annotate(total=Sum("loads")):
        result.setdefault(skill, {})[day] = total
    return result


def totals(project_id: int, *, days: int) -> dict[str, int]:
    """How often each skill of a project was loaded in the last days."""
    return dict(_since(project_id, days).values_list("skill").annotate(total=Sum("loads")))


@dataclass(frozen=True, slots=True)
class Use:
    """Loads of one skill: each of the last days, by version and by caller, the most first. Agents are marked."""

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
    """Drops what was counted and not yet written."""
    _buffer.take()
