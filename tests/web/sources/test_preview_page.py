"""Updates of imported skills: the preview shows edits, and no edit is lost unseen."""

import re

import pytest
from django.test import Client

from registry.models import Project, Source, Version
from registry.services.permissions import Actor
from registry.services.sources import source_jobs
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere
from tests.services.routing.gated import gated_project, thief
from tests.web.sources.pages import at, change, edit, import_one, look, sent, served, shown, text


@pytest.fixture
def edited(project: Project, source: Source, site: Elsewhere, author: Actor) -> Source:
    """Both sides changed the same line, and each another one."""
    import_one(project, source, author)
    edit(project, author, "Smile.", "Smile softly.")
    edit(project, author, "Say the name.", "Say the name twice.")
    change(site, "Smile.", "Smile broadly.")
    change(site, "Bow twice.", "Bow once.")
    look(project, source, author)
    return source


def test_an_unedited_skill_is_updated_in_one_step(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    change(site, "Bow twice", "Bow once")
    look(project, source, author)
    skill = page.get("/projects/demo/skills/greeting/")
    assert "Update available." in shown(skill) and at(source, "skills/greeting/") in text(skill)
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    assert "Nobody edited your copy" in shown(looked)
    page.post(at(source, "skills/greeting/"), sent(looked, do="import"))
    assert "Bow once" in served(project)
    assert "Update available." not in shown(page.get("/projects/demo/skills/greeting/"))


def test_the_preview_shows_edits_before_they_can_be_lost(edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    said = shown(looked)
    for words in ("Your changes", "Changes in the source", "resolve 1 conflict", "Keep yours", "Replace yours"):
        assert words in said
    for words in ("Smile softly", "Smile broadly", "Say the name twice", "Bow once"):
        assert words in re.sub(r"<(/?(ins|del|mark|span)[^>]*)>", "", text(looked)).replace("\n", " ") or words in said


def test_a_merge_with_unresolved_conflicts_is_refused(project: Project, edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    with nothing_left_behind():
        answer = page.post(at(edited, "skills/greeting/"), sent(looked, if_edited="merge"))
    assert answer.status_code == 422
    assert "Resolve 1 conflict" in shown(answer) and "Choose one of the two." in shown(answer)


def test_a_merge_keeps_the_changes_of_both_sides(project: Project, edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    (key,) = set(re.findall(r'name="(take-[\d-]+)"', text(looked)))
    page.post(at(edited, "skills/greeting/"), sent(looked, if_edited="merge", **{key: "theirs"}))
    told = served(project)
    assert "Smile broadly" in told and "Say the name twice" in told and "Bow once" in told
    assert "Update available" not in shown(page.get(at(edited)))
    assert "merged" in shown(page.get("/projects/demo/skills/greeting/versions/"))


def test_keeping_the_own_version_dismisses_the_update(project: Project, edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    page.post(at(edited, "skills/greeting/"), sent(looked, if_edited="keep"))
    assert "Smile softly" in served(project) and "Bow twice" in served(project)
    assert "Update available" not in shown(page.get(at(edited)))


def test_replacing_takes_the_source_and_keeps_the_history(project: Project, edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    page.post(at(edited, "skills/greeting/"), sent(looked, if_edited="replace"))
    assert "Smile broadly" in served(project) and "twice" not in served(project)
    assert Version.objects.filter(skill__name="greeting").count() == 4


@pytest.mark.parametrize("choice", ["replace", "keep", "merge", ""])
def test_an_unseen_edit_is_never_lost(
    project: Project, edited: Source, author: Actor, page: Client, choice: str
) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    edit(project, author, "Say the name twice.", "Say the name three times.")
    answer = page.post(at(edited, "skills/greeting/"), sent(looked, if_edited=choice))
    assert answer.headers["Location"] == at(edited, "skills/greeting/")
    assert "three times" in served(project)


def test_the_preview_shows_the_impact_on_routing_and_asks_for_a_reason(
    project: Project, site: Elsewhere, source: Source, page: Client, operator: Actor
) -> None:
    gated_project(project, operator)
    site.skills["couriers"] = thief()
    page.post(at(source, "look/"))
    source_jobs.run_due()
    address = at(source, "skills/couriers/")
    assert "questions worse. 10 test questions checked" in shown(page.get(f"{address}?inside=1"))
    refused = page.post(address, {"do": "import"})
    assert refused.status_code == 422
    assert "the routing gate refuses it" in shown(refused)
    assert 'name="gate_reason"' in text(refused)
    assert '<a href="#f-gate-reason">Give a reason</a>' in text(refused)
    chosen = page.get(at(source, "import/?skill=couriers"))
    assert "If the routing gate refuses a skill, publish it anyway, because" in shown(chosen)
    assert page.post(address, {"do": "import", "gate_reason": "On purpose."}).status_code == 302
