"""Blobs: written atomically, kept while a row names them, cleaned up a day later."""

import os
import stat
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import call_command
from django.utils import timezone

from registry.core.bundle import Bundle, FileEntry, content_digest
from registry.core.errors import NotFound
from registry.models import Project
from registry.services.files import blobs
from registry.services.files.atomic_storage import AtomicFileStorage
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, delete_skill, save_skill
from tests.services.footprint import stored_files

DAY = timedelta(hours=24)


def place(directory: Path, content: bytes) -> Path:
    digest = content_digest(content)
    return directory / digest[:2] / digest


def make_older(path: Path, by: timedelta) -> None:
    at = (timezone.now() - by).timestamp()
    os.utime(path, (at, at))


def cleaned(*options: str) -> str:
    said = StringIO()
    call_command("clean_blobs", *options, stdout=said)
    return said.getvalue()


# -- Writing and reading -----------------------------------------------------------------------------------


def test_a_file_is_stored_once_under_its_digest(blob_directory: Path) -> None:
    blobs.put(skill_bundle(files={"a.txt": b"same", "b.txt": b"same"}), now=timezone.now())
    assert place(blob_directory, b"same").read_bytes() == b"same"
    assert len(stored_files()) == 2


def test_blobs_are_readable_by_the_site_user_only(blob_directory: Path) -> None:
    blobs.put(skill_bundle(files={"a.txt": b"private"}), now=timezone.now())
    file = place(blob_directory, b"private")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_every_parent_directory_is_readable_by_the_site_user_only(tmp_path: Path) -> None:
    top = tmp_path / "data" / "blobs"
    storage = AtomicFileStorage(location=top, file_permissions_mode=0o600, directory_permissions_mode=0o700)
    storage.save("ab/abc", ContentFile(b"private"))
    storage.save("cd/cde", ContentFile(b"private"))
    for directory in (top.parent, top, top / "ab", top / "cd"):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700, directory


def test_an_existing_blob_is_not_written_again(blob_directory: Path) -> None:
    blobs.put_content(b"once", now=timezone.now())
    before = place(blob_directory, b"once").stat()
    blobs.put_content(b"once", now=timezone.now())
    after = place(blob_directory, b"once").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_blob_of_the_wrong_size_is_written_again(blob_directory: Path) -> None:
    blobs.put_content(b"whole content", now=timezone.now())
    place(blob_directory, b"whole content").write_bytes(b"whole")
    blobs.put_content(b"whole content", now=timezone.now())
    assert place(blob_directory, b"whole content").read_bytes() == b"whole content"


def test_a_write_that_fails_leaves_no_file(blob_directory: Path) -> None:
    class Torn(ContentFile[bytes]):
        def chunks(self, chunk_size: int | None = None) -> Any:
            yield b"first half"
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        storages["blobs"].save("ab/abc", Torn(b""))
    assert stored_files() == []


def test_reading_a_missing_blob_raises_not_found(blob_directory: Path) -> None:
    with pytest.raises(NotFound, match="missing from this server’s storage"):
        blobs.read(FileEntry("a.txt", 5, content_digest(b"never stored")))


@pytest.mark.parametrize("size", [10, 100_000])
def test_reading_a_damaged_blob_raises_not_found(blob_directory: Path, size: int) -> None:
    content = os.urandom(size)
    digest = blobs.put_content(content, now=timezone.now())
    place(blob_directory, content).write_bytes(b"x" * size)
    with pytest.raises(NotFound, match="is damaged"):
        blobs.read(FileEntry("a.bin", size, digest))


def test_a_stored_bundle_is_read_back_unchanged(blob_directory: Path) -> None:
    bundle = skill_bundle(files={"empty": b"", "data.bin": bytes(range(256))})
    blobs.put(bundle, now=timezone.now())
    assert blobs.bundle(bundle.manifest) == bundle


# -- Cleaning up -------------------------------------------------------------------------------------------


def test_blobs_of_a_deleted_skill_are_no_orphans(project: Project, author: Actor, blob_directory: Path) -> None:
    create_skill(project, skill_bundle(), by=author)
    delete_skill(project, "greeting", by=author)
    for file in blob_directory.rglob("*"):
        make_older(file, 3 * DAY)
    assert cleaned("--delete") == "0 unused files with 0 bytes; 0 deleted.\n"
    skills.undelete(project, "greeting", by=author)


def test_blobs_of_a_customised_built_in_skill_are_no_orphans(
    project: Project, library: Path, author: Actor, blob_directory: Path
) -> None:
    on_disk(library, files={"a.txt": b"only in the bundled one"})
    save_skill(project, "greeting", skill_bundle(body="Ours."), base=_digest_on_disk(), by=author)
    for file in blob_directory.rglob("*"):
        make_older(file, 3 * DAY)
    assert cleaned().startswith("0 unused files")
    assert place(blob_directory, b"only in the bundled one").exists()


def _digest_on_disk() -> str:
    return skill_bundle(files={"a.txt": b"only in the bundled one"}).digest


def test_clean_blobs_only_reports_without_the_delete_option(db: None, blob_directory: Path) -> None:
    blobs.put_content(b"nobody's", now=timezone.now())
    make_older(place(blob_directory, b"nobody's"), 2 * DAY)
    said = cleaned()
    assert "8 bytes, unused, old enough to delete" in said
    assert said.endswith("1 unused files with 8 bytes; 0 deleted.\n")
    assert place(blob_directory, b"nobody's").exists()


def test_only_orphans_older_than_a_day_are_deleted(db: None, blob_directory: Path) -> None:
    for content, age in ((b"old", DAY + timedelta(minutes=1)), (b"new", DAY - timedelta(minutes=1))):
        blobs.put_content(content, now=timezone.now())
        make_older(place(blob_directory, content), age)
    said = cleaned("--delete")
    assert "too new to delete" in said
    assert said.endswith("2 unused files with 6 bytes; 1 deleted.\n")
    assert not place(blob_directory, b"old").exists()
    assert place(blob_directory, b"new").exists()


def test_an_old_orphan_that_is_used_again_is_rewritten_and_kept(db: None, blob_directory: Path) -> None:
    """A save stores its blobs before the row that names them. A clean-up in between must keep them."""
    now = timezone.now()
    blobs.put_content(b"used again", now=now)
    make_older(place(blob_directory, b"used again"), 2 * DAY)
    (orphan,) = blobs.orphans(now=now)
    assert orphan.old
    blobs.put_content(b"used again", now=now)
    assert not blobs.discard(orphan, now=now)
    assert cleaned("--delete").endswith("0 deleted.\n")
    assert place(blob_directory, b"used again").exists()


def test_a_blob_that_could_expire_during_a_save_is_rewritten(blob_directory: Path) -> None:
    blobs.put_content(b"half a day", now=timezone.now())
    file = place(blob_directory, b"half a day")
    make_older(file, DAY / 2 + timedelta(minutes=1))
    before = file.stat().st_mtime_ns
    blobs.put_content(b"half a day", now=timezone.now())
    assert file.stat().st_mtime_ns > before


def test_a_temporary_file_of_a_killed_process_is_reported(db: None, blob_directory: Path) -> None:
    leftover = blob_directory / "ab" / ".new-0123456789abcdef"
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half")
    make_older(leftover, 2 * DAY)
    assert "left by a killed process" in cleaned("--delete")
    assert not leftover.exists()


def test_cleaning_an_empty_storage_finds_nothing(db: None) -> None:
    assert cleaned().startswith("0 unused files")


def test_the_age_is_counted_from_the_last_write(blob_directory: Path) -> None:
    blobs.put(Bundle({"SKILL.md": b"x"}), now=timezone.now())
    make_older(place(blob_directory, b"x"), timedelta(days=2))
    at = storages["blobs"].get_modified_time(stored_files()[0])
    assert datetime.now(UTC) - at > timedelta(days=1)
