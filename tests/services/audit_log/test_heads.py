"""Heads of the audit log outside the database, seals of an upgraded site, and a lost key."""

import importlib
import json
import logging
import pkgutil
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry import migrations
from registry.core import roles
from registry.core.audit.heads import Head, parse
from registry.models import Chain, Event, Membership, Project, Proposal
from registry.services import housekeeping
from registry.services.audit_log import heads, sealing
from registry.services.audit_log.verification import WRONG_KEY, Broken, verify
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.prepared import create_skill, disable_skill

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def chain(project: Project, operator: Actor) -> Chain:
    create_skill(project, skill_bundle(), by=operator)
    disable_skill(project, "greeting", by=operator)
    return Chain.objects.get(project=project)


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount > 0


def verified(*options: str) -> tuple[str, str]:
    output, complaints = StringIO(), StringIO()
    try:
        call_command("verify_audit", *options, stdout=output, stderr=complaints)
    except CommandError as error:
        complaints.write(str(error))
    return output.getvalue(), complaints.getvalue()


def cut_back(chain: Chain, old: Chain) -> None:
    """Put a chain and the revision of its project back to an older copy that is complete in itself."""
    sql("DELETE FROM registry_event WHERE chain_id = %s AND sequence > %s", chain.pk, old.length)
    sql(
        "UPDATE registry_chain SET length = %s, head = %s, seal = %s WHERE id = %s",
        old.length, old.head, old.seal, chain.pk,
    )  # fmt: skip
    sql("UPDATE registry_project SET revision = %s WHERE id = %s", old.length + 1, chain.project_id)


# -- The file and the log ------------------------------------------------------------------------------------


def test_only_changed_heads_are_written_with_mode_0600_and_logged(
    chain: Chain, project: Project, operator: Actor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "heads.jsonl"
    caplog.set_level(logging.INFO, logger="registry.services.audit_log.heads")
    first = heads.record(path, now=NOW)
    assert {head.chain for head in first} == {chain.name, "site"}
    assert heads.record(path, now=NOW) == []
    skills.enable(project, "greeting", by=operator)
    assert [(head.chain, head.length) for head in heads.record(path, now=NOW)] == [(chain.name, 3)]
    assert [head for _, head in parse(record.getMessage() for record in caplog.records)] == heads.read(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_rotated_keeps_the_longest_head_of_each_chain(
    chain: Chain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, old = tmp_path / "heads.jsonl", Chain.objects.get(pk=chain.pk)
    monkeypatch.setattr(heads, "MAX_BYTES", 4_000)
    for length in range(40):
        Chain.objects.filter(pk=chain.pk).update(length=100 - length)
        heads.record(path, now=NOW)
        assert heads.record(path, now=NOW) == []
    assert path.stat().st_size + path.with_name("heads.1.jsonl").stat().st_size < 10_000
    assert max(head.length for head in heads.read(path) if head.chain == old.name) == 100
    assert len(list(tmp_path.glob("heads*"))) == 2


def test_a_chain_that_lost_events_is_an_error_in_the_log(
    chain: Chain, project: Project, operator: Actor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = Chain.objects.get(pk=chain.pk)
    skills.enable(project, "greeting", by=operator)
    heads.record(tmp_path / "heads.jsonl", now=NOW)
    cut_back(chain, old)
    heads.record(tmp_path / "heads.jsonl", now=NOW)
    assert f"The audit chain {chain.name} lost events: it had 3, now 2." in caplog.text


def test_the_sweep_writes_heads_and_the_command_finds_a_replayed_copy(
    chain: Chain, project: Project, operator: Actor
) -> None:
    old = Chain.objects.get(pk=chain.pk)
    skills.enable(project, "greeting", by=operator)
    housekeeping.sweep(now=NOW)
    output, complaints = verified()
    assert ("all chains are intact" in output, "Compared with 2 heads." in output, complaints) == (True, True, "")
    cut_back(chain, old)
    sql("UPDATE registry_skill SET enabled = %s", False)
    assert verify() == (Event.objects.count(), [])
    place = f"{chain.name}, event 3: events 3 to 3 are missing: the head of 2026-01-02T00:00:00+00:00 has 3 events."
    assert place in verified()[1]


def test_lines_of_a_log_and_bodies_of_a_webhook_are_heads(
    chain: Chain, project: Project, operator: Actor, tmp_path: Path
) -> None:
    old, path = Chain.objects.get(pk=chain.pk), tmp_path / "kept.log"
    skills.enable(project, "greeting", by=operator)
    head = heads.head_of(Chain.objects.get(pk=chain.pk), now=NOW)
    body = json.dumps({"type": "audit.head", "data": {"head": json.loads(head.as_line())}})
    cut_back(chain, old)
    for line in (f"2026-01-02 INFO registry.services.audit_log.heads {head.as_line()}", body):
        path.write_text(f"another line\n{{broken\n{line}\n")
        assert "events 3 to 3 are missing" in verified("--heads", str(path))[1]


def test_heads_without_a_seal_are_not_used_and_reported(chain: Chain, tmp_path: Path) -> None:
    path = tmp_path / "heads.jsonl"
    path.write_text(Head(chain.name, 99, "a" * 64, "b" * 64, "now").as_line() + "\n")
    output, complaints = verified("--heads", str(path))
    assert "all chains are intact" in output
    assert complaints == f"{path}: 1 heads have no seal of this key and were not used; the first one is in line 1.\n"


@pytest.mark.parametrize("content", [None, "nothing of use\n", "{" * 3_000])
def test_a_file_without_heads_is_refused(chain: Chain, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "heads.jsonl"
    if content is not None:
        path.write_text(content)
    assert ("Cannot read" if content is None else "has no line with a head") in verified("--heads", str(path))[1]


# -- Keys and upgrades ---------------------------------------------------------------------------------------


def test_a_wrong_key_is_told_apart_from_tampering(chain: Chain, project: Project, settings: Any) -> None:
    settings.AUDIT_KEY = "another"
    assert verify() == (0, [Broken("all chains", 0, WRONG_KEY)])
    assert verify(project) == (0, [Broken("all chains", 0, WRONG_KEY)])
    sql("UPDATE registry_event SET target = 'x' WHERE chain_id = %s AND sequence = 1", chain.pk)
    assert verify()[1] == [Broken("all chains", 0, WRONG_KEY), Broken(chain.name, 1, "its content was changed")]


def test_a_lost_key_is_replaced_by_sealing_the_log_again(chain: Chain, settings: Any) -> None:
    settings.AUDIT_KEY = "another"
    output, count = StringIO(), Event.objects.count()
    with pytest.raises(CommandError, match=r"use --key-was-lost. After that, nothing .* can be proven any more"):
        call_command("seal_audit")
    assert verify() == (0, [Broken("all chains", 0, WRONG_KEY)])
    call_command("seal_audit", "--key-was-lost", stdout=output)
    assert verify() == (Event.objects.count(), [])
    assert output.getvalue() == f"{count} events sealed. {sealing.UNPROVEN}\n"
    sealed = Event.objects.latest("pk")
    assert (sealed.verb, sealed.data) == ("audit.sealed", {"events": count, "unproven": sealing.UNPROVEN})
    call_command("seal_audit", stdout=output)
    assert "The seals match." in output.getvalue()


@pytest.mark.parametrize("seal", ["", "x", "A" * 64, "0" * 63])
def test_seals_that_no_key_makes_are_tampering_and_not_sealed_again(chain: Chain, seal: str) -> None:
    sql("UPDATE registry_event SET seal = %s", seal)
    sql("UPDATE registry_chain SET seal = %s", seal)
    faults = verify()[1]
    assert {(chain.name, 1), (chain.name, 2), ("site", 1)} <= {(fault.chain, fault.sequence) for fault in faults}
    assert all(("is malformed" if seal else "was removed") in fault.reason for fault in faults)
    with pytest.raises(CommandError, match="faults that a new key does not explain"):
        call_command("seal_audit", "--key-was-lost")


def test_foreign_seals_are_no_lost_key_if_the_heads_have_seals_of_this_key(chain: Chain, tmp_path: Path) -> None:
    kept = heads.record(tmp_path / "heads.jsonl", now=NOW)
    sql("UPDATE registry_event SET seal = %s", "a" * 64)
    sql("UPDATE registry_chain SET seal = %s", "a" * 64)
    assert verify()[1] == [Broken("all chains", 0, WRONG_KEY)]
    assert WRONG_KEY not in {fault.reason for fault in verify(heads=kept)[1]}


def test_a_log_that_contradicts_the_hashes_of_the_heads_is_not_sealed_again(
    chain: Chain, project: Project, operator: Actor, settings: Any
) -> None:
    old = Chain.objects.get(pk=chain.pk)
    skills.enable(project, "greeting", by=operator)
    heads.record(settings.AUDIT_HEADS_FILE, now=NOW)
    cut_back(chain, old)
    settings.AUDIT_KEY = "another"
    with pytest.raises(CommandError, match="events 3 to 3 are missing"):
        call_command("seal_audit", "--key-was-lost")
    settings.AUDIT_HEADS_FILE.unlink()
    call_command("seal_audit", "--key-was-lost", stdout=StringIO())


def test_a_replaced_event_is_found_even_if_a_later_head_records_the_replacement(chain: Chain) -> None:
    true = heads.head_of(Chain.objects.get(pk=chain.pk), now=NOW)
    false = Head(chain.name, true.length, "f" * 64, "", "earlier")
    for known in ([false, true], [true, false]):
        reason = "it is not the event that the head of earlier records"
        assert verify(heads=known)[1] == [Broken(chain.name, true.length, reason)]


def test_a_log_that_was_tampered_with_is_not_sealed_again(chain: Chain, settings: Any) -> None:
    settings.AUDIT_KEY = "another"
    sql("UPDATE registry_event SET target = 'x' WHERE chain_id = %s AND sequence = 1", chain.pk)
    with pytest.raises(CommandError, match="faults that a new key does not explain"):
        call_command("seal_audit", "--key-was-lost")
    assert WRONG_KEY in [fault.reason for fault in verify()[1]]


def test_an_upgrade_seals_the_events_that_exist(chain: Chain, project: Project, operator: Actor) -> None:
    sql("UPDATE registry_event SET seal = ''")
    sql("UPDATE registry_chain SET seal = ''")
    assert verify()[1]
    [name] = [each.name for each in pkgutil.iter_modules(migrations.__path__) if each.name.endswith("_audit_events")]
    importlib.import_module(f"registry.migrations.{name}").seal(apps, None)
    assert verify() == (Event.objects.count(), [])
    skills.enable(project, "greeting", by=operator)
    assert verify() == (Event.objects.count(), [])


def test_an_event_needs_no_query_for_its_seal(chain: Chain, project: Project, operator: Actor) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        skills.enable(project, "greeting", by=operator)
    about = [query["sql"] for query in queries if "registry_chain" in query["sql"] or "registry_event" in query["sql"]]
    assert [statement.split()[0] for statement in about] == ["SELECT", "INSERT", "UPDATE"]


# -- Rows without events -------------------------------------------------------------------------------------


def test_a_member_whose_role_was_set_by_sql_is_found(chain: Chain, project: Project, author: Actor) -> None:
    assert verify()[1] == []
    sql("UPDATE registry_membership SET role = 'owner' WHERE user_id = %s", author.user_id)
    reason = "author is owner, and the last event about this member says author"
    assert verify()[1] == [Broken(chain.name, 0, reason)]


def test_a_member_without_an_event_is_found(
    chain: Chain, project: Project, other_project: Project, author: Actor
) -> None:
    Membership.objects.create(project=other_project, user_id=author.user_id, role=roles.OWNER)
    create_skill(other_project, skill_bundle(), by=Actor("operator", "x", scopes=frozenset(roles.SCOPES)))
    found = verify()[1]
    assert found == [Broken(f"project-{other_project.pk}", 0, "the member author has no event")]


def test_a_version_and_a_decision_without_an_event_are_found(chain: Chain, project: Project, author: Actor) -> None:
    sql("UPDATE registry_version SET digest = %s", "sha256:" + "0" * 64)
    proposal = Proposal.objects.create(
        project=project, skill="greeting", kind="delete", state="rejected", base_digest="", result_digest="", tokens=0,
        user_id=author.user_id,
    )  # fmt: skip
    assert {fault.reason for fault in verify()[1]} == {
        "version 1 of greeting has no event",
        f"proposal {proposal.pk} is rejected, and no event says so",
    }


def test_a_deleted_project_is_found(chain: Chain, other_project: Project) -> None:
    sql("DELETE FROM registry_project WHERE id = %s", other_project.pk)
    assert f"the project with the id {other_project.pk} was deleted; no event says so" in {
        fault.reason for fault in verify()[1]
    }
