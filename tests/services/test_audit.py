"""The audit log: chains that hold, and tampering that is found."""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from registry.core.audit.chain import event_hash
from registry.models import Chain, Event, Project
from registry.services import audit
from registry.services.audit_log import verification
from registry.services.audit_log.verification import Broken
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.prepared import create_skill, delete_skill, disable_skill, save_skill
from tests.remembered import remembered

NO_SEAL = "its seal does not match: it was written without the key"


@pytest.fixture
@remembered
def five_events(project: Project, other_project: Project, operator: Actor) -> Chain:
    """Five events in the chain of the project; other chains have some as well."""
    create_skill(project, skill_bundle(), by=operator)
    disable_skill(project, "greeting", by=operator)
    skills.enable(project, "greeting", by=operator)
    delete_skill(project, "greeting", by=operator)
    skills.undelete(project, "greeting", by=operator)
    create_skill(other_project, skill_bundle(), by=operator)
    return Chain.objects.get(project=project)


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        assert cursor.rowcount == 1


def faults() -> list[tuple[int, str]]:
    return [(fault.sequence, fault.reason) for fault in verification.verify()[1]]


def test_untouched_chains_hold(five_events: Chain) -> None:
    good, broken = verification.verify()
    assert (good, broken) == (Event.objects.count(), [])
    assert good >= 8


def test_events_of_a_chain_are_numbered_without_gaps(five_events: Chain) -> None:
    events = Event.objects.filter(chain=five_events).order_by("sequence")
    assert [event.sequence for event in events] == [1, 2, 3, 4, 5]
    assert [event.previous for event in events][1:] == [event.hash for event in events][:-1]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("verb", "skill.saved"),
        ("target", "something-else"),
        ("actor_name", "somebody else"),
        ("actor_kind", "person"),
        ("before", "sha256:" + "0" * 64),
        ("after", ""),
        ("data", '{"version": "9"}'),
        ("at", "2001-01-01 00:00:00+00:00"),
        ("previous", "0" * 64),
        ("hash", "0" * 64),
        ("sequence", 77),
    ],
)
def test_a_changed_event_is_found(five_events: Chain, column: str, value: object) -> None:
    sql(f"UPDATE registry_event SET {column} = %s WHERE chain_id = %s AND sequence = 5", value, five_events.pk)  # noqa: S608
    assert faults()


def test_a_changed_event_is_named_by_chain_and_number(five_events: Chain) -> None:
    sql("UPDATE registry_event SET target = 'x' WHERE chain_id = %s AND sequence = 3", five_events.pk)
    assert verification.verify()[1] == [Broken(five_events.name, 3, "its content was changed")]


def test_an_event_rewritten_with_a_fitting_hash_is_found_by_its_seal_and_the_next_one(five_events: Chain) -> None:
    forged = Event.objects.get(chain=five_events, sequence=3)
    forged.target = "x"
    fitting = event_hash(audit.hashed_content(forged))
    sql("UPDATE registry_event SET target = 'x', hash = %s WHERE id = %s", fitting, forged.pk)
    assert faults() == [(3, NO_SEAL), (4, "it does not follow the event before it")]


def test_a_removed_event_is_found(five_events: Chain) -> None:
    sql("DELETE FROM registry_event WHERE chain_id = %s AND sequence = 3", five_events.pk)
    assert faults() == [(3, "an event is missing")]


def test_a_removed_first_event_is_found(five_events: Chain) -> None:
    sql("DELETE FROM registry_event WHERE chain_id = %s AND sequence = 1", five_events.pk)
    assert faults() == [(1, "an event is missing")]


def test_a_tail_that_was_cut_off_is_found(five_events: Chain) -> None:
    sql("DELETE FROM registry_event WHERE chain_id = %s AND sequence = 5", five_events.pk)
    assert faults() == [(5, "events were removed from or added to the end of the chain")]


def test_an_event_slipped_in_at_the_end_is_found(five_events: Chain) -> None:
    last = Event.objects.get(chain=five_events, sequence=5)
    slipped = Event(
        chain=five_events, sequence=6, at=last.at, verb="skill.saved", actor_kind="operator", actor_name="x",
        previous=last.hash,
    )  # fmt: skip
    slipped.hash = event_hash(audit.hashed_content(slipped))
    slipped.save(force_insert=True)
    assert faults() == [
        (6, f"{NO_SEAL}. The seal was removed"),
        (5, "events were removed from or added to the end of the chain"),
    ]


def test_one_broken_chain_does_not_hide_that_the_others_hold(five_events: Chain) -> None:
    sql("UPDATE registry_event SET target = 'x' WHERE chain_id = %s AND sequence = 5", five_events.pk)
    good, broken = verification.verify()
    assert (good, len(broken)) == (Event.objects.count() - 1, 1)


@pytest.mark.parametrize("act", ["update", "delete"])
def test_the_code_itself_cannot_change_or_delete_events(five_events: Chain, act: str) -> None:
    with pytest.raises(TypeError, match="never"):
        Event.objects.all().update(verb="x") if act == "update" else Event.objects.all().delete()


def test_an_event_records_the_actor_the_target_and_both_digests(project: Project, author: Actor) -> None:
    first = create_skill(project, skill_bundle(), by=author).version
    second = save_skill(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author).version
    event = Event.objects.order_by("-pk").first()
    assert event is not None
    assert (event.verb, event.target, event.actor_kind, event.actor_name) == (
        "skill.saved", "greeting", "person", "author",
    )  # fmt: skip
    assert (event.before, event.after, event.data["version"]) == (first.digest, second.digest, "2")


def test_a_verb_that_fails_half_way_leaves_neither_event_nor_revision(project: Project, operator: Actor) -> None:
    before = Project.objects.get(pk=project.pk).revision, Event.objects.count()
    with pytest.raises(ZeroDivisionError), audit.change(project, "skill.saved", by=operator):
        raise ZeroDivisionError
    assert (Project.objects.get(pk=project.pk).revision, Event.objects.count()) == before
    assert verification.verify()[1] == []


def test_only_a_change_with_an_event_increments_a_revision() -> None:
    """Verification compares the revision of a project with the number of its events."""
    root = Path(settings.BASE_DIR) / "registry"
    writers = [
        str(path.relative_to(root)) for path in root.rglob("*.py") if 'revision=F("revision")' in path.read_text()
    ]
    assert writers == ["services/audit.py"]


def test_the_command_says_that_every_chain_holds(five_events: Chain) -> None:
    said = StringIO()
    call_command("verify_audit", stdout=said)
    assert said.getvalue() == f"{Event.objects.count()} events, all chains are intact.\n"


def test_the_command_fails_and_names_the_place(five_events: Chain) -> None:
    sql("DELETE FROM registry_event WHERE chain_id = %s AND sequence = 2", five_events.pk)
    complaints = StringIO()
    with pytest.raises(CommandError, match="is broken: 1 faults") as failed:
        call_command("verify_audit", stderr=complaints)
    assert failed.value.returncode == 1
    assert complaints.getvalue() == f"{five_events.name}, event 2: an event is missing.\n"


def test_the_end_of_a_chain_can_be_walked_alone(project: Project, five_events: Chain) -> None:
    assert verification.verify(project, newest=2) == (2, [])
    sql("UPDATE registry_event SET target = 'x' WHERE chain_id = %s AND sequence = 2", five_events.pk)
    assert verification.verify(project, newest=2) == (2, [])
    assert verification.verify(project, newest=4)[1] == [Broken(five_events.name, 2, "its content was changed")]
    sql("DELETE FROM registry_event WHERE chain_id = %s AND sequence = 4", five_events.pk)
    assert verification.verify(project, newest=2)[1] == [Broken(five_events.name, 4, "an event is missing")]
