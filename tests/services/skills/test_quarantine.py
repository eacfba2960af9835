"""Quarantine: agents lose a version at once, nobody can bring its bytes back, and a reviewer can lift it."""

from pathlib import Path

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import Conflict, Forbidden, InvalidRequest, NotFound, Quarantined, Stale
from registry.models import Event, Notification, Project, Skill, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.skills import bundles, quarantine, skills, versions
from registry.services.transfer import export_zip
from tests.conftest import on_disk, skill_bundle
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def three(project: Project, author: Actor) -> list[Version]:
    """Versions 1 to 3 of greeting, oldest first."""
    made = [skills.create(project, skill_bundle(body="Text 1."), by=author).version]
    for number in (2, 3):
        bundle = skill_bundle(body=f"Text {number}.")
        made.append(skills.save(project, "greeting", bundle, base=made[-1].digest, by=author).version)
    return made


def served(project: Project) -> str:
    return catalog.load(project.pk, "greeting").candidate.version


def hold(project: Project, version: str, by: Actor) -> Version:
    return quarantine.quarantine(project, "greeting", version, reason="Sends keys away.", by=by)


def test_agents_get_the_newest_other_version(project: Project, three: list[Version], reviewer: Actor) -> None:
    held = hold(project, "3", reviewer)
    assert served(project) == "2"
    assert (held.quarantine_reason, held.quarantined_by_id) == ("Sends keys away.", reviewer.user_id)
    hold(project, "2", reviewer)
    assert served(project) == "1"


def test_an_older_version_in_quarantine_changes_nothing_for_the_current_one(
    project: Project, three: list[Version], reviewer: Actor
) -> None:
    hold(project, "1", reviewer)
    assert served(project) == "3"
    with pytest.raises(Quarantined):
        catalog.load(project.pk, "greeting", version="1")


@pytest.mark.parametrize("version", [None, "1"])
def test_with_no_other_version_agents_get_an_error_with_a_code(
    project: Project, author: Actor, reviewer: Actor, version: str | None
) -> None:
    skills.create(project, skill_bundle(), by=author)
    hold(project, "1", reviewer)
    with pytest.raises(Quarantined) as refused:
        catalog.load(project.pk, "greeting", version=version)
    assert refused.value.code == "quarantined"
    assert "Sends keys" not in refused.value.message
    revision = Project.objects.get(pk=project.pk).revision
    view = catalog.view(project.pk, revision)
    assert view.served == ()
    assert "in quarantine" in view.diagnostics[0].message


def test_a_skill_outside_the_list_of_an_agent_is_not_said_to_be_in_quarantine(
    project: Project, author: Actor, reviewer: Actor
) -> None:
    skills.create(project, skill_bundle(), by=author)
    hold(project, "1", reviewer)
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting", version="1", allowed=frozenset({"other"}))


def test_a_built_in_skill_stays_hidden(project: Project, library: Path, author: Actor, reviewer: Actor) -> None:
    on_disk(library, body="Built-in.")
    first = catalog.load(project.pk, "greeting")
    skills.save(project, "greeting", skill_bundle(body="Ours."), base=first.candidate.digest, by=author)
    hold(project, "1", reviewer)
    with pytest.raises(Quarantined):
        catalog.load(project.pk, "greeting")


def test_every_copy_of_the_bytes_is_in_quarantine(
    project: Project, three: list[Version], author: Actor, reviewer: Actor
) -> None:
    versions.restore(project, "greeting", "1", by=author)
    hold(project, "4", reviewer)
    versions.yank(project, "greeting", "3", reason="Old.", by=author)
    versions.yank(project, "greeting", "2", reason="Old.", by=author)
    with pytest.raises(Quarantined):
        catalog.load(project.pk, "greeting")


def test_a_yank_does_not_fall_back_to_a_quarantined_version(
    project: Project, three: list[Version], author: Actor, reviewer: Actor
) -> None:
    hold(project, "2", reviewer)
    versions.yank(project, "greeting", "3", reason="Wrong.", by=author)
    assert served(project) == "1"


def test_versions_from_before_a_deletion_do_not_take_over(
    project: Project, three: list[Version], author: Actor, reviewer: Actor
) -> None:
    skills.delete(project, "greeting", by=author)
    skills.create(project, skill_bundle(body="Text 4."), by=author)
    hold(project, "4", reviewer)
    with pytest.raises(Quarantined):
        catalog.load(project.pk, "greeting")
    quarantine.release(project, "greeting", "4", by=reviewer)
    assert served(project) == "4"


@pytest.mark.parametrize("first", ["delete", "hold"])
def test_restoring_a_deleted_skill_never_restores_its_quarantined_version(
    project: Project, three: list[Version], author: Actor, reviewer: Actor, first: str
) -> None:
    steps = [lambda: skills.delete(project, "greeting", by=author), lambda: hold(project, "3", reviewer)]
    for step in steps if first == "delete" else reversed(steps):
        step()
    assert skills.undelete(project, "greeting", by=author).version == "2"
    quarantine.release(project, "greeting", "3", by=reviewer)
    assert served(project) == "3"


def test_lifting_the_quarantine_in_a_deleted_skill_serves_nothing(
    project: Project, three: list[Version], author: Actor, reviewer: Actor
) -> None:
    hold(project, "3", reviewer)
    skills.delete(project, "greeting", by=author)
    quarantine.release(project, "greeting", "3", by=reviewer)
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting")
    assert skills.undelete(project, "greeting", by=author).version == "3"


def test_lifting_gives_the_version_back(project: Project, three: list[Version], reviewer: Actor) -> None:
    hold(project, "3", reviewer)
    released = quarantine.release(project, "greeting", "3", reason="Looked at it.", by=reviewer)
    assert (released.quarantined_at, released.quarantine_reason, released.quarantined_by) == (None, "", None)
    assert served(project) == "3"
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.before, event.after) == ("version.released", three[1].digest, three[2].digest)
    assert event.data["reason"] == "Looked at it."


def test_lifting_an_older_version_keeps_the_newer_one(project: Project, three: list[Version], reviewer: Actor) -> None:
    hold(project, "1", reviewer)
    quarantine.release(project, "greeting", "1", by=reviewer)
    assert served(project) == "3"
    assert catalog.load(project.pk, "greeting", version="1").candidate.version == "1"


def test_the_same_bytes_cannot_be_published_again(
    project: Project, three: list[Version], author: Actor, reviewer: Actor
) -> None:
    hold(project, "3", reviewer)
    again = bundle_of(three[2])
    for attempt in (
        lambda: versions.restore(project, "greeting", "3", by=author),
        lambda: skills.save(project, "greeting", again, base=three[1].digest, by=author),
        lambda: bundles.import_bundle(project, again, by=author),
    ):
        with pytest.raises(Conflict, match="Version 3 of greeting has the same content"):
            attempt()
    assert served(project) == "2"
    assert Version.objects.count() == 3


def bundle_of(version: Version) -> Bundle:
    return skill_bundle(body=f"Text {version.version}.")


def test_no_export_contains_the_version(project: Project, author: Actor, reviewer: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    hold(project, "1", reviewer)
    for effective in (True, False):
        assert export_zip.skills_to_export(project, effective=effective, by=reviewer) == ()


def test_the_revision_moves_and_the_event_names_both_digests(
    project: Project, three: list[Version], reviewer: Actor
) -> None:
    before = Project.objects.get(pk=project.pk).revision
    hold(project, "3", reviewer)
    assert Project.objects.get(pk=project.pk).revision == before + 1
    event = Event.objects.order_by("-pk")[0]
    assert (event.verb, event.target, event.user_id) == ("version.quarantined", "greeting", reviewer.user_id)
    assert (event.before, event.after) == (three[2].digest, three[1].digest)
    assert event.data == {"version": "3", "digest": three[2].digest, "reason": "Sends keys away."}


def test_the_author_and_other_reviewers_are_notified(
    project: Project, three: list[Version], owner: Actor, reviewer: Actor, viewer: Actor
) -> None:
    Notification.objects.all().delete()
    hold(project, "3", reviewer)
    notified = Notification.objects.order_by("user__username")
    assert [(row.user.username, row.event) for row in notified] == [
        ("author", "version.quarantined"), ("owner", "version.quarantined"),
    ]  # fmt: skip
    assert notified[0].title == "reviewer put version 3 of greeting in quarantine"


def test_only_reviewers_and_owners_may(
    project: Project, three: list[Version], author: Actor, viewer: Actor, reviewer: Actor
) -> None:
    for by in (author, viewer):
        with nothing_left_behind(), pytest.raises(Forbidden):
            hold(project, "3", by)
    hold(project, "3", reviewer)
    for by in (author, viewer):
        with nothing_left_behind(), pytest.raises(Forbidden):
            quarantine.release(project, "greeting", "3", by=by)


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 301])
def test_a_reason_is_needed(project: Project, three: list[Version], reviewer: Actor, reason: str) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        quarantine.quarantine(project, "greeting", "3", reason=reason, by=reviewer)


def test_a_version_is_not_quarantined_or_released_twice(
    project: Project, three: list[Version], reviewer: Actor
) -> None:
    with nothing_left_behind(), pytest.raises(Conflict):
        quarantine.release(project, "greeting", "3", by=reviewer)
    hold(project, "3", reviewer)
    with nothing_left_behind(), pytest.raises(Conflict):
        hold(project, "3", reviewer)


@pytest.mark.parametrize(("name", "version"), [("greeting", "9"), ("greeting", ""), ("other", "3")])
def test_an_unknown_version_is_not_found(
    project: Project, three: list[Version], reviewer: Actor, name: str, version: str
) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        quarantine.quarantine(project, name, version, reason="Odd.", by=reviewer)


def test_a_withdrawn_version_is_not_quarantined(
    project: Project, three: list[Version], author: Actor, reviewer: Actor
) -> None:
    versions.yank(project, "greeting", "3", reason="Wrong.", by=author)
    with nothing_left_behind(), pytest.raises(NotFound):
        hold(project, "3", reviewer)


def test_another_project_is_untouched(
    project: Project, other_project: Project, three: list[Version], operator: Actor, reviewer: Actor
) -> None:
    skills.create(other_project, skill_bundle(body="Text 3."), by=operator)
    hold(project, "3", reviewer)
    assert catalog.load(other_project.pk, "greeting").candidate.digest == three[2].digest
    assert Skill.objects.get(project=other_project).current is not None
    with pytest.raises(NotFound):
        quarantine.quarantine(other_project, "greeting", "1", reason="Odd.", by=reviewer)


def test_people_still_read_the_files(project: Project, three: list[Version], reviewer: Actor) -> None:
    hold(project, "3", reviewer)
    row = versions.get(project, "greeting", "3")
    assert b"Text 3." in catalog.stored("greeting", row).bundle()[SKILL_MD]


def test_a_save_over_versions_in_quarantine_says_how_to_go_on(project: Project, author: Actor, reviewer: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    hold(project, "1", reviewer)
    with nothing_left_behind(), pytest.raises(Stale, match=r"has no version that agents get\. Save it without"):
        skills.save(project, "greeting", skill_bundle(body="Better."), base=first.digest, by=author)
    assert skills.save(project, "greeting", skill_bundle(body="Better."), base=None, by=author).version.version == "2"
