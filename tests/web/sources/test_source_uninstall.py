"""Uninstalling an imported skill."""

from django.test import Client

from registry.core.routing.golden import Case
from registry.models import Installation, Project, Source, Version
from registry.services.catalog import catalog
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.routing import golden_set
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind
from tests.web.sources.pages import at, edit, import_one, sent, served, shown


def test_uninstalling_shows_and_removes_one_skill(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    import_one(project, source, author, "parting")
    edit(project, author, "Smile.", "Smile softly.")
    asked = page.get(at(source, "skills/greeting/uninstall/"))
    assert "You edited greeting after you imported it" in shown(asked) and "Your edits to remove" in shown(asked)
    assert "Agents no longer get greeting." in shown(asked)
    answer = page.post(at(source, "skills/greeting/uninstall/"), sent(asked))
    assert answer.headers["Location"] == at(source)
    assert [each.name for each in Installation.objects.all()] == ["parting"]
    assert catalog.find(project.pk, "greeting") is None
    assert Version.objects.filter(skill__name="greeting").count() == 2


def test_an_edit_since_the_page_was_opened_stops_uninstalling(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    asked = page.get(at(source, "skills/greeting/uninstall/"))
    edit(project, author, "Smile.", "Smile softly.")
    for form in (sent(asked), {}):
        with nothing_left_behind():
            answer = page.post(at(source, "skills/greeting/uninstall/"), form)
        assert answer.headers["Location"] == at(source, "skills/greeting/uninstall/")


def test_uninstalling_restores_the_earlier_version(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    create_skill(project, skill_bundle("greeting", body="Mine"), by=author)
    import_one(project, source, author, on_conflict="version")
    asked = page.get(at(source, "skills/greeting/uninstall/"))
    assert "Agents get version 1 again" in shown(asked)
    page.post(at(source, "skills/greeting/uninstall/"), sent(asked))
    assert "Mine" in served(project)


def test_in_a_protected_project_uninstalling_is_a_proposal(
    project: Project, source: Source, author: Actor, operator: Actor, page: Client
) -> None:
    import_one(project, source, author)
    projects.set_protected(project, True, by=operator)
    asked = page.get(at(source, "skills/greeting/uninstall/"))
    assert "Propose to uninstall" in shown(asked)
    answer = page.post(at(source, "skills/greeting/uninstall/"), sent(asked))
    assert "/proposals/" in answer.headers["Location"]
    assert "Bow twice" in served(project)


def test_uninstalling_shows_what_it_does_to_the_test_questions(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    golden_set.add(project, [Case("Bow to a guest", ("greeting",))], by=author)
    answer = shown(page.get(at(source, "skills/greeting/uninstall/")))
    assert "1 question loses its skill. 1 test question checked." in answer
