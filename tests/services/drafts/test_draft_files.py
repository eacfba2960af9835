"""Files of a draft."""

import pytest

from registry.core.errors import AlreadyExists, InvalidInput, NotFound, TooLarge
from registry.core.limits import Limits
from registry.models import Draft, Project
from registry.services.drafts import draft_files, drafts
from registry.services.drafts.drafts import Place
from registry.services.files import blobs
from registry.services.permissions import Actor


@pytest.mark.parametrize("path", ["../up.md", "/etc/passwd", "a\\b", "SKILL.md", "deep/skill.md", "", "con.txt"])
def test_an_unsafe_path_is_refused_and_nothing_is_saved(project: Project, author: Actor, path: str) -> None:
    with pytest.raises(InvalidInput):
        draft_files.add(Place(project), {"fine.md": b"x", path: b"y"}, by=author)
    with pytest.raises(InvalidInput):
        draft_files.create(Place(project), path, by=author)
    assert not Draft.objects.exists()


def test_limits_name_both_numbers(project: Project, author: Actor, settings: object) -> None:
    settings.LIMITS = Limits(file_bytes=10, files=3, expanded_bytes=25)  # type: ignore[attr-defined]
    with pytest.raises(TooLarge, match=r"11 bytes\. 10 are allowed"):
        draft_files.add(Place(project), {"a.md": b"x" * 11}, by=author)
    with pytest.raises(TooLarge, match=r"4 files\. 3 are allowed"):
        draft_files.add(Place(project), {f"{n}.md": b"x" for n in range(3)}, by=author)
    settings.LIMITS = Limits(file_bytes=20, files=9, expanded_bytes=25)  # type: ignore[attr-defined]
    with pytest.raises(TooLarge, match=r"30 bytes together\. 25 are allowed"):
        draft_files.add(Place(project), {"a.md": b"x" * 15, "b.md": b"y" * 15}, by=author)
    assert not Draft.objects.exists()


def test_paths_that_differ_only_in_case_are_refused(project: Project, author: Actor) -> None:
    with pytest.raises(InvalidInput):
        draft_files.add(Place(project), {"docs/a.md": b"x", "Docs/b.md": b"y"}, by=author)


def test_files_are_added_renamed_removed_and_restored(existing: Place, author: Actor) -> None:
    draft_files.add(existing, {"scripts/run.py": b"print()\n"}, by=author)
    draft_files.rename(existing, "scripts/run.py", "scripts/go.py", by=author)
    with pytest.raises(AlreadyExists):
        draft_files.rename(existing, "scripts/go.py", "references/names.md", by=author)
    with pytest.raises(NotFound):
        draft_files.remove(existing, "scripts/run.py", by=author)
    draft = draft_files.remove(existing, "references/names.md", by=author)
    assert [entry.path for entry in draft_files.removed(draft)] == ["references/names.md"]
    draft = draft_files.restore(existing, "references/names.md", by=author)
    assert [entry.path for entry in draft.manifest] == ["assets/logo.bin", "references/names.md", "scripts/go.py"]
    with pytest.raises(NotFound):
        draft_files.restore(existing, "assets/logo.bin", by=author)


def test_editing_a_text_file_keeps_its_line_endings(project: Project, author: Actor) -> None:
    draft_files.add(Place(project), {"a.txt": b"one\r\ntwo\r\n"}, by=author)
    draft = draft_files.write_text(Place(project), "a.txt", "one\r\ntwo and\r\n", by=author)
    assert blobs.read(draft.manifest[0]) == b"one\r\ntwo and\r\n"


def test_a_binary_file_has_no_text(existing: Place, author: Actor) -> None:
    logo, names = drafts.find(existing, by=author).manifest
    assert draft_files.text_of(logo) is None
    assert draft_files.text_of(names) == "Ada\n"


def test_the_clean_up_keeps_the_files_of_drafts(project: Project, author: Actor) -> None:
    from django.utils import timezone

    draft_files.add(Place(project), {"a.txt": b"waiting"}, by=author)
    assert list(blobs.orphans(now=timezone.now())) == []
    drafts.discard(Place(project), by=author)
    assert [orphan.size for orphan in blobs.orphans(now=timezone.now())] == [7]
