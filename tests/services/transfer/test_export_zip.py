"""A project leaves as a zip or a directory, and comes back the same; what is not an export is left alone."""

import io
import os
import tracemalloc
import unicodedata
import zipfile
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.core import roles
from registry.core.archive import export_record
from registry.core.archive.export_record import RECORD
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import Conflict, NotFound, SkillsiteError, UnsafePath
from registry.models import Event, Project, Skill, Version
from registry.services import permissions
from registry.services.catalog import built_in, catalog
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.transfer import export_directory, export_zip, import_project
from tests import effort
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.core.strategies import distinct, file_contents, safe_paths
from tests.prepared import create_skill, delete_skill, disable_skill, import_bundle, save_skill, yank_version
from tests.services.footprint import nothing_left_behind

some_projects = (f"p{number}" for number in count())


@pytest.fixture
def mixed(project: Project, library: Path, operator: Actor) -> Project:
    """Own skills of every kind: saved twice, with a named version, over a bundled one, off, gone, withdrawn."""
    on_disk(library, "bundled-one", {"a.txt": b"a"})
    on_disk(library, "covered")
    built_in.index().refresh()
    first = create_skill(project, skill_bundle(files={"data/ü.bin": b"\0\xff", "empty": b""}), by=operator).version
    save_skill(project, "greeting", skill_bundle(files={"b": b"\r\n"}), base=first.digest, by=operator)
    import_bundle(project, skill_bundle("named", metadata={"version": "2.1"}), by=operator)
    import_bundle(project, skill_bundle("covered", body="Ours."), by=operator)
    create_skill(project, skill_bundle("off"), by=operator)
    disable_skill(project, "off", by=operator)
    create_skill(project, skill_bundle("gone"), by=operator)
    delete_skill(project, "gone", by=operator)
    create_skill(project, skill_bundle("withdrawn"), by=operator)
    yank_version(project, "withdrawn", "1", reason="Wrong.", by=operator)
    return project


def zipped(project: Project, by: Actor, **options: Any) -> bytes:
    return b"".join(export_zip.export_zip(project, by=by, **options).chunks)


def names(data: bytes) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(data)).namelist()


def brought(project: Project, path: Path, by: Actor, **options: Any) -> list[tuple[str, str, str]]:
    return [
        (one.action, one.name, one.version) for one in import_project.import_skills(project, path, by=by, **options)
    ]


def tree(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


# -- out ---------------------------------------------------------------------------------------------------


def test_a_zip_has_the_own_skills_in_order_and_a_record(mixed: Project, operator: Actor) -> None:
    data = zipped(mixed, operator)
    assert names(data) == [
        RECORD, "covered/SKILL.md", "greeting/SKILL.md", "greeting/b", "named/SKILL.md", "off/SKILL.md",
    ]  # fmt: skip
    said = export_record.read(zipfile.ZipFile(io.BytesIO(data)).read(RECORD))
    assert [(one.name, one.version, one.source, one.enabled) for one in said.values()] == [
        ("covered", "1", "project", True),
        ("greeting", "2", "project", True),
        ("named", "2.1", "project", True),
        ("off", "1", "project", False),
    ]
    assert said["greeting"].digest == catalog.get(mixed.pk, "greeting").winner.digest  # type: ignore[union-attr]


def test_the_zip_has_the_announced_length_and_is_deterministic(mixed: Project, operator: Actor) -> None:
    assert export_zip.export_zip(mixed, by=operator).length == len(zipped(mixed, operator))
    assert zipped(mixed, operator) == zipped(mixed, operator)


def test_an_effective_export_has_all_skills_of_agents(mixed: Project, operator: Actor) -> None:
    said = names(zipped(mixed, operator, effective=True))
    assert [name for name in said if name.endswith(SKILL_MD)] == [
        "bundled-one/SKILL.md", "covered/SKILL.md", "greeting/SKILL.md", "named/SKILL.md",
    ]  # fmt: skip
    assert "bundled-one/a.txt" in said


@pytest.mark.parametrize("effective", [False, True])
def test_an_agent_exports_only_enabled_skills_on_its_list(mixed: Project, operator: Actor, effective: bool) -> None:
    agent = Actor("agent", "bot", mixed.pk, frozenset({roles.READ}))
    assert "off/SKILL.md" not in names(zipped(mixed, agent, effective=effective))
    allowed = frozenset({"named", "off"})
    assert names(zipped(mixed, agent, effective=effective, allowed=allowed)) == [RECORD, "named/SKILL.md"]


def test_a_project_without_skills_exports_an_empty_record(project: Project, operator: Actor) -> None:
    assert names(zipped(project, operator)) == [RECORD]


@pytest.mark.parametrize("scopes", [frozenset(), frozenset({roles.WRITE})])
def test_an_export_needs_the_scope_read(mixed: Project, scopes: frozenset[str]) -> None:
    with pytest.raises(SkillsiteError, match="not allowed to read"):
        export_zip.export_zip(mixed, by=Actor("agent", "bot", mixed.pk, scopes))


def test_another_project_cannot_be_exported(mixed: Project, other_project: Project) -> None:
    with pytest.raises(NotFound):
        export_zip.export_zip(mixed, by=Actor("agent", "bot", other_project.pk, frozenset({roles.READ})))


@pytest.mark.slow
def test_a_long_export_needs_little_memory(project: Project, operator: Actor) -> None:
    for number in range(12):
        import_bundle(
            project, skill_bundle(f"s{number}", {f"{part}.bin": os.urandom(1 << 20) for part in range(2)}), by=operator
        )
    archive = export_zip.export_zip(project, by=operator)
    tracemalloc.start()
    length = sum(map(len, archive.chunks))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length == archive.length > 24 << 20
    assert peak < 8 << 20


# -- and back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["zip", "directory"])
def test_an_exported_project_imports_unchanged(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path, form: str
) -> None:
    left = zipped(mixed, operator)
    path = tmp_path / "export.zip" if form == "zip" else tmp_path / "export"
    call_command("export_project", "demo", str(path))
    assert brought(other_project, path, operator) == [
        ("override", "covered", "1"), ("create", "greeting", "2"), ("create", "named", "2.1"), ("create", "off", "1"),
    ]  # fmt: skip
    assert zipped(other_project, operator) == left
    with nothing_left_behind():
        assert {action for action, _, _ in brought(other_project, path, operator)} == {"unchanged"}


@st.composite
def arriving(draw: st.DrawFn) -> dict[str, tuple[Bundle, str]]:
    """Skills by name with the version they had, none of which their SKILL.md says."""
    letters = st.characters(codec="utf-8", categories=("Ll", "Nd"))
    name = st.text(letters, min_size=1, max_size=6).map(lambda text: unicodedata.normalize("NFC", text).lower())
    safe = name.filter(lambda text: unicodedata.is_normalized("NFC", text) and text.islower() and text.isidentifier())
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
    assert {path: c for path, c in tree(tmp_path / "directory").items() if "/" in path} == kept


def test_a_skill_without_a_name_survives_export_and_import(
    project: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    text = b"---\ndescription: Does things. Use when asked to.\nversion: a/b\n---\nDo them.\n"
    save_skill(project, "silent", Bundle({SKILL_MD: text}), base=None, by=operator)
    call_command("export_project", "demo", str(tmp_path / "out"))
    assert brought(other_project, tmp_path / "out", operator) == [("create", "silent", "1")]
    assert zipped(other_project, operator) == zipped(project, operator)


def test_the_next_version_continues_the_imported_number(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator))
    brought(other_project, tmp_path / "export.zip", operator)
    digest = catalog.get(other_project.pk, "greeting").winner.digest  # type: ignore[union-attr]
    saved = save_skill(other_project, "greeting", skill_bundle(body="New."), base=digest, by=operator)
    assert saved.version.version == "3"


def test_a_skill_edited_in_the_directory_becomes_a_new_version(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    export_directory.write(mixed, tmp_path / "out", by=operator)
    (tmp_path / "out/greeting/b").write_bytes(b"edited")
    (tmp_path / "out/greeting/.DS_Store").write_bytes(b"junk")
    assert ("new-version", "greeting", "3") in brought(mixed, tmp_path / "out", operator, note="From git")
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
    brought(other_project, tmp_path / "export.zip", operator)
    assert list(Event.objects.filter(chain__project=other_project).order_by("pk").values_list("verb", flat=True)) == [
        "bundle.imported", "skill.disabled",
    ]  # fmt: skip
    with pytest.raises(NotFound):
        catalog.load(other_project.pk, "off")


def test_a_skill_that_was_enabled_here_stays_enabled(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator))
    skills.enable(mixed, "off", by=operator)
    with nothing_left_behind():
        brought(mixed, tmp_path / "export.zip", operator)


def test_a_dry_run_reports_the_same_and_stores_nothing(
    mixed: Project, other_project: Project, operator: Actor, tmp_path: Path
) -> None:
    (tmp_path / "export.zip").write_bytes(zipped(mixed, operator))
    with nothing_left_behind():
        said = brought(other_project, tmp_path / "export.zip", operator, dry_run=True)
    assert said == brought(other_project, tmp_path / "export.zip", operator)


def test_an_invalid_skill_does_not_stop_the_others(project: Project, operator: Actor, tmp_path: Path) -> None:
    for name in ("good", "linked", "nameless", "worse"):
        on_disk(tmp_path, name)
    (tmp_path / "linked/passwd").symlink_to("/etc/passwd")
    (tmp_path / "nameless/SKILL.md").write_bytes(b"No header.")
    (tmp_path / "worse/pipe").mkdir()
    os.mkfifo(tmp_path / "worse/pipe/p")
    (tmp_path / "outside").symlink_to(tmp_path / "good")
    (tmp_path / "README.md").write_bytes(b"Not a skill.")
    done = {one.name: one for one in import_project.import_skills(project, tmp_path, by=operator)}
    assert {name: one.action for name, one in done.items()} == {
        "good": "create", "linked": "refused", "nameless": "refused", "outside": "refused", "worse": "refused",
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


# -- a directory under version control ---------------------------------------------------------------------


def test_only_changed_files_are_written_again(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = export_directory.write(mixed, out, by=operator)
    assert (first.skills, first.files, first.removed) == (4, 7, ())
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert export_directory.write(mixed, out, by=operator).files == 0
    digest = catalog.get(mixed.pk, "named").winner.digest  # type: ignore[union-attr]
    save_skill(mixed, "named", skill_bundle("named", body="New."), base=digest, by=operator)
    assert export_directory.write(mixed, out, by=operator).files == 2
    after = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert {path.relative_to(out).as_posix() for path in after if before[path] != after[path]} == {
        RECORD, "named/SKILL.md",
    }  # fmt: skip


def test_an_export_that_fails_leaves_no_half_file(
    mixed: Project, operator: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    export_directory.write(mixed, out, by=operator)
    record = out / RECORD
    record.write_bytes(before := record.read_bytes() + b"\n")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        export_directory.write(mixed, out, by=operator)
    assert record.read_bytes() == before
    assert [path.name for path in out.glob(".new-*")] == []


def test_only_the_directory_of_a_deleted_skill_is_removed(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / ".git").mkdir(parents=True)
    export_directory.write(mixed, out, by=operator)
    (out / "README.md").write_bytes(b"ours")
    (out / "notes").mkdir()
    (out / "notes/a").write_bytes(b"ours")
    (out / "greeting/stray/deep").mkdir(parents=True)
    (out / "greeting/stray/deep/x").write_bytes(b"left over")
    (tmp_path / "outside").write_bytes(b"keep")
    (out / "greeting/link").symlink_to(tmp_path / "outside")
    delete_skill(mixed, "named", by=operator)
    assert export_directory.write(mixed, out, by=operator).removed == ("named",)
    assert sorted(tree(out)) == [
        ".gitattributes", RECORD, "README.md", "covered/SKILL.md", "greeting/SKILL.md", "greeting/b", "notes/a",
        "off/SKILL.md",
    ]  # fmt: skip
    assert not (out / "greeting/stray").exists()
    assert (tmp_path / "outside").read_bytes() == b"keep"


def test_a_file_can_become_a_directory_and_back(project: Project, operator: Actor, tmp_path: Path) -> None:
    first = create_skill(project, skill_bundle(files={"a": b"1", "b/c": b"2"}), by=operator).version
    export_directory.write(project, tmp_path / "out", by=operator)
    bundle = skill_bundle(files={"a/d": b"3", "b": b"4"})
    save_skill(project, "greeting", bundle, base=first.digest, by=operator)
    export_directory.write(project, tmp_path / "out", by=operator)
    assert tree(tmp_path / "out/greeting") == dict(bundle)


def test_git_does_not_change_line_endings(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    export_directory.write(mixed, tmp_path / "out", by=operator)
    assert (tmp_path / "out/.gitattributes").read_bytes() == b"* -text\n"
    (tmp_path / "out/.gitattributes").write_bytes(b"# ours\n")
    export_directory.write(mixed, tmp_path / "out", by=operator)
    assert (tmp_path / "out/.gitattributes").read_bytes() == b"# ours\n"


def test_a_directory_that_is_not_an_export_is_refused(mixed: Project, operator: Actor, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "greeting").mkdir(parents=True)
    with pytest.raises(Conflict, match="is not empty and has no"):
        export_directory.write(mixed, mine, by=operator)
    (mine / "file").write_bytes(b"")
    with pytest.raises(Conflict, match="is a file"):
        export_directory.write(mixed, mine / "file", by=operator)
    assert sorted(path.name for path in mine.rglob("*")) == ["file", "greeting"]


@pytest.mark.parametrize("how", ["directory", "link", "file"])
def test_files_of_others_are_not_overwritten(mixed: Project, operator: Actor, tmp_path: Path, how: str) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine"
    export_directory.write(mixed, out, by=operator)
    mine.mkdir()
    (mine / "a").write_bytes(b"ours")
    create_skill(mixed, skill_bundle("newcomer"), by=operator)
    target = out / "newcomer"
    if how == "directory":
        mine.rename(target)
    elif how == "link":
        target.symlink_to(mine)
    else:
        target.write_bytes(b"ours")
    before = tree(tmp_path)
    with pytest.raises(Conflict, match="exists and is not from an export"):
        export_directory.write(mixed, out, by=operator)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("path", [".git/config", "deep/.GIT/hooks/x", "GIT~1/x"])
def test_files_that_git_treats_as_its_own_are_refused(
    project: Project, operator: Actor, tmp_path: Path, path: str
) -> None:
    import_bundle(project, skill_bundle(files={path: b"x"}), by=operator)
    with pytest.raises(UnsafePath, match="git would treat as its own"):
        export_directory.write(project, tmp_path / "out", by=operator)
    assert not (tmp_path / "out").exists()


# -- the commands ------------------------------------------------------------------------------------------


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_the_commands_print_their_results(mixed: Project, other_project: Project, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert said("export_project", "demo", out) == f"4 skills in {out}; 7 files written.\n"
    assert said("import_project", "other", out, "--dry-run").splitlines()[0] == "override covered 1"
    assert said("import_project", "other", out).splitlines()[-1] == "create off 1"


def test_a_refused_skill_is_printed_and_sets_the_exit_code(
    mixed: Project, other_project: Project, tmp_path: Path
) -> None:
    call_command("export_project", "demo", str(tmp_path / "out"), stdout=io.StringIO())
    (tmp_path / "out/named/SKILL.md").write_bytes(b"")
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 was refused") as refused:
        call_command("import_project", "other", str(tmp_path / "out"), stdout=out, stderr=out)
    assert refused.value.returncode == 1
    assert "refused named SKILL.md" in out.getvalue()
    assert Skill.objects.filter(project=other_project).count() == 3


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("export_project", "nothing", "{}/out"), "There is no project 'nothing'"),
        (("import_project", "nothing", "{}"), "There is no project 'nothing'"),
        (("import_project", "demo", "{}/missing"), "There is no file or directory"),
        (("export_project", "demo", "{}/there.zip"), "File exists"),
        (("export_project", "demo", "{}/no/such.zip"), "No such file"),
        (("export_project", "demo", "{}"), "is not empty"),
    ],
)
def test_the_commands_refuse_invalid_arguments(
    project: Project, tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "there.zip").write_bytes(b"")
    with nothing_left_behind(), pytest.raises(CommandError, match=reason):
        call_command(*(argument.format(tmp_path) for argument in arguments))
