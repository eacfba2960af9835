"""Creating, saving, switching, deleting and restoring skills. A refusal stores nothing."""

from pathlib import Path

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.errors import (
    AlreadyExists,
    Conflict,
    InvalidRequest,
    InvalidSkill,
    NotFound,
    PreconditionRequired,
    Stale,
)
from registry.models import Project, Skill, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.skills import bundles, skills, versions
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.services.footprint import footprint, nothing_left_behind


def revision(project: Project) -> int:
    return Project.objects.get(pk=project.pk).revision


def served(project: Project) -> list[str]:
    return [candidate.name for candidate in catalog.view(project.pk, revision(project)).served]


def body(project: Project, name: str = "greeting", version: str | None = None) -> str:
    return catalog.load(project.pk, name, version=version).skill_md().instructions


# -- Create ------------------------------------------------------------------------------------------------


def test_a_new_skill_is_version_1_and_served_at_once(project: Project, author: Actor) -> None:
    saved = skills.create(project, skill_bundle(files={"a.txt": b"a"}), note="First", by=author)
    assert (saved.version.version, saved.created, saved.version.note) == ("1", True, "First")
    assert served(project) == ["greeting"]
    assert catalog.load(project.pk, "greeting").bundle() == skill_bundle(files={"a.txt": b"a"})


def test_a_new_skill_replaces_a_built_in_skill_and_its_files(project: Project, library: Path, author: Actor) -> None:
    on_disk(library, files={"references/a.md": b"a"})
    skills.create(project, skill_bundle(body="Ours."), by=author)
    loaded = catalog.load(project.pk, "greeting")
    assert [entry.path for entry in loaded.files] == [SKILL_MD]
    with pytest.raises(NotFound):
        loaded.entry("references/a.md")
    (hidden,) = catalog.get(project.pk, "greeting").hides
    assert hidden.candidate.source == "bundled"


def test_a_taken_name_is_refused_and_nothing_is_stored(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    with nothing_left_behind(), pytest.raises(AlreadyExists, match="already has a skill greeting"):
        skills.create(project, skill_bundle(body="Something else.", files={"new.txt": b"new"}), by=author)


INVALID = {
    "upper case": skill_text("Greeting"),
    "a space": skill_text("good morning"),
    "double hyphen": skill_text("a--b"),
    "too long a name": skill_text("a" * 65),
    "a path": skill_text("../escape"),
    "no description": "---\nname: greeting\n---\nText.\n",
    "too long a description": skill_text(description="Use when needed. " + "x" * 1_024),
    "no name": "---\ndescription: Use when greeting.\n---\nText.\n",
    "a key twice": "---\nname: greeting\nname: greeting\ndescription: x\n---\n",
    "no header": "Only text.",
    "empty": "",
    "too large": skill_text() + "x" * 512_000,
}


@pytest.mark.parametrize("case", INVALID)
def test_a_skill_with_errors_is_refused_and_nothing_is_stored(project: Project, author: Actor, case: str) -> None:
    with nothing_left_behind(), pytest.raises(Exception) as refused:
        skills.create(project, skills.from_text(INVALID[case]), by=author)
    assert isinstance(refused.value, InvalidSkill) or type(refused.value).__name__ in {"UnsafePath", "TooLarge"}


def test_an_unpaired_surrogate_is_refused_with_its_line() -> None:
    with pytest.raises(InvalidSkill) as refused:
        skills.from_text("---\nname: greeting\n---\nHello \ud83d")
    assert refused.value.findings[0].line == 4


def test_a_note_that_is_too_long_is_refused_and_nothing_is_stored(project: Project, author: Actor) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=r"301 characters\. 300 are allowed"):
        skills.create(project, skill_bundle(), note="x" * 301, by=author)


def test_the_version_in_the_header_does_not_set_the_number(project: Project, author: Actor) -> None:
    saved = skills.create(project, skill_bundle(metadata={"version": "9.9"}), by=author)
    assert saved.version.version == "1"


# -- Save --------------------------------------------------------------------------------------------------


def test_a_save_is_the_next_version_and_the_old_one_stays(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(body="One."), by=author).version
    second = skills.save(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author)
    assert (second.version.version, second.created) == ("2", False)
    assert body(project) == "Two."
    assert body(project, version="1") == "One."


def test_the_name_is_normalised_before_it_is_looked_up(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    skills.save(project, "  GREETING ", skill_bundle(body="Two."), base=first.digest, by=author)
    assert body(project, " Greeting") == "Two."


def test_saving_the_same_bytes_changes_nothing(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    with nothing_left_behind():
        again = skills.save(project, "greeting", skill_bundle(), base=first.digest, by=author)
    assert (again.version, again.created) == (first, False)


def test_a_save_without_a_base_is_refused_for_an_existing_skill(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    with nothing_left_behind(), pytest.raises(PreconditionRequired) as refused:
        skills.save(project, "greeting", skill_bundle(body="Two."), base=None, by=author)
    assert refused.value.data == {"digest": first.digest}


def test_a_save_from_an_old_base_is_refused_and_names_the_new_one(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    second = skills.save(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author).version
    with nothing_left_behind(), pytest.raises(Stale) as refused:
        skills.save(project, "greeting", skill_bundle(body="Lost."), base=first.digest, by=author)
    assert refused.value.data == {"digest": second.digest}


def test_a_save_of_a_skill_deleted_in_the_meantime_is_refused(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    skills.delete(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(Stale, match="no longer exists"):
        skills.save(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author)


def test_saving_a_built_in_skill_needs_its_digest_and_customises_it(
    project: Project, library: Path, author: Actor
) -> None:
    on_disk(library)
    with nothing_left_behind(), pytest.raises(PreconditionRequired):
        skills.save(project, "greeting", skill_bundle(body="Ours."), base=None, by=author)
    saved = skills.save(project, "greeting", skill_bundle(body="Ours."), base=skill_bundle().digest, by=author)
    assert saved.version.version == "1"
    assert catalog.get(project.pk, "greeting").customised


def test_a_save_under_a_free_name_creates_a_skill(project: Project, author: Actor) -> None:
    assert skills.save(project, "greeting", skill_bundle(), base=None, by=author).created


def test_a_save_whose_header_names_another_skill_is_refused(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle("greeting"), by=author)
    with nothing_left_behind(), pytest.raises(InvalidSkill):
        skills.save(project, "greeting", skill_bundle("farewell"), base=skill_bundle().digest, by=author)


def test_a_new_text_keeps_the_other_files(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(files={"a.txt": b"a"}), by=author)
    revised = skills.with_text(project, "greeting", skill_text(body="New."))
    assert revised == skill_bundle(files={"a.txt": b"a"}, body="New.")


# -- Switch off and on-----------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["bundled", "own", "override"])
def test_a_switched_off_skill_is_not_served_until_it_is_switched_on(
    project: Project, library: Path, author: Actor, source: str
) -> None:
    if source != "own":
        on_disk(library, body="Bundled.")
    if source != "bundled":
        skills.create(project, skill_bundle(body="Ours."), by=author)
    before = catalog.load(project.pk, "greeting").candidate.digest
    skills.disable(project, "Greeting", by=author)
    assert served(project) == []
    assert [outcome.enabled for outcome in catalog.view(project.pk, revision(project)).skills] == [False]
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting")
    skills.enable(project, "greeting", by=author)
    assert catalog.load(project.pk, "greeting").candidate.digest == before


def test_no_version_of_a_switched_off_skill_is_served(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    skills.disable(project, "greeting", by=author)
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting", version="1")


def test_switching_off_twice_changes_nothing(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    with nothing_left_behind():
        skills.enable(project, "greeting", by=author)
    skills.disable(project, "greeting", by=author)
    with nothing_left_behind():
        skills.disable(project, "greeting", by=author)


@pytest.mark.parametrize("switch", [skills.disable, skills.enable])
def test_a_missing_skill_cannot_be_switched(project: Project, author: Actor, switch: object) -> None:
    with nothing_left_behind(), pytest.raises(NotFound):
        switch(project, "nothing", by=author)  # type: ignore[operator]


def test_a_save_leaves_a_skill_switched_off(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    skills.disable(project, "greeting", by=author)
    skills.save(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author)
    assert served(project) == []


def test_deleting_a_customised_skill_keeps_the_name_switched_off(
    project: Project, library: Path, author: Actor
) -> None:
    on_disk(library)
    skills.create(project, skill_bundle(body="Ours."), by=author)
    skills.disable(project, "greeting", by=author)
    skills.delete(project, "greeting", by=author)
    assert served(project) == []


# -- Delete and restore -----------------------------------------------------------------------------------


def test_deleting_a_customised_skill_serves_the_built_in_one_again(
    project: Project, library: Path, author: Actor
) -> None:
    on_disk(library, body="Bundled.")
    skills.create(project, skill_bundle(body="Ours."), by=author)
    skills.delete(project, "greeting", by=author)
    assert body(project) == "Bundled."
    with pytest.raises(NotFound):
        catalog.load(project.pk, "greeting", version="1")


def test_history_survives_the_delete(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    skills.delete(project, "greeting", by=author)
    assert [version.version for version in versions.history(project, "greeting")] == ["1"]


@pytest.mark.parametrize("name", ["nothing", "bundled-one", "off", "../escape"])
def test_only_the_projects_own_skill_can_be_deleted(project: Project, library: Path, author: Actor, name: str) -> None:
    on_disk(library, "bundled-one")
    on_disk(library, "off")
    skills.disable(project, "off", by=author)
    with nothing_left_behind(), pytest.raises(NotFound):
        skills.delete(project, name, by=author)


def test_deleting_twice_is_refused(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    skills.delete(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(NotFound):
        skills.delete(project, "greeting", by=author)


def test_deleting_a_skill_saved_in_the_meantime_is_refused(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    second = skills.save(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author).version
    with nothing_left_behind(), pytest.raises(Stale) as refused:
        skills.delete(project, "greeting", base=first.digest, by=author)
    assert refused.value.data == {"digest": second.digest}
    skills.delete(project, "greeting", base=second.digest, by=author)


def test_undelete_restores_the_same_version(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    skills.delete(project, "greeting", by=author)
    assert skills.undelete(project, "Greeting ", by=author) == first
    assert served(project) == ["greeting"]


def test_undelete_of_an_existing_skill_is_refused(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    with nothing_left_behind(), pytest.raises(Conflict, match="is not deleted"):
        skills.undelete(project, "greeting", by=author)


def test_undelete_of_a_name_without_versions_is_refused(project: Project, library: Path, author: Actor) -> None:
    on_disk(library)
    skills.disable(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(NotFound, match="greeting cannot be restored"):
        skills.undelete(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(NotFound):
        skills.undelete(project, "nothing", by=author)


def test_undelete_is_refused_if_all_versions_were_withdrawn(project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle(), by=author)
    versions.yank(project, "greeting", "1", reason="Wrong.", by=author)
    skills.delete(project, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(NotFound, match="were withdrawn"):
        skills.undelete(project, "greeting", by=author)


def test_a_skill_created_again_continues_the_numbers(project: Project, author: Actor) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    skills.save(project, "greeting", skill_bundle(body="Two."), base=first.digest, by=author)
    skills.delete(project, "greeting", by=author)
    assert skills.create(project, skill_bundle(body="Three."), by=author).version.version == "3"
    assert Skill.objects.filter(project=project).count() == 1


# -- Agents, projects, caches -----------------------------------------------------------------------------


def test_a_version_by_an_agent_names_the_agent(project: Project, operator: Actor) -> None:
    from registry.services import permissions
    from registry.services.agents import agents

    bot = agents.ensure(project, "bot", by=operator)
    by = permissions.agent(bot, frozenset({"write"}))
    version = skills.create(project, skill_bundle(), by=by).version
    assert (version.agent, version.author) == (bot, None)


def test_an_agent_actor_never_has_the_scopes_of_people(project: Project, operator: Actor) -> None:
    from registry.services import permissions
    from registry.services.agents import agents

    bot = agents.ensure(project, "bot", by=operator)
    by = permissions.agent(bot, frozenset({"write", "review", "manage"}))
    assert by.scopes == {"write"}


def test_the_same_name_in_two_projects_is_two_skills(project: Project, other_project: Project, operator: Actor) -> None:
    skills.create(project, skill_bundle(body="Here."), by=operator)
    skills.create(other_project, skill_bundle(body="There."), by=operator)
    skills.delete(project, "greeting", by=operator)
    assert body(other_project) == "There."
    assert served(project) == []


def test_a_change_in_one_project_moves_no_other_projects_revision(
    project: Project, other_project: Project, operator: Actor
) -> None:
    before = revision(other_project)
    skills.create(project, skill_bundle(), by=operator)
    assert revision(other_project) == before


def test_a_cached_view_is_not_used_after_a_change(project: Project, author: Actor) -> None:
    assert served(project) == []
    skills.create(project, skill_bundle(), by=author)
    assert served(project) == ["greeting"]
    skills.disable(project, "greeting", by=author)
    assert served(project) == []


def test_previewing_a_bundle_stores_nothing(project: Project, other_project: Project, viewer: Actor) -> None:
    with nothing_left_behind():
        bundles.preview(project, skill_bundle(), by=viewer)
        with pytest.raises(NotFound):
            bundles.preview(other_project, skill_bundle(), by=viewer)


def test_the_footprint_notices_a_write(project: Project, author: Actor) -> None:
    """Check that `nothing_left_behind` can fail."""
    before = footprint()
    skills.create(project, skill_bundle(), by=author)
    changed = {name for name, rows in footprint().items() if rows != before[name]}
    assert changed == {"Project", "Skill", "Version", "Scan", "Chain", "Event", "stored files"}
    assert Version.objects.count() == 1
