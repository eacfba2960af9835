"""Importing bundles: preview, import, and versions that always mean the same bytes."""

from pathlib import Path

import pytest

from registry.core.bundle import Bundle
from registry.core.errors import Conflict, InvalidRequest, InvalidSkill, SkillsiteError, UnsafePath, VersionConflict
from registry.models import Project, Skill
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.skills import bundles, skills, versions
from tests.conftest import on_disk, skill_bundle
from tests.services.footprint import nothing_left_behind


def versioned(version: str, **more: object) -> Bundle:
    return skill_bundle(metadata={"version": version}, **more)


def both(project: Project, bundle: Bundle, by: Actor) -> tuple[str, str]:
    """Import a bundle and return its action and version, after checking that the preview announced them."""
    with nothing_left_behind():
        said = bundles.preview(project, bundle, by=by)
    done = bundles.import_bundle(project, bundle, by=by)
    assert (said.action, said.version) == (done.action, done.version.version)
    return done.action, done.version.version


def test_a_new_name_is_created(project: Project, author: Actor) -> None:
    assert both(project, skill_bundle(), author) == ("create", "1")


def test_an_import_keeps_the_version_of_its_source(project: Project, author: Actor) -> None:
    assert both(project, versioned("2.1.0-beta"), author) == ("create", "2.1.0-beta")


def test_importing_a_built_in_name_customises_it(project: Project, library: Path, author: Actor) -> None:
    on_disk(library)
    said = bundles.preview(project, skill_bundle(body="Ours."), by=author)
    assert [hidden.candidate.source for hidden in said.hides] == ["bundled"]
    assert both(project, skill_bundle(body="Ours."), author) == ("override", "1")
    assert catalog.get(project.pk, "greeting").hides == said.hides


def test_a_known_name_gets_a_new_version(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    assert both(project, skill_bundle(body="Two."), author) == ("new-version", "2")
    assert both(project, versioned("7.0"), author) == ("new-version", "7.0")
    assert both(project, skill_bundle(body="Three."), author) == ("new-version", "3")


def test_a_number_used_by_an_import_is_not_used_again(project: Project, author: Actor) -> None:
    assert both(project, versioned("1"), author) == ("create", "1")
    assert both(project, versioned("5"), author) == ("new-version", "5")
    assert both(project, skill_bundle(body="Next."), author) == ("new-version", "6")


@pytest.mark.parametrize("version", [None, "1.2"])
def test_importing_the_same_bytes_again_changes_nothing(project: Project, author: Actor, version: str | None) -> None:
    bundle = versioned(version) if version else skill_bundle()
    first = bundles.import_bundle(project, bundle, by=author).version
    with nothing_left_behind():
        again = bundles.import_bundle(project, bundle, by=author)
        assert bundles.preview(project, bundle, by=author).action == "unchanged"
    assert (again.action, again.version) == ("unchanged", first)


@pytest.mark.parametrize("verb", [bundles.import_bundle, bundles.preview])
def test_the_same_version_with_other_bytes_is_refused_with_both_digests(
    project: Project, author: Actor, verb: object
) -> None:
    stored, given = versioned("1.0"), versioned("1.0", body="Other.")
    bundles.import_bundle(project, stored, by=author)
    with nothing_left_behind(), pytest.raises(VersionConflict) as refused:
        verb(project, given, by=author)  # type: ignore[operator]
    assert refused.value.data == {"stored": stored.digest, "given": given.digest}
    assert stored.digest in refused.value.message
    assert given.digest in refused.value.message


def test_a_version_of_a_deleted_skill_still_means_the_same_bytes(project: Project, author: Actor) -> None:
    bundles.import_bundle(project, versioned("1.0"), by=author)
    skills.delete(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(VersionConflict):
        bundles.import_bundle(project, versioned("1.0", body="Other."), by=author)


def test_importing_a_deleted_version_restores_it(project: Project, author: Actor) -> None:
    first = bundles.import_bundle(project, versioned("1.0"), by=author).version
    skills.delete(project, "greeting", by=author)
    again = bundles.import_bundle(project, versioned("1.0"), by=author)
    assert (again.action, again.version) == ("create", first)
    assert catalog.load(project.pk, "greeting").candidate.version == "1.0"


def test_an_import_after_a_delete_continues_the_numbers(project: Project, author: Actor) -> None:
    bundles.import_bundle(project, skill_bundle(), by=author)
    skills.delete(project, "greeting", by=author)
    assert both(project, skill_bundle(body="Two."), author) == ("create", "2")


def test_a_withdrawn_version_is_not_imported_again(project: Project, author: Actor) -> None:
    bundles.import_bundle(project, versioned("1.0"), by=author)
    versions.yank(project, "greeting", "1.0", reason="Wrong.", by=author)
    with nothing_left_behind(), pytest.raises(Conflict, match=r"was withdrawn: Wrong\."):
        bundles.import_bundle(project, versioned("1.0"), by=author)


def test_a_name_with_capitals_is_served_under_its_normal_spelling(project: Project, author: Actor) -> None:
    done = bundles.import_bundle(project, skill_bundle("Greeting Card"), by=author)
    assert done.version.skill.name == "greeting card"
    assert any(finding.rule == "name-pattern" for finding in done.findings)


def test_an_import_keeps_every_byte(project: Project, author: Actor) -> None:
    text = b"\xef\xbb\xbf---\r\nname: greeting\r\n# a remark\r\nx-other: 1\r\ndescription: Hello.\r\n---\r\nHi  \r\n"
    bundles.import_bundle(project, Bundle({"SKILL.md": text}), by=author)
    assert catalog.load(project.pk, "greeting").bundle()["SKILL.md"] == text


@pytest.mark.parametrize("name", ["../escape", "a/b", ".hidden", "con", "x" * 129, "a\\b"])
def test_a_name_that_is_unsafe_as_a_directory_is_refused(project: Project, author: Actor, name: str) -> None:
    text = f"---\nname: '{name}'\ndescription: Odd.\n---\nText.\n"
    with nothing_left_behind(), pytest.raises(UnsafePath):
        bundles.import_bundle(project, Bundle({"SKILL.md": text.encode()}), by=author)


@pytest.mark.parametrize("version", ["1/2", "..", "x" * 129, ".1", "a\\b", "1\u202e0"])
@pytest.mark.parametrize("verb", [bundles.import_bundle, bundles.preview])
def test_a_version_that_is_unsafe_as_a_directory_is_refused(
    project: Project, author: Actor, version: str, verb: object
) -> None:
    with nothing_left_behind(), pytest.raises(UnsafePath, match="version"):
        verb(project, versioned(version), by=author)  # type: ignore[operator]


def test_a_note_that_is_too_long_is_refused(project: Project, author: Actor) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest):
        bundles.import_bundle(project, skill_bundle(), note="x" * 301, by=author)


@pytest.mark.parametrize("text", [b"", b"no header", b"---\nname: x\n---\n", b"\xff\xfe", b"---\na: &a [*a]\n---\n"])
def test_an_unreadable_bundle_is_refused(project: Project, author: Actor, text: bytes) -> None:
    with nothing_left_behind(), pytest.raises(SkillsiteError) as refused:
        bundles.import_bundle(project, Bundle({"SKILL.md": text}), by=author)
    assert refused.value.findings


def test_an_import_with_warnings_is_stored_and_reports_them(project: Project, author: Actor) -> None:
    done = bundles.import_bundle(project, skill_bundle(description="x" * 1_100), by=author)
    assert "description-length" in {finding.rule for finding in done.findings}
    assert Skill.objects.get(name="greeting").overrides


def test_a_nested_skill_is_looked_up_like_a_required_one(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle("nested"), by=author)
    steps = "steps: [{id: a, uses: skill:nested}, {id: b, uses: skill:missing}]\n"
    bundle = Bundle({**skill_bundle("outer"), "workflow.yaml": f"id: outer\nversion: 1\n{steps}".encode()})
    found = bundles.preview(project, bundle, by=author).checked.findings
    assert [each.message for each in found if each.rule == "workflow-skill-unknown"] == [
        "Step 'b' uses the skill “missing”, which is not in this project."
    ]


def test_a_broken_workflow_is_not_imported(project: Project, author: Actor) -> None:
    bundle = Bundle({**skill_bundle(), "workflow.yaml": b"steps: []\n"})
    with nothing_left_behind(), pytest.raises(InvalidSkill, match=r"workflow.yaml, line 1: .*Nothing was saved"):
        bundles.import_bundle(project, bundle, by=author)
