"""Skills come from a source: what was seen is what is stored, no edit is lost, and only what came goes again."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog.visibility import Definition
from registry.core.errors import Forbidden, NotFound, PreconditionRequired, SourceFailed, Stale
from registry.core.sources.import_request import ImportRequest, ImportResult
from registry.core.text.edits import Edit
from registry.models import Event, Installation, Project, Proposal, Provenance, Skill, Source, User, Version
from registry.services import permissions
from registry.services.agents import agents
from registry.services.catalog import built_in, catalog
from registry.services.files import blobs
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.proposals import reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import bundles, skills, versions
from registry.services.sources import import_preview, install, source_jobs, sources, uninstalling
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import (
    create_skill,
    customise_skill,
    delete_skill,
    disable_skill,
    import_bundle,
    propose,
    save_skill,
    yank_version,
)
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere, checked_source, elsewhere

BODY = "One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive."


@pytest.fixture
def site(settings: Any) -> Iterator[Elsewhere]:
    with elsewhere() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.receiver.host]
        made.skills["greeting"] = skill_bundle(body=BODY, files={"a.txt": b"a"})
        yield made


@pytest.fixture
def source(project: Project, site: Elsewhere, author: Actor) -> Source:
    return checked_source(project, site, author)


@pytest.fixture
def bring(project: Project, source: Source, author: Actor) -> Callable[..., ImportResult]:
    return lambda name="greeting", **choices: install.import_skill(
        project, source.pk, ImportRequest(name, **choices), by=author
    )


@pytest.fixture
def changed(project: Project, source: Source, site: Elsewhere, author: Actor) -> Callable[..., Bundle]:
    """The site has another greeting, and somebody looked that it has."""

    def change(body: str, **more: Any) -> Bundle:
        site.skills["greeting"] = skill_bundle(body=body, **more)
        sources.look(project, source.pk, by=author)
        source_jobs.run_due()
        return site.skills["greeting"]

    return change


def edit(project: Project, body: str, by: Actor, **more: Any) -> Version:
    digest = current(project).digest
    return save_skill(project, "greeting", skill_bundle(body=body, **more), base=digest, by=by).version


def current(project: Project, name: str = "greeting") -> Version:
    found = Skill.objects.get(project=project, name=name).current
    assert found is not None
    return found


def state(source: Source) -> str:
    return sources.with_state(source, list(source.entries.filter(name="greeting")))[0].state


def test_an_imported_skill_is_stored_unchanged_with_its_provenance(
    project: Project, source: Source, site: Elsewhere, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    done = bring()
    version = current(project)
    assert done == ImportResult("greeting", "imported", "", "greeting", "1", site.skills["greeting"].digest)
    assert blobs.bundle(version.manifest) == site.skills["greeting"]
    came = version.provenance
    assert (came.source, came.name, came.how, came.user_id) == (source, "greeting", "imported", author.user_id)
    assert came.fetched_digest == came.digest == version.digest
    assert came.source_digest == source.entries.get().digest
    assert versions.history(project, "greeting")[0].provenance.source.shown == source.shown
    event = Event.objects.get(verb="source.imported")
    assert (event.target, event.after) == ("greeting", version.digest)
    assert event.data["source"]["digest"] == came.source_digest
    assert state(source) == "installed"


def test_the_previewed_content_is_imported_even_if_the_source_changed(
    project: Project, source: Source, site: Elsewhere, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    assert (seen.action, seen.target, seen.seen, seen.hides) == ("create", "greeting", "", ())
    site.skills["greeting"] = skill_bundle(body="Something else.")
    assert bring(digest=seen.digest).digest == seen.digest
    assert site.asked == ["greeting"]


def test_a_digest_that_is_not_staged_must_match_the_source(
    project: Project, site: Elsewhere, bring: Callable[..., ImportResult]
) -> None:
    done = bring(digest=skill_bundle(body="Seen long ago.").digest)
    assert (done.status, done.digest) == ("moved", site.skills["greeting"].digest)
    assert "Review it again" in done.reason
    assert not Skill.objects.exists()


def test_a_preview_stores_nothing_in_the_project(project: Project, source: Source, author: Actor) -> None:
    revision, events = Project.objects.get(pk=project.pk).revision, Event.objects.count()
    import_preview.load(project, source.pk, "greeting", by=author)
    assert not Skill.objects.exists()
    assert (Project.objects.get(pk=project.pk).revision, Event.objects.count()) == (revision, events)


def test_a_preview_fetches_again_only_on_request(
    project: Project, source: Source, site: Elsewhere, author: Actor
) -> None:
    import_preview.load(project, source.pk, "greeting", by=author)
    import_preview.load(project, source.pk, "greeting", by=author)
    assert site.asked == ["greeting"]
    import_preview.load(project, source.pk, "greeting", again=True, by=author)
    assert site.asked == ["greeting", "greeting"]


def test_a_failed_fetch_is_an_error_with_its_reason(
    project: Project, source: Source, site: Elsewhere, author: Actor
) -> None:
    site.status = 500
    with nothing_left_behind(), pytest.raises(SourceFailed, match="500"):
        import_preview.load(project, source.pk, "greeting", by=author)
    with nothing_left_behind(), pytest.raises(SourceFailed, match="Nothing was saved"):
        install.import_skill(project, source.pk, ImportRequest("greeting"), by=author)


def test_a_skill_that_the_source_does_not_have_is_not_found(project: Project, source: Source, author: Actor) -> None:
    for name in ("nothing", "../greeting", ""):
        with nothing_left_behind(), pytest.raises(NotFound, match="has no skill"):
            install.import_skill(project, source.pk, ImportRequest(name), by=author)
    with nothing_left_behind(), pytest.raises(NotFound, match="has no skill"):
        import_preview.load(project, source.pk, "a\0b", by=author)


def test_viewers_and_other_projects_cannot_import(
    project: Project, other_project: Project, source: Source, viewer: Actor
) -> None:
    for call in (
        lambda: install.import_skill(project, source.pk, ImportRequest("greeting"), by=viewer),
        lambda: import_preview.load(project, source.pk, "greeting", by=viewer),
        lambda: uninstalling.uninstall(project, source.pk, "greeting", by=viewer),
    ):
        with nothing_left_behind(), pytest.raises(Forbidden):
            call()


# A name that is taken


def test_a_taken_name_is_skipped_and_the_reason_lists_the_choices(
    project: Project, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    mine = create_skill(project, skill_bundle(body="Mine."), by=author).version
    done = bring()
    assert (done.status, done.skill) == ("skipped", "greeting")
    assert "already has its own skill" in done.reason
    assert "another name, or as a new version" in done.reason
    assert current(project) == mine
    assert not Installation.objects.exists()


def test_a_new_version_of_a_taken_name_keeps_the_old_one_in_the_history(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    mine = create_skill(project, skill_bundle(body="Mine."), by=author).version
    assert bring(on_conflict="version").version == "2"
    assert [version.digest for version in versions.history(project, "greeting")][1] == mine.digest
    assert Installation.objects.get().before == mine


def test_an_import_over_a_skill_saved_meanwhile_is_refused(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    create_skill(project, skill_bundle(body="Mine."), by=author)
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    assert seen.action == "taken"
    mine = edit(project, "Mine, once more.", author)
    assert bring(digest=seen.digest, seen=seen.seen, on_conflict="version").status == "moved"
    assert current(project) == mine


def test_importing_under_another_name_changes_one_line(
    project: Project, source: Source, site: Elsewhere, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    create_skill(project, skill_bundle(body="Mine."), by=author)
    done = bring(on_conflict="rename", new_name=" Their-Greeting ")
    assert (done.status, done.skill) == ("imported", "their-greeting")
    stored = blobs.bundle(current(project, "their-greeting").manifest)
    before, after = (side[SKILL_MD].decode().splitlines() for side in (site.skills["greeting"], stored))
    assert [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]] == [
        ("name: greeting", 'name: "their-greeting"')
    ]
    assert stored["a.txt"] == b"a"
    assert state(source) == "installed"


def test_a_new_name_that_is_taken_too_is_skipped(
    project: Project, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    create_skill(project, skill_bundle("theirs"), by=author)
    assert bring(on_conflict="rename", new_name="theirs").status == "skipped"


def test_a_built_in_skill_is_replaced_only_by_choice(
    project: Project, library: Any, bring: Callable[..., ImportResult]
) -> None:
    on_disk(library, "greeting", body="Bundled.")
    built_in.index().refresh()
    done = bring()
    assert done.status == "skipped"
    assert "built-in skill greeting" in done.reason
    assert bring(on_conflict="version").status == "imported"


def test_a_name_taken_by_another_source_names_that_source(
    project: Project, source: Source, site: Elsewhere, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    bring()
    other = sources.add(project, "well-known", f"{site.address}/", label="Other", by=author)
    source_jobs.run_due()
    site.skills["greeting"] = skill_bundle(body="Theirs.")
    sources.look(project, other.pk, by=author)
    source_jobs.run_due()
    done = install.import_skill(project, other.pk, ImportRequest("greeting"), by=author)
    assert done.status == "skipped"
    assert "skill greeting from Elsewhere" in done.reason
    install.import_skill(project, other.pk, ImportRequest("greeting", on_conflict="version"), by=author)
    assert Installation.objects.get().source == other
    assert state(source) == "available"


def test_identical_files_are_linked_and_not_stored_twice(
    project: Project, source: Source, site: Elsewhere, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    import_bundle(project, site.skills["greeting"], by=author)
    assert bring(on_conflict="version").status == "unchanged"
    assert Version.objects.count() == 1
    assert state(source) == "installed"
    uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert current(project).digest == site.skills["greeting"].digest
    assert catalog.find(project.pk, "greeting") is not None


# Updates


def test_an_update_is_found_by_digest_and_replaces_an_unedited_skill(
    project: Project, source: Source, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    new = changed(BODY + "\n\nSix.")
    assert state(source) == "update"
    done = bring()
    assert (done.status, done.version, done.digest) == ("updated", "2", new.digest)
    assert (state(source), bring().status) == ("installed", "unchanged")
    assert Version.objects.count() == 2


def test_checking_an_unchanged_source_finds_no_update(
    source: Source, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    changed(BODY, files={"a.txt": b"a"})
    assert state(source) == "installed"


def test_an_edit_is_never_lost_without_a_choice(
    project: Project, author: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    mine = edit(project, "My own.", author)
    new = changed("Theirs.")
    done = bring()
    assert (done.status, done.digest) == ("edited", mine.digest)
    assert "Keep the edit, replace it, or merge" in done.reason
    refused = bring(if_edited="replace")
    assert (refused.status, refused.digest) == ("edited", mine.digest)
    stale = bring(if_edited="replace", seen=new.digest)
    assert stale.status == "moved"
    assert current(project) == mine


def test_an_edit_can_be_replaced_by_a_person_who_saw_it(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    mine = edit(project, "My own.", author)
    new = changed("Theirs.")
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    assert (seen.action, seen.seen, seen.digest) == ("merge", mine.digest, new.digest)
    done = bring(digest=seen.digest, if_edited="replace", seen=seen.seen)
    assert (done.status, current(project).digest) == ("updated", new.digest)
    assert mine in versions.history(project, "greeting")


def test_a_kept_edit_is_not_asked_about_again(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    mine = edit(project, "My own.", author)
    changed("Theirs.")
    assert bring(if_edited="keep").status == "kept"
    assert (current(project), state(source)) == (mine, "installed")
    assert Event.objects.filter(verb="source.kept").count() == 1
    assert bring().status == "unchanged"
    changed("Theirs, once more.")
    assert (state(source), bring().status) == ("update", "edited")


def test_changes_without_conflicts_are_merged_with_the_import_as_base(
    project: Project, author: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    edit(project, BODY.replace("One.", "One, mine."), author, files={"a.txt": b"a", "mine.txt": b"m"})
    changed(BODY.replace("Five.", "Five, theirs."), files={"a.txt": b"b"})
    done = bring(if_edited="merge")
    merged = blobs.bundle(current(project).manifest)
    assert (done.status, done.version) == ("merged", "3")
    assert "One, mine." in merged[SKILL_MD].decode()
    assert "Five, theirs." in merged[SKILL_MD].decode()
    assert (merged["a.txt"], merged["mine.txt"]) == (b"b", b"m")
    assert current(project).provenance.how == "merged"
    changed(BODY.replace("Five.", "Five, theirs again."), files={"a.txt": b"b"})
    assert bring(if_edited="merge").status == "merged"
    assert "Five, theirs again." in blobs.bundle(current(project).manifest)[SKILL_MD].decode()


def test_a_merge_stores_nothing_until_every_conflict_is_resolved(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    mine = edit(project, BODY.replace("Two.", "Two, mine."), author, files={"a.txt": b"a"})
    changed(BODY.replace("Two.", "Two, theirs."), files={"a.txt": b"a"})
    done = bring(if_edited="merge")
    assert done.status == "conflicts"
    assert "Resolve 1 conflict" in done.reason
    assert "SKILL.md" in done.reason
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    (key,) = seen.joined.keys
    assert bring(if_edited="merge", answers={key: "both"}).status == "conflicts"
    assert bring(if_edited="merge", answers={key: "theirs"}).status == "moved"
    assert current(project) == mine
    done = bring(digest=seen.digest, seen=seen.seen, if_edited="merge", answers={key: "theirs"})
    assert done.status == "merged"
    assert "Two, theirs." in blobs.bundle(current(project).manifest)[SKILL_MD].decode()


def test_answers_for_another_preview_are_refused(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    edit(project, BODY.replace("Two.", "Two, mine."), author)
    changed(BODY.replace("Two.", "Two, theirs."))
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    answers = dict.fromkeys(seen.joined.keys, "mine")
    mine = edit(project, BODY.replace("Two.", "Two, mine once more."), author)
    done = bring(digest=seen.digest, seen=seen.seen, if_edited="merge", answers=answers)
    assert (done.status, current(project)) == ("moved", mine)


def test_a_renamed_skill_is_updated_under_its_name(
    project: Project, source: Source, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring(on_conflict="rename", new_name="hello")
    changed(BODY + "\n\nSix.")
    done = bring()
    assert (done.status, done.skill) == ("updated", "hello")
    assert 'name: "hello"' in blobs.bundle(current(project, "hello").manifest)[SKILL_MD].decode()
    assert not Skill.objects.filter(name="greeting").exists()


def named(body: str) -> Bundle:
    """One that says its own version."""
    text = skill_text(body=body).replace("name: greeting\n", 'name: greeting\nversion: "1.0"\n')
    return Bundle({SKILL_MD: text.encode()})


def look(project: Project, source: Source, by: Actor) -> None:
    sources.look(project, source.pk, by=by)
    source_jobs.run_due()


def test_a_named_version_is_kept_and_never_gets_other_content(
    project: Project, source: Source, site: Elsewhere, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    site.skills["greeting"] = named("First.")
    look(project, source, author)
    assert bring().version == "1.0"
    site.skills["greeting"] = named("Second.")
    look(project, source, author)
    assert bring().version == "1"
    assert [version.version for version in versions.history(project, "greeting")] == ["1", "1.0"]


def test_a_withdrawn_version_does_not_come_back_from_the_source(
    project: Project, site: Elsewhere, author: Actor
) -> None:
    site.skills["greeting"] = named("First.")
    source = sources.add(project, "well-known", site.address, by=author)
    source_jobs.run_due()
    install.import_skill(project, source.pk, ImportRequest("greeting"), by=author)
    yank_version(project, "greeting", "1.0", reason="It lies.", by=author)
    delete_skill(project, "greeting", by=author)
    job = sources.start(project, source.pk, [ImportRequest("greeting")], by=author)
    source_jobs.run_due()
    item = job.items.get()
    assert item.status == "failed"
    assert "It lies." in item.reason


# Uninstalling


def test_uninstalling_removes_the_skill_and_keeps_the_history(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    create_skill(project, skill_bundle("other"), by=author)
    bring()
    done = uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert (done.status, done.skill, done.version) == ("uninstalled", "greeting", "")
    assert catalog.find(project.pk, "greeting") is None
    assert catalog.find(project.pk, "other") is not None
    assert len(versions.history(project, "greeting")) == 1
    assert state(source) == "available"
    assert bring().status == "imported"
    assert Version.objects.filter(skill__name="greeting").count() == 2


def test_uninstalling_restores_the_version_from_before_the_import(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    mine = create_skill(project, skill_bundle(body="Mine."), by=author).version
    bring(on_conflict="version")
    changed("Newer.")
    bring()
    done = uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert (done.version, done.digest) == ("4", mine.digest)
    assert current(project).digest == mine.digest
    assert not Installation.objects.exists()


def test_uninstalling_an_edited_skill_needs_the_seen_digest(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    bring()
    mine = edit(project, "My own.", author)
    with nothing_left_behind(), pytest.raises(PreconditionRequired, match="edited here") as refused:
        uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert refused.value.data == {"digest": mine.digest}
    with nothing_left_behind(), pytest.raises(Stale):
        uninstalling.uninstall(project, source.pk, "greeting", seen="sha256:0", by=author)
    assert uninstalling.uninstall(project, source.pk, "greeting", seen=mine.digest, by=author).status == "uninstalled"


def test_a_manual_skill_of_the_same_name_cannot_be_uninstalled(project: Project, source: Source, author: Actor) -> None:
    create_skill(project, skill_bundle(), by=author)
    with nothing_left_behind(), pytest.raises(NotFound, match="no skill"):
        uninstalling.uninstall(project, source.pk, "greeting", by=author)


def test_a_new_skill_with_the_name_of_a_deleted_one_has_no_provenance(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    bring()
    delete_skill(project, "greeting", by=author)
    assert state(source) == "available"
    create_skill(project, skill_bundle(body="Mine."), by=author)
    assert state(source) == "available"
    with nothing_left_behind(), pytest.raises(NotFound):
        uninstalling.uninstall(project, source.pk, "greeting", by=author)


def test_a_restored_skill_keeps_its_provenance(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    bring()
    delete_skill(project, "greeting", by=author)
    skills.undelete(project, "greeting", by=author)
    assert state(source) == "installed"


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


def test_importing_over_a_customised_skill_forgets_the_built_in_one(
    project: Project, library: Any, author: Actor, bring: Callable[..., ImportResult]
) -> None:
    on_disk(library, "greeting", body="Bundled.")
    built_in.index().refresh()
    customise_skill(project, "greeting", by=author)
    bring(on_conflict="version")
    assert Skill.objects.get(name="greeting").upstream_digest == ""


# Protected projects


@pytest.fixture
def reviewer(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.REVIEWER), project)


@pytest.fixture
def protected(project: Project, operator: Actor) -> None:
    projects.set_protected(project, True, by=operator)


def test_an_import_into_a_protected_project_is_a_proposal(
    project: Project,
    source: Source,
    author: Actor,
    reviewer: Actor,
    protected: None,
    bring: Callable[..., ImportResult],
) -> None:
    done = bring()
    proposal = Proposal.objects.get()
    assert (done.status, done.proposal, done.version) == ("proposed", proposal.pk, "")
    assert (proposal.kind, proposal.user_id, proposal.result_digest) == ("create", author.user_id, done.digest)
    revision = proposal.revisions.get()
    assert revision.justification.startswith(f"Imported from {source.shown}")
    assert revision.evidence == [{"kind": "link", "text": source.shown}]
    assert catalog.find(project.pk, "greeting") is None
    offered = sources.with_state(source, list(source.entries.all()))[0]
    assert (offered.state, offered.proposal) == ("available", proposal.pk)
    assert bring().proposal == proposal.pk
    assert Provenance.objects.count() == 1
    reviews.approve(project, proposal.pk, result_digest=proposal.result_digest, by=reviewer)
    assert (state(source), current(project).provenance.source) == ("installed", source)
    assert bring().status == "unchanged"


def test_an_import_approved_after_its_source_was_removed_keeps_its_provenance(
    project: Project,
    source: Source,
    author: Actor,
    reviewer: Actor,
    protected: None,
    bring: Callable[..., ImportResult],
) -> None:
    bring()
    sources.remove(project, source.pk, by=author)
    proposal = Proposal.objects.get()
    reviews.approve(project, proposal.pk, result_digest=proposal.result_digest, by=reviewer)
    assert current(project).provenance.source == source


def test_a_rejected_import_is_not_installed(
    project: Project, source: Source, reviewer: Actor, protected: None, bring: Callable[..., ImportResult]
) -> None:
    bring()
    reviews.reject(project, Proposal.objects.get().pk, comment="No.", by=reviewer)
    offered = sources.with_state(source, list(source.entries.all()))[0]
    assert (offered.state, offered.proposal) == ("available", None)


def test_an_update_and_an_uninstall_of_a_protected_project_are_proposals(
    project: Project,
    source: Source,
    author: Actor,
    operator: Actor,
    reviewer: Actor,
    bring: Callable[..., ImportResult],
    changed: Callable[..., Bundle],
) -> None:
    bring()
    projects.set_protected(project, True, by=operator)
    new = changed("Newer.")
    done = bring()
    proposal = Proposal.objects.get()
    assert (done.status, proposal.kind, proposal.result_digest) == ("proposed", "update", new.digest)
    reviews.approve(project, proposal.pk, result_digest=new.digest, by=reviewer)
    assert (current(project).digest, state(source)) == (new.digest, "installed")
    done = uninstalling.uninstall(project, source.pk, "greeting", by=author)
    removal = Proposal.objects.latest("pk")
    assert (done.status, done.proposal, removal.kind) == ("proposed", removal.pk, "delete")
    assert state(source) == "installed"
    reviews.approve(project, removal.pk, result_digest="", by=reviewer)
    assert state(source) == "available"


def test_restoring_the_earlier_version_is_a_proposal_too(
    project: Project,
    source: Source,
    author: Actor,
    operator: Actor,
    reviewer: Actor,
    bring: Callable[..., ImportResult],
) -> None:
    mine = create_skill(project, skill_bundle(body="Mine."), by=author).version
    bring(on_conflict="version")
    projects.set_protected(project, True, by=operator)
    uninstalling.uninstall(project, source.pk, "greeting", by=author)
    proposal = Proposal.objects.get()
    assert (proposal.kind, proposal.result_digest) == ("update", mine.digest)
    assert state(source) == "installed"
    reviews.approve(project, proposal.pk, result_digest=mine.digest, by=reviewer)
    assert (current(project).digest, state(source)) == (mine.digest, "available")


def test_undoing_an_edit_by_proposal_does_not_uninstall(
    project: Project,
    source: Source,
    site: Elsewhere,
    author: Actor,
    operator: Actor,
    reviewer: Actor,
    bring: Callable[..., ImportResult],
) -> None:
    """The imported files equal the earlier version, so undoing an edit changes nothing."""
    same = site.skills["greeting"]
    create_skill(project, same, by=author)
    bring(on_conflict="version")
    edit(project, "My own.", author)
    projects.set_protected(project, True, by=operator)
    suggestion = Suggestion("greeting", Edit(dict(same)), "Back.", base_digest=current(project).digest)
    proposal = propose(project, suggestion, by=author).proposal
    reviews.approve(project, proposal.pk, result_digest=proposal.result_digest, by=reviewer)
    assert (current(project).digest, state(source)) == (same.digest, "installed")


def test_uninstalling_without_a_change_for_agents_needs_no_review(
    project: Project,
    source: Source,
    site: Elsewhere,
    author: Actor,
    operator: Actor,
    bring: Callable[..., ImportResult],
) -> None:
    mine = create_skill(project, site.skills["greeting"], by=author).version
    assert bring(on_conflict="version").status == "unchanged"
    projects.set_protected(project, True, by=operator)
    done = uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert (done.status, done.digest, current(project)) == ("uninstalled", mine.digest, mine)
    assert (state(source), Proposal.objects.exists()) == ("available", False)


def test_keeping_an_edit_needs_no_review(
    project: Project, author: Actor, operator: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    edit(project, "My own.", author)
    projects.set_protected(project, True, by=operator)
    changed("Theirs.")
    assert bring(if_edited="keep").status == "kept"
    assert not Proposal.objects.exists()


# Skill lists of agents


@pytest.fixture
def bounded(project: Project, operator: Actor) -> Actor:
    agent = agents.create(project, "bot", Definition(allowed_skills=("greeting",)), by=operator)
    return permissions.agent(agent, frozenset({roles.READ, roles.WRITE, roles.PROPOSE}))


def test_an_agent_changes_no_skill_outside_its_list(
    project: Project, author: Actor, bounded: Actor, source: Source, site: Elsewhere, operator: Actor
) -> None:
    outside = create_skill(project, skill_bundle("other"), by=author).version
    for call in (
        lambda: create_skill(project, skill_bundle("new"), by=bounded),
        lambda: import_bundle(project, skill_bundle("new"), by=bounded),
        lambda: bundles.preview(project, skill_bundle("other"), by=bounded),
        lambda: save_skill(project, "other", skill_bundle("other", body="2"), base=outside.digest, by=bounded),
        lambda: save_skill(project, "new", skill_bundle("new"), base=None, by=bounded),
        lambda: delete_skill(project, "other", by=bounded),
        lambda: disable_skill(project, "other", by=bounded),
        lambda: versions.restore(project, "other", "1", by=bounded),
        lambda: yank_version(project, "other", "1", reason="No.", by=bounded),
        lambda: install.import_skill(
            project, source.pk, ImportRequest("greeting", on_conflict="rename", new_name="other"), by=bounded
        ),
    ):
        with pytest.raises(Forbidden, match="only the skills on its list"):
            call()
    assert create_skill(project, skill_bundle("greeting"), by=bounded).created
    assert [skill.name for skill in Skill.objects.order_by("name")] == ["greeting", "other"]


def test_cleaning_keeps_files_that_a_later_merge_needs(
    project: Project, source: Source, author: Actor, bring: Callable[..., ImportResult], changed: Callable[..., Bundle]
) -> None:
    bring()
    edit(project, "My own.", author)
    import_preview.load(project, source.pk, "greeting", by=author)
    assert [orphan.name for orphan in blobs.orphans(now=timezone.now())] == []
