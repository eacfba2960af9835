"""Uploads belong to one person and leave nothing behind, however they end."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from registry.core.archive import zip_bundle as bundle_files
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import (
    AlreadyExists,
    Forbidden,
    InvalidInput,
    NotFound,
    SkillsiteError,
    Stale,
    StaleProposal,
    VersionConflict,
)
from registry.models import Project, Upload, User, Version
from registry.services import housekeeping, permissions
from registry.services.catalog import catalog
from registry.services.drafts import uploads
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.proposals import reviews
from tests.conftest import on_disk, skill_bundle
from tests.core.hostile import CORPUS
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind, stored_files


def receive(project: Project, bundle: Bundle, by: Actor) -> Upload:
    return uploads.receive(project, "skill.zip", bundle, now=timezone.now(), by=by)


@pytest.fixture
def colleague(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person("reviewer"), project)


def test_every_hostile_zip_is_refused_and_leaves_nothing(project: Project, author: Actor) -> None:
    with nothing_left_behind():
        for content in CORPUS.values():
            with pytest.raises(SkillsiteError):
                receive(project, uploads.open_files({"a.zip": content}, folder=False), author)


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        ({}, False),
        ({"a.zip": b"x", "b.zip": b"y"}, False),
        ({"a.md": b"no header"}, False),
        ({"a.md": b"---\nname: a\n---\n"}, False),
        ({"notes/readme.md": b"x"}, True),
        ({"a/SKILL.md": b"---\nname: a\ndescription: b\n---\n", "../up": b""}, True),
        ({"a/SKILL.md": b"x", "b/SKILL.md": b"y"}, True),
        ({"picture.png": b"\x89PNG"}, False),
    ],
)
def test_an_invalid_upload_is_refused_and_leaves_nothing(
    project: Project, author: Actor, files: dict[str, bytes], folder: bool
) -> None:
    with nothing_left_behind(), pytest.raises(InvalidInput):
        receive(project, uploads.open_files(files, folder=folder), author)


def test_a_viewer_cannot_publish_an_upload(project: Project, viewer: Actor) -> None:
    key = receive(project, skill_bundle(), viewer).key
    with nothing_left_behind(), pytest.raises(Forbidden):
        uploads.confirm(project, key, seen="", by=viewer)


def test_in_a_protected_project_an_upload_is_proposed_and_not_published(
    project: Project, author: Actor, colleague: Actor
) -> None:
    existing = create_skill(project, skill_bundle(files={"old.md": b"Old.\n"}), by=author).version.digest
    Project.objects.update(protected=True)
    bundle = skill_bundle(body="New.", files={"new.bin": b"\0\1"})
    key = receive(project, bundle, author).key
    with nothing_left_behind(), pytest.raises(Forbidden):
        uploads.confirm(project, key, seen=existing, by=author)
    made = uploads.propose(project, key, seen=existing, justification="It is newer.", by=author).proposal
    assert (made.kind, made.base_digest, made.result_digest) == ("update", existing, bundle.digest)
    assert (Upload.objects.count(), Version.objects.count()) == (0, 1)
    reviews.approve(project, made.pk, result_digest=bundle.digest, by=colleague)
    assert catalog.load(project.pk, "greeting").bundle() == bundle


def test_an_upload_of_a_new_skill_is_proposed_as_a_creation(project: Project, viewer: Actor) -> None:
    key = receive(project, skill_bundle(), viewer).key
    made = uploads.propose(project, key, seen="", justification="We need it.", by=viewer).proposal
    assert (made.kind, made.base_digest) == ("create", "")


@pytest.mark.parametrize("seen", ["", "sha256:other"])
def test_an_upload_against_an_older_version_is_not_proposed(
    project: Project, viewer: Actor, author: Actor, seen: str
) -> None:
    key = receive(project, skill_bundle(body="New."), viewer).key
    create_skill(project, skill_bundle(), by=author)
    with nothing_left_behind(), pytest.raises((StaleProposal, AlreadyExists)):
        uploads.propose(project, key, seen=seen, justification="Why.", by=viewer)


def test_an_upload_without_a_reason_or_with_errors_is_not_proposed(project: Project, viewer: Actor) -> None:
    key = receive(project, skill_bundle(), viewer).key
    with nothing_left_behind(), pytest.raises(InvalidInput, match="justification"):
        uploads.propose(project, key, seen="", justification=" ", by=viewer)
    odd = receive(project, skill_bundle("Odd_Name"), viewer).key
    with nothing_left_behind(), pytest.raises(InvalidInput):
        uploads.propose(project, odd, seen="", justification="Why.", by=viewer)


def test_an_operator_without_an_account_uses_the_command_line(project: Project, operator: Actor) -> None:
    with pytest.raises(Forbidden):
        uploads.preview(project, "x", by=operator)


def test_another_person_cannot_see_the_upload(
    project: Project, other_project: Project, author: Actor, colleague: Actor
) -> None:
    key = receive(project, skill_bundle(), author).key
    for where, who in ((project, colleague), (other_project, author)):
        with pytest.raises(NotFound):
            uploads.preview(where, key, by=who)
        with pytest.raises(NotFound):
            uploads.confirm(where, key, seen="", by=who)
    uploads.discard(project, key, by=colleague)
    assert Upload.objects.filter(key=key).exists()


def test_a_preview_stores_no_skill(project: Project, author: Actor) -> None:
    key = receive(project, skill_bundle(), author).key
    waiting = uploads.preview(project, key, by=author)
    assert (waiting.preview.action, waiting.preview.version, waiting.before) == ("create", "1", {})
    assert not Version.objects.exists()
    assert stored_files() == [f"uploads/{key}"]


def test_publishing_stores_the_exact_bytes_and_deletes_the_upload(project: Project, author: Actor) -> None:
    bundle = skill_bundle(files={"assets/a.bin": bytes(range(256))})
    key = receive(project, bundle, author).key
    imported = uploads.confirm(project, key, seen="", note="From the old wiki", by=author)
    assert (imported.version.digest, imported.version.note) == (bundle.digest, "From the old wiki")
    assert not Upload.objects.exists()
    assert not [name for name in stored_files() if name.startswith("uploads/")]
    with pytest.raises(NotFound):
        uploads.confirm(project, key, seen="", by=author)


def test_discarding_leaves_nothing(project: Project, author: Actor) -> None:
    with nothing_left_behind():
        key = receive(project, skill_bundle(), author).key
        uploads.discard(project, key, by=author)
        uploads.discard(project, key, by=author)


def test_a_person_has_one_upload_at_a_time(project: Project, author: Actor, colleague: Actor) -> None:
    receive(project, skill_bundle("first"), author)
    theirs = receive(project, skill_bundle("theirs"), colleague).key
    last = receive(project, skill_bundle("last"), author).key
    assert {upload.key for upload in Upload.objects.all()} == {theirs, last}
    assert stored_files() == sorted([f"uploads/{theirs}", f"uploads/{last}"])


def test_the_sweep_deletes_uploads_older_than_an_hour(project: Project, author: Actor, colleague: Actor) -> None:
    now = timezone.now()
    uploads.receive(project, "old.zip", skill_bundle(), now=now - timedelta(minutes=61), by=author)
    young = uploads.receive(project, "young.zip", skill_bundle(), now=now - timedelta(minutes=59), by=colleague)
    assert housekeeping.sweep(now=now)["uploads"] == 1
    assert [upload.key for upload in Upload.objects.all()] == [young.key]
    assert stored_files() == [f"uploads/{young.key}"]
    assert uploads.sweep(now=now) == 0


def test_the_clean_up_keeps_pending_uploads_and_reports_orphans(
    project: Project, author: Actor, capsys: pytest.CaptureFixture[str], blob_directory: Path
) -> None:
    import os

    key = receive(project, skill_bundle(), author).key
    assert list(blobs.orphans(now=timezone.now())) == []
    Upload.objects.all().delete()
    old = (timezone.now() - timedelta(days=2)).timestamp()
    os.utime(blob_directory / "uploads" / key, (old, old))
    call_command("clean_blobs", "--delete")
    assert f"uploads/{key}" in capsys.readouterr().out
    assert stored_files() == []


def test_an_upload_with_missing_bytes_is_refused(project: Project, author: Actor, blob_directory: Path) -> None:
    key = receive(project, skill_bundle(), author).key
    (blob_directory / "uploads" / key).unlink()
    with pytest.raises(NotFound):
        uploads.confirm(project, key, seen="", by=author)
    assert not Version.objects.exists()


def test_an_upload_against_an_older_version_is_not_published(project: Project, author: Actor, colleague: Actor) -> None:
    key = receive(project, skill_bundle("greeting", body="New."), author).key
    seen = uploads.preview(project, key, by=author).seen
    create_skill(project, skill_bundle("greeting"), by=colleague)
    with pytest.raises(Stale):
        uploads.confirm(project, key, seen=seen, by=author)
    again = uploads.preview(project, key, by=author)
    assert again.preview.action == "new-version"
    assert b"Follow the steps" in again.before[SKILL_MD]
    assert uploads.confirm(project, key, seen=again.seen, by=author).version.version == "2"


def test_the_preview_of_a_customisation_names_the_built_in_skill(
    project: Project, library: Path, author: Actor
) -> None:
    on_disk(library, "greeting", {"references/names.md": b"Ada\n"})
    waiting = uploads.preview(project, receive(project, skill_bundle(body="Ours."), author).key, by=author)
    assert waiting.preview.action == "override"
    assert [hidden.candidate.source for hidden in waiting.preview.hides] == ["bundled"]
    assert set(waiting.before) == {SKILL_MD, "references/names.md"}


def test_uploading_the_same_bytes_again_changes_nothing(project: Project, author: Actor) -> None:
    create_skill(project, skill_bundle(), by=author)
    waiting = uploads.preview(project, receive(project, skill_bundle(), author).key, by=author)
    assert waiting.preview.action == "unchanged"


def test_a_version_with_other_bytes_is_refused_and_leaves_nothing(project: Project, author: Actor) -> None:
    named = {"metadata": {"version": "1.0"}}
    first = receive(project, skill_bundle(**named), author)
    uploads.confirm(project, first.key, seen="", by=author)
    with nothing_left_behind(), pytest.raises(VersionConflict):
        receive(project, skill_bundle(body="Other.", **named), author)


def test_a_folder_a_zip_and_a_single_file_are_accepted(project: Project, author: Actor) -> None:
    bundle = skill_bundle()
    folder = {f"greeting/{path}": content for path, content in bundle.items()}
    assert uploads.open_files(folder, folder=True) == bundle
    assert uploads.open_files({"g.zip": bundle_files.write_zip(bundle)}, folder=False) == bundle
    assert uploads.open_files({"anything.md": bundle[SKILL_MD]}, folder=False) == bundle


def test_invisible_characters_in_a_file_name_are_shown(project: Project, author: Actor) -> None:
    upload = uploads.receive(project, "a\u202egpj.zip" + "x" * 400, skill_bundle(), now=timezone.now(), by=author)
    assert "\u202e" not in upload.filename
    assert len(upload.filename) <= 255
