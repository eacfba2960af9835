"""Imports of an exported project: nothing is changed, and invalid exports are refused."""

import os
import unicodedata
from itertools import count
from pathlib import Path

import pytest
from django.core.management import call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.core.archive.export_record import RECORD
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import NotFound, SkillsiteError
from registry.models import Event, Project, Skill, Version
from registry.services import permissions
from registry.services.audit_log import verification
from registry.services.catalog import catalog
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.transfer import export_directory, import_project
from tests import effort
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.core.strategies import accepted, distinct, file_contents, safe_paths
from tests.directories import read_files
from tests.prepared import create_skill, disable_skill, import_bundle, save_skill, yank_version
from tests.services.footprint import nothing_left_behind
from tests.services.transfer.transfers import imported, zipped

some_projects = (f"p{number}" for number in count())


@pytest.mark.parametrize("form", ["zip", "directory"])
def test_an_exported_project_imports_unchanged(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path, form: str
) -> None:
    left = zipped(mixed, operator)
    path = tmp_path / "export.zip" if form == "zip" else tmp_path / "export"
    call_command("export_project", "demo", str(path))
    assert imported(other_project, path, operator) == [
        ("override", "covered", "1"), ("create", "greeting", "2"), ("create", "named", "2.1"), ("create", "off", "1"),
    ]  # fmt: skip
    assert zipped(other_project, operator) == left
    assert verification.verify() == (Event.objects.count(), [])
    with nothing_left_behind():
        assert {action for action, _, _ in imported(other_project, path, operator)} == {"unchanged"}


@st.composite
def arriving(draw: st.DrawFn) -> dict[str, tuple[Bundle, str]]:
    """Skills by name with the version they had, none of which their SKILL.md says."""
    letters = st.characters(codec="utf-8", categories=("Ll", "Nd"))
    name = st.text(letters, min_size=1, max_size=6).map(lambda text: unicodedata.normalize("NFC", text).lower())
    lower = name.filter(lambda text: unicodedata.is_normalized("NFC", text) and text.islower() and text.isidentifier())
    safe = lower.filter(accepted)  # not "con" and "nul", which are reserved on Windows
    found = {}
    for one in draw(st.lists(safe | st.just("largest"), max_size=4, unique=True)):
        inside = draw(st.lists(safe_paths.filter(lambda p: p != SKILL_MD), max_size=4, unique=True).filter(distinct))
        files = {path: draw(file_contents) for path in inside}
        text = skill_text(one, body=draw(st.sampled_from(["One.", "# Größe\r\n\r\nZwei."])))
        version = draw(st.integers(1, 40).map(str) | st.sampled_from(["1.0", "2024-05", "é"]))
        found[one] = Bundle({SKILL_MD: text.encode(), **files}), version
    return found


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=effort.examples(6))
@given(left=arriving(), off=st.booleans())
def test_any_project_survives_export_and_import(
    db: None, library: Path, operator: Actor, tmp_path: Path, left: dict[str, tuple[Bundle, str]], off: bool
) -> None:
    here, there = (projects.create(slug=slug, name="Some", by=operator) for slug in (next(some_projects) for _ in "ab"))
    for name, (bundle, version) in left.items():
        import_bundle(here, bundle, directory=name, was=version, by=operator)
    if off and left:
        disable_skill(here, next(iter(left)), by=operator)
    data = zipped(here, operator)
    (tmp_path / "export.zip").write_bytes(data)
    list(import_project.import_skills(there, tmp_path / "export.zip", by=operator)) if left else None
    assert zipped(there, operator) == data
    assert {s.name: s.current.version for s in Skill.objects.filter(project=there)} == {  # type: ignore[union-attr]
        name: version for name, (_, version) in left.items()
    }
    export_directory.write(there, tmp_path / "directory", by=operator)
    kept = {f"{name}/{path}": bytes_ for name, (bundle, _) in left.items() for path, bytes_ in bundle.items()}
    assert {path: c for path, c in read_files(tmp_path / "directory").items() if "/" in path} == kept


def test_a_skill_without_a_name_survives_export_and_import(
    project: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    text = b"---\ndescription: Does things. Use when asked to.\nversion: a/b\n---\nDo them.\n"
    save_skill(project, "silent", Bundle({SKILL_MD: text}), base=None, by=operator)
    call_command("export_project", "demo", str(tmp_path / "out"))
    assert imported(other_project, tmp_path / "out", operator) == [("create", "silent", "1")]
    assert zipped(other_project, operator) == zipped(project, operator)


def test_the_next_version_continues_the_imported_number(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator))
    imported(other_project, tmp_path / "export.zip", operator)
    digest = catalog.get(other_project.pk, "greeting").winner.digest  # type: ignore[union-attr]
    saved = save_skill(other_project, "greeting", skill_bundle(body="New."), base=digest, by=operator)
    assert saved.version.version == "3"


def test_a_skill_edited_in_the_directory_becomes_a_new_version(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    export_directory.write(mixed, tmp_path / "out", by=operator)
    (tmp_path / "out/greeting/b").write_bytes(b"edited")
    (tmp_path / "out/greeting/.DS_Store").write_bytes(b"junk")
    assert ("new-version", "greeting", "3") in imported(mixed, tmp_path / "out", operator, note="From git")
    loaded = catalog.load(mixed.pk, "greeting")
    assert loaded.bundle()["b"] == b"edited"
    assert [file.path for file in loaded.files] == ["SKILL.md", "b"]
    assert Version.objects.get(skill__name="greeting", version="3").note == "From git"


def test_a_taken_number_is_increased_and_a_taken_name_is_refused(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    for body in ("One.", "Two."):
        import_bundle(other_project, skill_bundle(body=body), by=operator)
    import_bundle(other_project, skill_bundle("named", body="Other.", metadata={"version": "2.1"}), by=operator)
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator))
    done = {one.name: one for one in import_project.import_skills(other_project, tmp_path / "export.zip", by=operator)}
    assert (done["greeting"].action, done["greeting"].version) == ("new-version", "3")
    assert done["named"].action == import_project.REFUSED
    assert "exists with other content" in done["named"].reason
    assert done["off"].action == "create"


def test_a_withdrawn_version_is_not_imported_again(project: Project, operator: Actor, tmp_path: Path) -> None:
    create_skill(project, skill_bundle(), by=operator)
    (tmp_path / "export.zip").write_bytes(zipped(project, operator))
    yank_version(project, "greeting", "1", reason="It leaks.", by=operator)
    with nothing_left_behind():
        (done,) = import_project.import_skills(project, tmp_path / "export.zip", by=operator)
    assert "was withdrawn: It leaks." in done.reason


def test_a_disabled_skill_is_imported_disabled(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator, allowed=frozenset({"off"})))
    imported(other_project, tmp_path / "export.zip", operator)
    assert list(Event.objects.filter(chain__project=other_project).order_by("pk").values_list("verb", flat=True)) == [
        "bundle.imported", "skill.disabled",
    ]  # fmt: skip
    with pytest.raises(NotFound):
        catalog.load(other_project.pk, "off")


def test_a_skill_that_was_enabled_here_stays_enabled(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator))
    skills.enable(mixed, "off", by=operator)
    with nothing_left_behind():
        imported(mixed, tmp_path / "export.zip", operator)


def test_a_dry_run_reports_the_same_and_stores_nothing(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator))
    with nothing_left_behind():
        said = imported(other_project, tmp_path / "export.zip", operator, dry_run=True)
    assert said == imported(other_project, tmp_path / "export.zip", operator)


def test_an_invalid_skill_does_not_stop_the_others(project: Project, operator: Actor, tmp_path: Path) -> None:
    for name in ("good", "linked", "nameless", "repository", "short", "worse"):
        on_disk(tmp_path, name)
    for path in ("repository/.Git/config", "short/GIT~1/config"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(b"x")
    (tmp_path / "linked/passwd").symlink_to("/etc/passwd")
    (tmp_path / "nameless/SKILL.md").write_bytes(b"No header.")
    (tmp_path / "worse/pipe").mkdir()
    os.mkfifo(tmp_path / "worse/pipe/p")
    (tmp_path / "outside").symlink_to(tmp_path / "good")
    (tmp_path / "README.md").write_bytes(b"Not a skill.")
    done = {one.name: one for one in import_project.import_skills(project, tmp_path, by=operator)}
    assert {name: one.action for name, one in done.items()} == {
        "good": "create", "linked": "refused", "nameless": "refused", "outside": "refused", "worse": "refused",
        "repository": "refused", "short": "refused",
    }  # fmt: skip
    assert "'passwd' is a link" in done["linked"].reason
    assert "not a regular file" in done["worse"].reason
    assert list(Skill.objects.values_list("name", flat=True)) == ["good"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "There is no skill in"),
        ({"README.md": b"x", "docs/a.md": b"x"}, "There is no skill in"),
        ({RECORD: b"{}", "a/SKILL.md": b"x"}, "cannot be read"),
    ],
)
def test_an_invalid_export_is_refused(
    project: Project, operator: Actor, tmp_path: Path, files: dict[str, bytes], reason: str
) -> None:
    for name, content in files.items():
        (tmp_path / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x" / name).write_bytes(content)
    (tmp_path / "x").mkdir(exist_ok=True)
    with nothing_left_behind(), pytest.raises(SkillsiteError, match=reason):
        list(import_project.import_skills(project, tmp_path / "x", by=operator))


@pytest.mark.parametrize("content", [b"", b"not a zip"])
def test_an_invalid_zip_is_refused(project: Project, operator: Actor, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    with nothing_left_behind(), pytest.raises(SkillsiteError):
        list(import_project.import_skills(project, tmp_path / "x.zip", by=operator))


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_import_into_a_protected_project_is_refused(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path, dry_run: bool
) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator))
    projects.set_protected(other_project, True, by=operator)
    with nothing_left_behind(), pytest.raises(SkillsiteError, match="Changes to this project need a review"):
        import_project.import_skills(other_project, tmp_path / "export.zip", dry_run=dry_run, by=operator)


def test_an_import_needs_write_permission(mixed: Project, viewer: Actor, tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, permissions.operator()))
    with nothing_left_behind(), pytest.raises(SkillsiteError, match="not allowed to change skills"):
        import_project.import_skills(mixed, tmp_path / "export.zip", by=viewer)
