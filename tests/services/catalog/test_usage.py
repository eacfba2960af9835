"""Loads are counted without a write on the read path, and written in bulk."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.models import Agent, Project, Token, Usage
from registry.services.catalog import usage
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def count(project: Project, skill: str = "greeting", *, caller: str = "bot", now: datetime = NOON) -> None:
    usage.count_load(project.pk, skill, "1", caller=caller, now=now)


def rows() -> list[tuple[str, str, date, int]]:
    return sorted(Usage.objects.values_list("skill", "caller", "day", "loads"))


def test_an_empty_buffer_writes_nothing(db: None) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert usage.flush() == 0
    assert len(queries) == 0


def test_counting_needs_no_query(project: Project) -> None:
    with CaptureQueriesContext(connection) as queries:
        for _ in range(100):
            count(project)
            usage.record_seen(1, 1, now=NOON)
    assert len(queries) == 0
    assert rows() == []


def test_equal_loads_become_one_row(project: Project) -> None:
    for _ in range(7):
        count(project)
    assert usage.flush() == 1
    assert rows() == [("greeting", "bot", NOON.date(), 7)]


def test_two_flushes_add_up(project: Project) -> None:
    for _ in range(2):
        count(project)
        count(project)
        usage.flush()
    assert rows() == [("greeting", "bot", NOON.date(), 4)]


def test_skills_callers_and_days_have_separate_rows(project: Project) -> None:
    count(project)
    count(project, "farewell")
    count(project, caller="other-bot")
    count(project, now=NOON + timedelta(days=1))
    assert usage.flush() == 4
    assert [loads for *_, loads in rows()] == [1, 1, 1, 1]


def test_many_rows_are_written_with_few_statements(project: Project) -> None:
    for number in range(200):
        count(project, f"skill-{number}")
    with CaptureQueriesContext(connection) as queries:
        usage.flush()
    assert len(queries) < 10


def test_flushed_loads_are_not_written_again(project: Project) -> None:
    count(project)
    usage.flush()
    assert usage.flush() == 0
    assert rows() == [("greeting", "bot", NOON.date(), 1)]


def test_loads_of_a_failed_flush_are_written_later(project: Project) -> None:
    count(project)
    with pytest.raises(DatabaseError), connection.execute_wrapper(_refuse):
        usage.flush()
    assert rows() == []
    count(project)
    usage.flush()
    assert rows() == [("greeting", "bot", NOON.date(), 2)]


def _refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    if sql.startswith("INSERT"):
        raise DatabaseError("the disk is full")
    return execute(sql, params, many, context)


@pytest.fixture
def token(project: Project, api: Callable[..., Any]) -> Token:
    api("read", agent="bot")
    return Token.objects.get()


def test_a_token_and_its_agent_store_when_they_were_last_seen(token: Token) -> None:
    usage.record_seen(token.pk, token.agent_id, now=NOON)
    usage.record_seen(token.pk, token.agent_id, now=NOON + timedelta(minutes=5))
    usage.flush()
    assert Token.objects.get().last_used_at == NOON + timedelta(minutes=5)
    assert Agent.objects.get().last_seen_at == NOON + timedelta(minutes=5)


def test_a_late_flush_of_another_process_keeps_the_newer_time(token: Token) -> None:
    for at in (NOON, NOON - timedelta(hours=1)):
        usage.record_seen(token.pk, token.agent_id, now=at)
        usage.flush()
    assert Token.objects.get().last_used_at == NOON


def test_discarded_loads_are_not_written(project: Project) -> None:
    count(project)
    usage.discard()
    assert usage.flush() == 0


# -- Through the API ---------------------------------------------------------------------------------------


@pytest.fixture
def bot(project: Project, operator: Actor, api: Callable[..., Any]) -> Any:
    create_skill(project, skill_bundle(files={"a.txt": b"a"}), by=operator)
    return api("read", agent="bot")


def loads() -> int:
    usage.flush()
    return sum(Usage.objects.values_list("loads", flat=True))


def test_a_load_is_counted_under_skill_version_agent_and_day(bot: Any) -> None:
    bot.get("/skills/Greeting")
    usage.flush()
    row = Usage.objects.get()
    assert (row.skill, row.version, row.caller, row.loads) == ("greeting", "1", "bot", 1)
    assert row.day in (timezone.now().date(), timezone.now().date() - timedelta(days=1))


def test_a_not_modified_response_counts_as_a_load(bot: Any) -> None:
    etag = bot.get("/skills/greeting")["ETag"]
    for _ in range(3):
        assert bot.get("/skills/greeting", headers={"If-None-Match": etag}).status_code == 304
    assert loads() == 4


def test_a_cached_response_counts_as_a_load(bot: Any) -> None:
    for _ in range(3):
        bot.get("/skills/greeting")
    assert loads() == 3


def test_a_download_of_the_bundle_counts_as_a_load(bot: Any) -> None:
    bot.get("/skills/greeting/bundle.zip")
    assert loads() == 1


@pytest.mark.parametrize(
    "path", ["/catalog", "/effective", "/skills/greeting/files/a.txt", "/skills/nothing", "/skills/greeting?version=9"]
)
def test_other_reads_do_not_count_as_a_load(bot: Any, path: str) -> None:
    bot.get(path)
    assert loads() == 0


def test_a_head_request_does_not_count_as_a_load(bot: Any) -> None:
    bot.client.head(f"{bot.base}/skills/greeting", headers=bot.headers)
    assert loads() == 0


def test_a_refused_caller_does_not_count_as_a_load(bot: Any, other_project: Project, api: Callable[..., Any]) -> None:
    stranger = api("read", where=other_project)
    stranger.base = bot.base
    assert stranger.get("/skills/greeting").status_code == 404
    assert loads() == 0


def test_loads_of_the_last_days_are_grouped_by_skill_and_day(project: Project) -> None:
    today = timezone.now()
    for back in (0, 0, 1, 29, 30):
        count(project, now=today - timedelta(days=back))
    usage.flush()
    found = usage.loads_by_day(project.pk, days=30)["greeting"]
    assert sorted(found.values()) == [1, 1, 2]
