"""Updates of imported skills: an edit is kept, replaced or merged by choice, and never lost."""

from django.utils import timezone

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.sources.import_request import ImportRequest
from registry.models import Event, Project, Skill, Source, Version
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.skills import versions
from registry.services.sources import import_preview, install, source_jobs, sources
from tests.conftest import skill_text
from tests.prepared import delete_skill, yank_version
from tests.services.other_site import Elsewhere
from tests.services.sources.importing import BODY, Change, Import, current, edit, state


def named(body: str) -> Bundle:
    """Return a skill that names its version."""
    text = skill_text(body=body).replace("name: greeting\n", 'name: greeting\nversion: "1.0"\n')
    return Bundle({SKILL_MD: text.encode()})


def look(project: Project, source: Source, by: Actor) -> None:
    sources.look(project, source.pk, by=by)
    source_jobs.run_due()


def test_an_update_is_found_by_digest_and_replaces_an_unedited_skill(
    project: Project, source: Source, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    new = changed(BODY + "\n\nSix.")
    assert state(source) == "update"
    done = import_greeting()
    assert (done.status, done.version, done.digest) == ("updated", "2", new.digest)
    assert (state(source), import_greeting().status) == ("installed", "unchanged")
    assert Version.objects.count() == 2


def test_checking_an_unchanged_source_finds_no_update(source: Source, import_greeting: Import, changed: Change) -> None:
    import_greeting()
    changed(BODY, files={"a.txt": b"a"})
    assert state(source) == "installed"


def test_an_edit_is_never_lost_without_a_choice(
    project: Project, author: Actor, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    mine = edit(project, "My own.", author)
    new = changed("Theirs.")
    done = import_greeting()
    assert (done.status, done.digest) == ("edited", mine.digest)
    assert "Keep the edit, replace it, or merge" in done.reason
    refused = import_greeting(if_edited="replace")
    assert (refused.status, refused.digest) == ("edited", mine.digest)
    stale = import_greeting(if_edited="replace", seen=new.digest)
    assert stale.status == "moved"
    assert current(project) == mine


def test_an_edit_can_be_replaced_by_a_person_who_saw_it(
    project: Project, source: Source, author: Actor, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    mine = edit(project, "My own.", author)
    new = changed("Theirs.")
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    assert (seen.action, seen.seen, seen.digest) == ("merge", mine.digest, new.digest)
    done = import_greeting(digest=seen.digest, if_edited="replace", seen=seen.seen)
    assert (done.status, current(project).digest) == ("updated", new.digest)
    assert mine in versions.history(project, "greeting")


def test_a_kept_edit_is_not_asked_about_again(
    project: Project, source: Source, author: Actor, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    mine = edit(project, "My own.", author)
    changed("Theirs.")
    assert import_greeting(if_edited="keep").status == "kept"
    assert (current(project), state(source)) == (mine, "installed")
    assert Event.objects.filter(verb="source.kept").count() == 1
    assert import_greeting().status == "unchanged"
    changed("Theirs, once more.")
    assert (state(source), import_greeting().status) == ("update", "edited")


def test_changes_without_conflicts_are_merged_with_the_import_as_base(
    project: Project, author: Actor, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    edit(project, BODY.replace("One.", "One, mine."), author, files={"a.txt": b"a", "mine.txt": b"m"})
    changed(BODY.replace("Five.", "Five, theirs."), files={"a.txt": b"b"})
    done = import_greeting(if_edited="merge")
    merged = blobs.bundle(current(project).manifest)
    assert (done.status, done.version) == ("merged", "3")
    assert "One, mine." in merged[SKILL_MD].decode()
    assert "Five, theirs." in merged[SKILL_MD].decode()
    assert (merged["a.txt"], merged["mine.txt"]) == (b"b", b"m")
    assert current(project).provenance.how == "merged"
    changed(BODY.replace("Five.", "Five, theirs again."), files={"a.txt": b"b"})
    assert import_greeting(if_edited="merge").status == "merged"
    assert "Five, theirs again." in blobs.bundle(current(project).manifest)[SKILL_MD].decode()


def test_a_merge_stores_nothing_until_every_conflict_is_resolved(
    project: Project, source: Source, author: Actor, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    mine = edit(project, BODY.replace("Two.", "Two, mine."), author, files={"a.txt": b"a"})
    changed(BODY.replace("Two.", "Two, theirs."), files={"a.txt": b"a"})
    done = import_greeting(if_edited="merge")
    assert done.status == "conflicts"
    assert "Resolve 1 conflict" in done.reason
    assert "SKILL.md" in done.reason
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    (key,) = seen.joined.keys
    assert import_greeting(if_edited="merge", answers={key: "both"}).status == "conflicts"
    assert import_greeting(if_edited="merge", answers={key: "theirs"}).status == "moved"
    assert current(project) == mine
    done = import_greeting(digest=seen.digest, seen=seen.seen, if_edited="merge", answers={key: "theirs"})
    assert done.status == "merged"
    assert "Two, theirs." in blobs.bundle(current(project).manifest)[SKILL_MD].decode()


def test_answers_for_another_preview_are_refused(
    project: Project, source: Source, author: Actor, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    edit(project, BODY.replace("Two.", "Two, mine."), author)
    changed(BODY.replace("Two.", "Two, theirs."))
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    answers = dict.fromkeys(seen.joined.keys, "mine")
    mine = edit(project, BODY.replace("Two.", "Two, mine once more."), author)
    done = import_greeting(digest=seen.digest, seen=seen.seen, if_edited="merge", answers=answers)
    assert (done.status, current(project)) == ("moved", mine)


def test_a_renamed_skill_is_updated_under_its_name(
    project: Project, source: Source, import_greeting: Import, changed: Change
) -> None:
    import_greeting(on_conflict="rename", new_name="hello")
    changed(BODY + "\n\nSix.")
    done = import_greeting()
    assert (done.status, done.skill) == ("updated", "hello")
    assert 'name: "hello"' in blobs.bundle(current(project, "hello").manifest)[SKILL_MD].decode()
    assert not Skill.objects.filter(name="greeting").exists()


def test_a_named_version_is_kept_and_never_gets_other_content(
    project: Project, source: Source, site: Elsewhere, author: Actor, import_greeting: Import
) -> None:
    site.skills["greeting"] = named("First.")
    look(project, source, author)
    assert import_greeting().version == "1.0"
    site.skills["greeting"] = named("Second.")
    look(project, source, author)
    assert import_greeting().version == "1"
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


def test_cleaning_keeps_files_that_a_later_merge_needs(
    project: Project, source: Source, author: Actor, import_greeting: Import, changed: Change
) -> None:
    import_greeting()
    edit(project, "My own.", author)
    import_preview.load(project, source.pk, "greeting", by=author)
    assert [orphan.name for orphan in blobs.orphans(now=timezone.now())] == []
