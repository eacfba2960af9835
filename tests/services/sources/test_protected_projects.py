"""Imports, updates and uninstalling in a project where every change is reviewed."""

from registry.core.text.edits import Edit
from registry.models import Project, Proposal, Provenance, Source
from registry.services.catalog import catalog
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.proposals import reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.sources import sources, uninstalling
from tests.conftest import skill_bundle
from tests.prepared import create_skill, propose
from tests.services.other_site import Elsewhere
from tests.services.sources.importing import Change, Import, current, edit, state


def test_an_import_into_a_protected_project_is_a_proposal(
    project: Project, source: Source, author: Actor, reviewer: Actor, protected: None, import_greeting: Import
) -> None:
    done = import_greeting()
    proposal = Proposal.objects.get()
    assert (done.status, done.proposal, done.version) == ("proposed", proposal.pk, "")
    assert (proposal.kind, proposal.user_id, proposal.result_digest) == ("create", author.user_id, done.digest)
    revision = proposal.revisions.get()
    assert revision.justification.startswith(f"Imported from {source.shown}")
    assert revision.evidence == [{"kind": "link", "text": source.shown}]
    assert catalog.find(project.pk, "greeting") is None
    offered = sources.with_state(source, list(source.entries.all()))[0]
    assert (offered.state, offered.proposal) == ("available", proposal.pk)
    assert import_greeting().proposal == proposal.pk
    assert Provenance.objects.count() == 1
    reviews.approve(project, proposal.pk, result_digest=proposal.result_digest, by=reviewer)
    assert (state(source), current(project).provenance.source) == ("installed", source)
    assert import_greeting().status == "unchanged"


def test_an_import_approved_after_its_source_was_removed_keeps_its_provenance(
    project: Project, source: Source, author: Actor, reviewer: Actor, protected: None, import_greeting: Import
) -> None:
    import_greeting()
    sources.remove(project, source.pk, by=author)
    proposal = Proposal.objects.get()
    reviews.approve(project, proposal.pk, result_digest=proposal.result_digest, by=reviewer)
    assert current(project).provenance.source == source


def test_a_rejected_import_is_not_installed(
    project: Project, source: Source, reviewer: Actor, protected: None, import_greeting: Import
) -> None:
    import_greeting()
    reviews.reject(project, Proposal.objects.get().pk, comment="No.", by=reviewer)
    offered = sources.with_state(source, list(source.entries.all()))[0]
    assert (offered.state, offered.proposal) == ("available", None)


def test_an_update_and_an_uninstall_of_a_protected_project_are_proposals(
    project: Project,
    source: Source,
    author: Actor,
    operator: Actor,
    reviewer: Actor,
    import_greeting: Import,
    changed: Change,
) -> None:
    import_greeting()
    projects.set_protected(project, True, by=operator)
    new = changed("Newer.")
    done = import_greeting()
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
    project: Project, source: Source, author: Actor, operator: Actor, reviewer: Actor, import_greeting: Import
) -> None:
    mine = create_skill(project, skill_bundle(body="Mine."), by=author).version
    import_greeting(on_conflict="version")
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
    import_greeting: Import,
) -> None:
    """The imported files equal the earlier version, so undoing an edit changes nothing."""
    same = site.skills["greeting"]
    create_skill(project, same, by=author)
    import_greeting(on_conflict="version")
    edit(project, "My own.", author)
    projects.set_protected(project, True, by=operator)
    suggestion = Suggestion("greeting", Edit(dict(same)), "Back.", base_digest=current(project).digest)
    proposal = propose(project, suggestion, by=author).proposal
    reviews.approve(project, proposal.pk, result_digest=proposal.result_digest, by=reviewer)
    assert (current(project).digest, state(source)) == (same.digest, "installed")


def test_uninstalling_without_a_change_for_agents_needs_no_review(
    project: Project, source: Source, site: Elsewhere, author: Actor, operator: Actor, import_greeting: Import
) -> None:
    mine = create_skill(project, site.skills["greeting"], by=author).version
    assert import_greeting(on_conflict="version").status == "unchanged"
    projects.set_protected(project, True, by=operator)
    done = uninstalling.uninstall(project, source.pk, "greeting", by=author)
    assert (done.status, done.digest, current(project)) == ("uninstalled", mine.digest, mine)
    assert (state(source), Proposal.objects.exists()) == ("available", False)


def test_keeping_an_edit_needs_no_review(
    project: Project, author: Actor, operator: Actor, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    edit(project, "My own.", author)
    projects.set_protected(project, True, by=operator)
    changed("Theirs.")
    assert import_greeting(if_edited="keep").status == "kept"
    assert not Proposal.objects.exists()
