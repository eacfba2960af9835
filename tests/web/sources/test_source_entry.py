"""The page of one source entry: preview and import a skill."""

from typing import Any

import pytest
from django.test import Client

from registry.core.bundle import SKILL_MD, Bundle
from registry.models import Project, Proposal, Source, Version
from registry.services.catalog import catalog
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.resolve import gate
from registry.services.sources import source_jobs
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere
from tests.web.sources.pages import HOSTILE, at, change, look, sent, served, shown, text


def test_the_content_of_a_hostile_skill_is_escaped(site: Elsewhere, source: Source, page: Client) -> None:
    site.skills["greeting"] = Bundle(
        {
            SKILL_MD: skill_text("greeting", body=f"{HOSTILE}\n\n<script>alert(1)</script>\u200b").encode(),
            "references/b&amp.md": b"<script>alert(2)</script>",
            "assets/x.svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(3)'/>",
        }
    )
    page.post(at(source, "look/"))
    source_jobs.run_due()
    said = text(page.get(at(source, "skills/greeting/?inside=1")))
    assert "<script>alert" not in said
    assert "<img" not in said
    assert "onload=&#x27;" in said
    assert "U+200B" in said


def test_an_invalid_skill_is_refused_with_its_findings(site: Elsewhere, source: Source, page: Client) -> None:
    site.skills["greeting"] = Bundle({SKILL_MD: b"---\nname: greeting\nname: other\ndescription: x\n---\n"})
    page.post(at(source, "look/"))
    source_jobs.run_due()
    answer = page.post(at(source, "skills/greeting/"), {"do": "again"})
    assert answer.status_code == 422
    assert "appears twice" in shown(answer)
    assert not Version.objects.exists()


def test_a_busy_site_says_when_to_try_again(source: Source, page: Client, settings: Any) -> None:
    settings.WEB_THREADS = 2
    with gate.shared_thread():
        answer = page.post(at(source, "skills/greeting/"), {"do": "again"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Try again in 5 seconds" in shown(answer)


def test_an_unreachable_source_shows_an_error_with_a_retry(site: Elsewhere, source: Source, page: Client) -> None:
    site.status = 503
    inside = page.get(at(source, "skills/greeting/?inside=1"), headers={"HX-Request": "true"})
    assert inside.status_code == 200, "htmx shows only answers that went well"
    assert "couldn’t fetch greeting" in shown(inside)
    assert "Try again" in shown(inside)
    with nothing_left_behind():
        answer = page.post(at(source, "skills/greeting/"), {"do": "import"})
    assert answer.status_code == 502
    assert "couldn’t fetch greeting" in shown(answer)


def test_a_name_that_the_source_does_not_have_is_not_found(source: Source, page: Client) -> None:
    for name in ("nothing", "a%00b", "%2e%2e"):
        assert page.get(at(source, f"skills/{name}/")).status_code in (400, 404), name
    assert page.get(at(source, "skills/parting/uninstall/")).status_code == 404


def test_a_skill_is_fetched_only_for_its_preview(source: Source, site: Elsewhere, page: Client) -> None:
    answer = page.get(at(source, "skills/greeting/"))
    assert site.asked == []
    assert "Fetching greeting from Elsewhere…" in shown(answer) and "?inside=1" in text(answer)
    inside = page.get(at(source, "skills/greeting/?inside=1"))
    assert site.asked == ["greeting"]
    assert "Bow twice" in shown(inside)
    assert "This creates the new skill greeting." in shown(inside)
    assert "Bow twice" in shown(page.get(at(source, "skills/greeting/"))), "what was put aside is shown at once"
    assert not Version.objects.exists()


def test_the_previewed_content_is_imported(project: Project, source: Source, site: Elsewhere, page: Client) -> None:
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    change(site, "Bow", "Curtsey")
    answer = page.post(at(source, "skills/greeting/"), sent(looked, do="import"))
    assert answer.headers["Location"] == "/projects/demo/skills/greeting/"
    assert "Bow twice" in served(project)
    skill = shown(page.get("/projects/demo/skills/greeting/"))
    assert "From Elsewhere , imported just now by author" in skill
    assert "Imported" in skill


def test_a_change_since_the_preview_needs_a_new_preview(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    change(site, "Bow", "Curtsey")
    look(project, source, author)
    page.post(at(source, "skills/greeting/"), {"do": "again"})
    answer = page.post(at(source, "skills/greeting/"), sent(looked, do="import"))
    assert answer.headers["Location"] == at(source, "skills/greeting/")
    assert not Version.objects.exists()


@pytest.mark.parametrize(("choice", "live"), [("skip", "Mine"), ("version", "Bow twice"), ("rename", "Mine")])
def test_a_taken_name_offers_three_choices(
    project: Project, source: Source, author: Actor, page: Client, choice: str, live: str
) -> None:
    create_skill(project, skill_bundle("greeting", body="Mine"), by=author)
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    assert "already has a skill called greeting" in shown(looked)
    assert "Difference" in shown(looked)
    answer = page.post(at(source, "skills/greeting/"), sent(looked, conflict=choice, name="their-greeting"))
    assert answer.status_code == 302
    assert live in served(project)
    assert ("Bow twice" in served(project, "their-greeting")) if choice == "rename" else Version.objects.count() < 3


def test_a_taken_name_needs_a_choice(project: Project, source: Source, author: Actor, page: Client) -> None:
    create_skill(project, skill_bundle("greeting", body="Mine"), by=author)
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    with nothing_left_behind():
        answer = page.post(at(source, "skills/greeting/"), sent(looked, do="import"))
    assert answer.status_code == 422
    assert "Choose" in shown(answer)


def test_a_new_name_that_is_taken_is_refused(project: Project, source: Source, author: Actor, page: Client) -> None:
    create_skill(project, skill_bundle("greeting"), by=author)
    create_skill(project, skill_bundle("hello"), by=author)
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    with nothing_left_behind():
        answer = page.post(at(source, "skills/greeting/"), sent(looked, conflict="rename", name="hello"))
    assert answer.status_code == 422
    assert "The project already has its own skill hello." in shown(answer)
    assert 'value="hello"' in text(answer)


def test_a_built_in_skill_is_replaced_only_by_choice(
    project: Project, source: Source, library: Any, page: Client
) -> None:
    on_disk(library, "greeting", body="Bundled")
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    assert "This replaces the built-in skill greeting" in shown(looked)
    page.post(at(source, "skills/greeting/"), sent(looked, conflict="version"))
    assert "Bow twice" in served(project)


@pytest.fixture
def protected(project: Project, source: Source, operator: Actor) -> Source:
    projects.set_protected(project, True, by=operator)
    return source


def test_in_a_protected_project_an_import_is_a_proposal(project: Project, protected: Source, page: Client) -> None:
    assert 'href="/projects/demo/sources/"' in text(page.get("/projects/demo/skills/"))
    assert "Propose…" in shown(page.get(at(protected)))
    assert "Propose 1 skill" in shown(page.get(at(protected, "import/?skill=parting")))
    looked = page.get(at(protected, "skills/greeting/?inside=1"))
    assert "Propose greeting" in shown(looked) and "Import greeting" not in shown(looked)
    answer = page.post(at(protected, "skills/greeting/"), sent(looked, do="import"))
    proposal = Proposal.objects.get()
    assert answer.headers["Location"] == f"/projects/demo/proposals/{proposal.pk}/"
    assert catalog.find(project.pk, "greeting") is None
    assert f"In review, proposal {proposal.pk}" in shown(page.get(at(protected)))
    assert "for this skill is waiting for review" in shown(page.get(at(protected, "skills/greeting/")))
