"""Tampering with the audit log by SQL: every way is found, with the chain and the place."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import connection

from registry.core.audit.chain import GENESIS, event_hash
from registry.core.audit.heads import Head
from registry.models import Chain, Event, Project
from registry.services import audit
from registry.services.audit_log import heads as head_file
from registry.services.audit_log import verification
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill
from tests.remembered import remembered

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MIDDLE = 3


@dataclass
class Log:
    """The chain of a project with six events, that of another project, and a copy of the head after four events."""

    chain: Chain
    other: Chain
    early: tuple[int, str, str]


@pytest.fixture
@remembered
def log(project: Project, other_project: Project, operator: Actor) -> Log:
    create_skill(project, skill_bundle(), by=operator)
    disable_skill(project, "greeting", by=operator)
    skills.enable(project, "greeting", by=operator)
    delete_skill(project, "greeting", by=operator)
    early = Chain.objects.values_list("length", "head", "seal").get(project=project)
    skills.undelete(project, "greeting", by=operator)
    disable_skill(project, "greeting", by=operator)
    create_skill(other_project, skill_bundle(), by=operator)
    return Log(Chain.objects.get(project=project), Chain.objects.get(project=other_project), early)


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount > 0


def set_event(chain: Chain, sequence: int, column: str, value: object) -> None:
    sql(f"UPDATE registry_event SET {column} = %s WHERE chain_id = %s AND sequence = %s", value, chain.pk, sequence)  # noqa: S608


def remove(chain: Chain, *, after: int) -> None:
    sql("DELETE FROM registry_event WHERE chain_id = %s AND sequence > %s", chain.pk, after)


def set_head(chain: Chain, length: int, head: str, seal: str | None = None) -> None:
    sql("UPDATE registry_chain SET length = %s, head = %s WHERE id = %s", length, head, chain.pk)
    if seal is not None:
        sql("UPDATE registry_chain SET seal = %s WHERE id = %s", seal, chain.pk)
    sql("UPDATE registry_project SET revision = %s WHERE id = %s", length + 1, chain.project_id)


def recompute(chain: Chain) -> None:
    """Compute every hash and the head again, as anybody can who reads the code."""
    previous, length = GENESIS, 0
    for event in Event.objects.filter(chain=chain).order_by("sequence"):
        event.previous, length = previous, length + 1
        event.sequence = length
        previous = event_hash(audit.hashed_content(event))
        sql(
            "UPDATE registry_event SET previous = %s, sequence = %s, hash = %s WHERE id = %s",
            event.previous, length, previous, event.pk,
        )  # fmt: skip
    set_head(chain, length, previous)


def changed(column: str, value: object) -> Callable[[Log], None]:
    return lambda log: set_event(log.chain, MIDDLE, column, value)


def forge_the_actor(log: Log) -> None:
    set_event(log.chain, MIDDLE, "actor_name", "mallory")
    recompute(log.chain)


def remove_and_renumber(log: Log) -> None:
    sql("DELETE FROM registry_event WHERE chain_id = %s AND sequence = %s", log.chain.pk, MIDDLE)
    recompute(log.chain)


def cut_the_tail(log: Log) -> None:
    remove(log.chain, after=4)


def cut_the_tail_and_set_the_head(log: Log) -> None:
    """Also copy the seal of the event that is now the last one."""
    remove(log.chain, after=4)
    last = Event.objects.get(chain=log.chain, sequence=4)
    set_head(log.chain, 4, last.hash, last.seal)


def replay_an_older_copy(log: Log) -> None:
    """Restore events, head, seal and revision as they were. Only the heads outside the database can tell."""
    remove(log.chain, after=4)
    set_head(log.chain, *log.early)


def delete_the_chain(log: Log) -> None:
    remove(log.chain, after=0)
    sql("DELETE FROM registry_chain WHERE id = %s", log.chain.pk)


def delete_the_chain_and_reset_the_revision(log: Log) -> None:
    delete_the_chain(log)
    sql("UPDATE registry_project SET revision = 1 WHERE id = %s", log.chain.project_id)


def insert_an_event(log: Log) -> None:
    for sequence in range(6, MIDDLE, -1):
        set_event(log.chain, sequence, "sequence", sequence + 1)
    copy = Event.objects.get(chain=log.chain, sequence=2)
    copy.pk, copy.sequence, copy.actor_name = None, MIDDLE + 1, "mallory"
    copy.save(force_insert=True)
    recompute(log.chain)


def swap_two_events(log: Log) -> None:
    for old, new in ((2, 99), (3, 2), (99, 3)):
        set_event(log.chain, old, "sequence", new)
    recompute(log.chain)


def move_an_event(log: Log) -> None:
    """Move the last event to the end of another chain, and make both chains consistent."""
    sql(
        "UPDATE registry_event SET chain_id = %s, sequence = 50 WHERE chain_id = %s AND sequence = 6",
        log.other.pk, log.chain.pk,
    )  # fmt: skip
    for chain in (log.chain, log.other):
        recompute(chain)


def swap_the_projects_of_chains(log: Log) -> None:
    one, two = log.chain.project_id, log.other.project_id
    sql("UPDATE registry_chain SET project_id = NULL WHERE id = %s", log.other.pk)
    sql("UPDATE registry_chain SET project_id = %s, name = 'x' WHERE id = %s", two, log.chain.pk)
    sql("UPDATE registry_chain SET project_id = %s, name = %s WHERE id = %s", one, log.chain.name, log.other.pk)
    sql("UPDATE registry_chain SET name = %s WHERE id = %s", log.other.name, log.chain.pk)
    set_head(Chain.objects.get(pk=log.chain.pk), log.chain.length, log.chain.head)
    set_head(Chain.objects.get(pk=log.other.pk), log.other.length, log.other.head)


def delete_the_chain_of_the_site(log: Log) -> None:
    site = Chain.objects.get(name="site")
    remove(site, after=0)
    sql("DELETE FROM registry_chain WHERE id = %s", site.pk)


def set_the_head_forward(log: Log) -> None:
    set_head(log.chain, 7, "a" * 64)


def rewrite_the_whole_chain(log: Log) -> None:
    sql("UPDATE registry_event SET actor_name = 'mallory', seal = '' WHERE chain_id = %s", log.chain.pk)
    recompute(log.chain)


def empty_the_chain(log: Log) -> None:
    remove(log.chain, after=0)
    set_head(log.chain, 0, GENESIS)


# The way, the chain that is named, and the first fault.
WAYS: dict[str, tuple[Callable[[Log], None], str, str]] = {
    "verb": (changed("verb", "skill.saved"), "own 3", "its content was changed"),
    "target": (changed("target", "other"), "own 3", "its content was changed"),
    "data": (changed("data", '{"version": "9"}'), "own 3", "its content was changed"),
    "actor": (changed("actor_name", "mallory"), "own 3", "its content was changed"),
    "time": (changed("at", "2001-01-01 00:00:00+00:00"), "own 3", "its content was changed"),
    "seal": (changed("seal", "0" * 64), "own 3", "its seal does not match"),
    "actor-recomputed": (forge_the_actor, "own 3", "its seal does not match"),
    "removed-renumbered": (remove_and_renumber, "own 3", "its seal does not match"),
    "tail-cut": (cut_the_tail, "own 6", "removed from or added to the end"),
    "tail-cut-head-set": (cut_the_tail_and_set_the_head, "own 4", "was set without the key"),
    "tail-cut-replayed": (replay_an_older_copy, "own 5", "events 5 to 6 are missing: the head of 2026-01-02"),
    "chain-deleted": (delete_the_chain, "own 0", "the chain is missing"),
    "chain-deleted-revision-reset": (delete_the_chain_and_reset_the_revision, "own 0", "the chain is missing"),
    "chain-emptied": (empty_the_chain, "own 0", "was set without the key"),
    "inserted": (insert_an_event, "own 4", "its seal does not match"),
    "swapped": (swap_two_events, "own 2", "its seal does not match"),
    "moved": (move_an_event, "own 5", "was set without the key"),
    "reattached": (swap_the_projects_of_chains, "other 1", "its seal does not match"),
    "site-deleted": (delete_the_chain_of_the_site, "site 0", "the chain is missing"),
    "head-forward": (set_the_head_forward, "own 7", "removed from or added to the end"),
    "rewritten": (rewrite_the_whole_chain, "own 1", "its seal does not match"),
}
_OUTSIDE = {"tail-cut-replayed"}


def found(log: Log, heads: list[Head]) -> list[str]:
    names = {log.chain.name: "own", log.other.name: "other"}
    faults = verification.verify(heads=heads)[1]
    return [f"{names.get(each.chain, each.chain)} {each.sequence}: {each.reason}" for each in faults]


@pytest.fixture
def heads(log: Log, tmp_path: Path) -> list[Head]:
    head_file.record(tmp_path / "heads.jsonl", now=NOW)
    return head_file.read(tmp_path / "heads.jsonl")


def test_an_untouched_log_is_clean_and_matches_its_heads(log: Log, heads: list[Head]) -> None:
    assert verification.verify(heads=heads) == (Event.objects.count(), [])
    assert {head.chain for head in heads} == {log.chain.name, log.other.name, "site"}


@pytest.mark.parametrize("way", WAYS)
def test_tampering_is_found_and_named(log: Log, heads: list[Head], way: str) -> None:
    act, place, reason = WAYS[way]
    act(log)
    faults = found(log, heads)
    assert any(re.match(rf"{place}: .*{re.escape(reason)}", fault) for fault in faults), faults


@pytest.mark.parametrize("way", sorted(WAYS.keys() - _OUTSIDE))
def test_the_database_and_the_key_alone_find_it(log: Log, way: str) -> None:
    act, place, reason = WAYS[way]
    act(log)
    faults = found(log, [])
    assert any(re.match(rf"{place}: .*{re.escape(reason)}", fault) for fault in faults), faults
