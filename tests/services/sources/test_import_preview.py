"""Previews of imports: they store nothing, and their content is what is imported."""

from registry.models import Event, Project, Skill, Source
from registry.services.permissions import Actor
from registry.services.sources import import_preview
from tests.conftest import skill_bundle
from tests.services.other_site import Elsewhere
from tests.services.sources.importing import Import


def test_the_previewed_content_is_imported_even_if_the_source_changed(
    project: Project, source: Source, site: Elsewhere, author: Actor, import_greeting: Import
) -> None:
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    assert (seen.action, seen.target, seen.seen, seen.hides) == ("create", "greeting", "", ())
    site.skills["greeting"] = skill_bundle(body="Something else.")
    assert import_greeting(digest=seen.digest).digest == seen.digest
    assert site.asked == ["greeting"]


def test_a_digest_that_is_not_staged_must_match_the_source(
    project: Project, site: Elsewhere, import_greeting: Import
) -> None:
    done = import_greeting(digest=skill_bundle(body="Seen long ago.").digest)
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
