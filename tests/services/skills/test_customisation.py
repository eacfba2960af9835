"""Customised skills: copied with their files, compared with the built-in skill, and merged without losing text."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import AlreadyExists, Forbidden, InvalidRequest, InvalidSkill, NotFound, Stale
from registry.models import Event, Project, Skill, Version
from registry.services import permissions
from registry.services.agents import agents
from registry.services.catalog import built_in, catalog
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.skills import customisation, skills, versions
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, customise_skill, delete_skill, import_bundle, save_skill
from tests.services.footprint import nothing_left_behind

BODY = "# greeting\n\nFirst line.\n\nSecond line.\n\nThird line.\n\nFourth line."
FILES = {"references/a.md": b"# A\n", "assets/logo.png": b"\x89PNG\0old"}


def bundled(library: Path, body: str = BODY, files: dict[str, bytes] | None = None) -> str:
    """Write the built-in skill, and delete files that are not named."""
    directory = library / "greeting"
    kept = FILES if files is None else files
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            path.unlink()
    on_disk(library, files=kept, body=body)
    return built_in.index().refresh().skills["greeting"][0].candidate.digest


def mine(project: Project, by: Actor, body: str | None = None, files: dict[str, bytes] | None = None) -> str:
    current = versions.history(project, "greeting")[0]
    bundle = skill_bundle(files=FILES if files is None else files, body=body or BODY)
    return skills.save(project, "greeting", bundle, base=current.digest, by=by).version.digest


def current(project: Project) -> Bundle:
    version = Skill.objects.get(project=project, name="greeting").current
    assert version is not None
    return blobs.bundle(version.manifest)


def origin(project: Project) -> customisation.Origin:
    found = customisation.find(project, "greeting")
    assert found is not None
    return found


# -- Customise ----------------------------------------------------------------------------------------------


def test_customising_copies_every_file_and_records_the_origin(project: Project, library: Path, author: Actor) -> None:
    digest = bundled(library)
    version = customisation.customise(project, " Greeting ", by=author)
    assert (version.version, version.digest) == ("1", digest)
    skill = version.skill
    assert (skill.upstream_digest, skill.upstream_version) == (digest, f"sha-{digest[7:19]}")
    assert blobs.bundle(skill.upstream_manifest).digest == digest
    outcome = catalog.get(project.pk, "greeting")
    assert outcome.winner and outcome.winner.source == "project"
    assert outcome.customised
    event = Event.objects.get(verb="skill.customised")
    assert (event.after, event.data["version"]) == (digest, "1")


def test_the_files_of_the_built_in_skill_are_kept_after_the_directory_changes(
    project: Project, library: Path, author: Actor
) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    bundled(library, "Another text.", {})
    assert set(origin(project).base) == {SKILL_MD, *FILES}


def test_a_skill_with_errors_for_authors_can_be_customised(project: Project, library: Path, author: Actor) -> None:
    on_disk(library, "odd-one", description="x" * 1_500)
    built_in.index().refresh()
    assert customisation.customise(project, "odd-one", by=author).description == "x" * 1_500


def test_customising_after_a_delete_continues_the_numbers(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    skills.delete(project, "greeting", by=author)
    later = bundled(library, "Another text.")
    again = customisation.customise(project, "greeting", by=author)
    assert (again.version, again.skill.upstream_digest) == ("2", later)


def test_a_switched_off_skill_stays_off_when_it_is_customised(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    skills.disable(project, "greeting", by=author)
    customisation.customise(project, "greeting", by=author)
    assert not catalog.get(project.pk, "greeting").served


def test_saving_a_built_in_skill_records_the_origin(project: Project, library: Path, author: Actor) -> None:
    digest = bundled(library)
    skills.save(project, "greeting", skill_bundle(body="Mine."), base=digest, by=author)
    assert origin(project).skill.upstream_digest == digest
    assert not origin(project).changed


def test_a_project_skill_cannot_be_customised(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    with nothing_left_behind(), pytest.raises(AlreadyExists, match="Edit that one"):
        customisation.customise(project, "greeting", by=author)
    assert customisation.find(project, "greeting") is None


def test_customising_twice_is_refused(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(AlreadyExists):
        customisation.customise(project, "greeting", by=author)


def test_a_missing_skill_cannot_be_customised(project: Project, author: Actor) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        customisation.customise(project, "greeting", by=author)


def test_a_viewer_cannot_customise(project: Project, library: Path, viewer: Actor) -> None:
    bundled(library)
    with nothing_left_behind(), pytest.raises(Forbidden):
        customisation.customise(project, "greeting", by=viewer)


def test_a_member_of_another_project_cannot_customise(
    project: Project, other_project: Project, library: Path, author: Actor
) -> None:
    bundled(library)
    with nothing_left_behind(), pytest.raises(NotFound):
        customisation.customise(other_project, "greeting", by=author)


# -- Detect changes --------------------------------------------------------------------------------------


def test_a_change_of_the_built_in_skill_is_detected(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    assert not origin(project).changed
    assert origin(project).same
    bundled(library, BODY.replace("First", "Very first"))
    assert origin(project).changed
    assert not origin(project).same


def test_a_removed_built_in_skill_has_no_origin(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    shutil.rmtree(library / "greeting")
    built_in.index().refresh()
    assert customisation.find(project, "greeting") is None


def test_a_deleted_customised_skill_has_no_origin(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    skills.delete(project, "greeting", by=author)
    assert customisation.find(project, "greeting") is None


def test_a_withdrawn_customised_skill_has_no_origin(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    versions.yank(project, "greeting", "1", reason="Wrong.", by=author)
    assert customisation.find(project, "greeting") is None


# -- Merge --------------------------------------------------------------------------------------------------


def test_changes_of_both_sides_are_merged_into_one_version(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    own = mine(project, author, BODY.replace("Fourth", "Our fourth"), {**FILES, "references/ours.md": b"ours"})
    theirs = bundled(
        library, BODY.replace("First", "Their first"), {"references/a.md": b"# A2\n", "assets/logo.png": b"\0new"}
    )
    version = customisation.rebase(project, "greeting", theirs=theirs, mine=own, by=author)
    files = current(project)
    text = files[SKILL_MD].decode()
    assert "Their first" in text
    assert "Our fourth" in text
    assert files["assets/logo.png"] == b"\0new"
    assert files["references/ours.md"] == b"ours"
    assert files["references/a.md"] == b"# A2\n"
    assert (version.version, version.skill.upstream_digest) == ("3", theirs)
    assert not origin(project).changed
    event = Event.objects.get(verb="skill.rebased")
    assert (event.before, event.after) == (own, version.digest)
    assert event.data["upstream"]["after"] == theirs


def test_an_unedited_copy_becomes_the_new_built_in_version(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    first = customisation.customise(project, "greeting", by=author)
    theirs = bundled(library, "Another text.", {})
    version = customisation.rebase(project, "greeting", theirs=theirs, mine=first.digest, by=author)
    assert version.digest == theirs
    assert set(current(project)) == {SKILL_MD}


def test_the_same_change_on_both_sides_makes_no_version(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    own = mine(project, author, "Both wrote this.")
    theirs = bundled(library, "Both wrote this.")
    assert own == theirs
    version = customisation.rebase(project, "greeting", theirs=theirs, mine=own, by=author)
    assert version.version == "2"
    assert Version.objects.filter(skill__name="greeting").count() == 2
    assert not origin(project).changed


def conflict(project: Project, library: Path, author: Actor) -> tuple[str, str]:
    """Both sides changed the same line and the same image, and one removed a file that the other changed."""
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    own = mine(
        project,
        author,
        BODY.replace("First line", "Our line"),
        {"references/a.md": b"# ours\n", "assets/logo.png": b"\0ours"},
    )
    theirs = bundled(library, BODY.replace("First line", "Their line"), {"assets/logo.png": b"\0theirs"})
    return theirs, own


def test_conflicting_changes_need_a_choice(project: Project, library: Path, author: Actor) -> None:
    conflict(project, library, author)
    joined = origin(project).merge
    assert not joined.clean
    assert [file.path for file in joined.open] == [SKILL_MD, "assets/logo.png", "references/a.md"]
    assert [len(file.choices) for file in joined.open] == [1, 0, 0]


def test_a_conflict_without_answers_stores_nothing(project: Project, library: Path, author: Actor) -> None:
    theirs, own = conflict(project, library, author)
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="Choose a side for 3 conflicts"):
        customisation.rebase(project, "greeting", theirs=theirs, mine=own, by=author)


@pytest.mark.parametrize("answer", ["", "both", "THEIRS"])
def test_an_unknown_answer_counts_as_missing(project: Project, library: Path, author: Actor, answer: str) -> None:
    theirs, own = conflict(project, library, author)
    keys = origin(project).merge.keys
    answers = {keys[0]: answer, **dict.fromkeys(keys[1:], "mine")}
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="Choose a side for 1 conflict") as refused:
        customisation.rebase(project, "greeting", theirs=theirs, mine=own, answers=answers, by=author)
    assert refused.value.data["missing"] == [keys[0]]


def test_answers_resolve_each_conflict(project: Project, library: Path, author: Actor) -> None:
    theirs, own = conflict(project, library, author)
    text, picture, reference = origin(project).merge.keys
    answers = {text: "theirs", picture: "mine", reference: "theirs"}
    customisation.rebase(project, "greeting", theirs=theirs, mine=own, answers=answers, by=author)
    files = current(project)
    assert b"Their line" in files[SKILL_MD]
    assert files["assets/logo.png"] == b"\0ours"
    assert "references/a.md" not in files


def test_a_merge_with_an_invalid_result_is_refused(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    text = skill_bundle(body=BODY)[SKILL_MD].decode()
    ours = text.replace("name: greeting\n", 'name: greeting\nlicense: "MIT"\n').encode()
    held = versions.history(project, "greeting")[0].digest
    own = skills.save(project, "greeting", Bundle({**FILES, SKILL_MD: ours}), base=held, by=author).version.digest
    changed = text.replace("\n---\n", '\nlicense: "BSD"\n---\n', 1)
    (library / "greeting" / SKILL_MD).write_text(changed)
    theirs = built_in.index().refresh().skills["greeting"][0].candidate.digest
    assert origin(project).merge.clean
    with nothing_left_behind(), pytest.raises(InvalidSkill, match="license"):
        customisation.rebase(project, "greeting", theirs=theirs, mine=own, by=author)


def test_a_built_in_skill_that_changed_again_makes_the_merge_stale(
    project: Project, library: Path, author: Actor
) -> None:
    bundled(library)
    first = customisation.customise(project, "greeting", by=author)
    seen = bundled(library, "Second text.")
    bundled(library, "Third text.")
    with nothing_left_behind(), pytest.raises(Stale, match="changed again"):
        customisation.rebase(project, "greeting", theirs=seen, mine=first.digest, by=author)
    with nothing_left_behind(), pytest.raises(Stale):
        customisation.keep(project, "greeting", theirs=seen, by=author)


def test_a_customised_skill_saved_in_the_meantime_makes_the_merge_stale(
    project: Project, library: Path, author: Actor
) -> None:
    bundled(library)
    first = customisation.customise(project, "greeting", by=author)
    mine(project, author, "Somebody was quicker.")
    theirs = bundled(library, "Another text.")
    with nothing_left_behind(), pytest.raises(Stale, match="Somebody else saved"):
        customisation.rebase(project, "greeting", theirs=theirs, mine=first.digest, by=author)


def test_a_skill_that_is_not_customised_cannot_be_merged(project: Project, author: Actor) -> None:
    digest = skills.create(project, skill_bundle(), by=author).version.digest
    with nothing_left_behind(), pytest.raises(NotFound, match="not customised"):
        customisation.rebase(project, "greeting", theirs=digest, mine=digest, by=author)
    with nothing_left_behind(), pytest.raises(NotFound):
        customisation.keep(project, "greeting", theirs=digest, by=author)


def test_a_viewer_cannot_merge(project: Project, library: Path, author: Actor, viewer: Actor) -> None:
    theirs, own = conflict(project, library, author)
    with nothing_left_behind(), pytest.raises(Forbidden):
        customisation.rebase(project, "greeting", theirs=theirs, mine=own, by=viewer)
    with nothing_left_behind(), pytest.raises(Forbidden):
        customisation.keep(project, "greeting", theirs=theirs, by=viewer)


def test_a_merge_by_an_agent_records_the_agent(project: Project, library: Path, author: Actor, operator: Actor) -> None:
    bot = permissions.agent(agents.ensure(project, "bot", by=operator), frozenset({roles.READ, roles.WRITE}))
    bundled(library)
    assert customisation.customise(project, "greeting", by=bot).by == "bot"


# -- Keep my version ----------------------------------------------------------------------------------------


def test_keeping_my_version_marks_the_built_in_skill_as_seen(project: Project, library: Path, author: Actor) -> None:
    bundled(library)
    customisation.customise(project, "greeting", by=author)
    own = mine(project, author, "Ours.")
    theirs = bundled(library, "Theirs.")
    customisation.keep(project, "greeting", theirs=theirs, by=author)
    found = origin(project)
    assert not found.changed
    assert found.mine.candidate.digest == own
    assert blobs.bundle(found.skill.upstream_manifest).digest == theirs
    event = Event.objects.get(verb="upstream.kept")
    assert (event.before, event.after, event.data["upstream"]["after"]) == (own, own, theirs)


def test_keeping_my_version_twice_writes_no_event(project: Project, library: Path, author: Actor) -> None:
    digest = bundled(library)
    customisation.customise(project, "greeting", by=author)
    events = Event.objects.count()
    customisation.keep(project, "greeting", theirs=digest, by=author)
    assert Event.objects.count() == events


@pytest.mark.parametrize("verb", ["create", "import", "save"])
def test_a_new_skill_forgets_the_built_in_skill_of_a_deleted_customisation(
    project: Project, library: Any, author: Actor, verb: str
) -> None:
    on_disk(library, "greeting", body="Bundled.")
    built_in.index().refresh()
    customise_skill(project, "greeting", by=author)
    delete_skill(project, "greeting", by=author)
    if verb == "create":
        create_skill(project, skill_bundle(body="Mine."), by=author)
    elif verb == "import":
        import_bundle(project, skill_bundle(body="Mine."), by=author)
    else:
        (library / "greeting" / SKILL_MD).unlink()
        (library / "greeting").rmdir()
        built_in.index().refresh()
        save_skill(project, "greeting", skill_bundle(body="Mine."), base=None, by=author)
    row = Skill.objects.get(name="greeting")
    assert (row.upstream_digest, row.upstream_version, row.upstream_manifest) == ("", "", ())
