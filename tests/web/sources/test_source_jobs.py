"""Importing several skills at once, and the page of a job."""

import pytest
from django.test import Client

from registry.core.bundle import SKILL_MD, Bundle
from registry.models import Project, Source, SourceJob, Version
from registry.services.permissions import Actor
from registry.services.sources import source_jobs, sources
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere
from tests.web.sources.pages import at, import_one, look, served, shown, text


def test_an_import_without_a_selection_redirects_back(source: Source, page: Client) -> None:
    for form in ({}, {"skill": "nothing-of-the-kind"}):
        with nothing_left_behind():
            answer = page.post(at(source, "import/"), form)
        assert answer.headers["Location"] == at(source)


def test_import_under_another_name_needs_the_name(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    create_skill(project, skill_bundle("greeting"), by=author)
    with nothing_left_behind():
        many = page.post(at(source, "import/"), {"skill": "greeting", "conflict-0": "rename", "name-0": " "})
        wrong = page.post(at(source, "import/"), {"skill": "greeting", "conflict-0": "rename", "name-0": "../x"})
    one = page.post(at(source, "skills/greeting/"), {"conflict": "rename", "name": ""})
    assert [answer.status_code for answer in (many, wrong, one)] == [422] * 3
    assert "Enter a new name for greeting" in shown(many)
    assert "Enter a new name" in shown(one)
    assert Version.objects.count() == 1


@pytest.mark.slow
def test_several_skills_are_imported_with_a_result_for_each(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    create_skill(project, skill_bundle("parting", body="Mine"), by=author)
    site.skills["broken"] = Bundle({SKILL_MD: b"---\nname: broken\n---\n"})
    look(project, source, author)
    chosen = page.get(at(source, "import/"), {"skill": ["broken", "greeting", "parting"]})
    assert "Import 3 skills" in shown(chosen) and "1 name is taken" in shown(chosen)
    answer = page.post(at(source, "import/"), {"skill": ["broken", "greeting", "parting"], "conflict-2": "skip"})
    progress = answer.headers["Location"]
    waiting = page.get(progress)
    assert "Importing 3 skills" in shown(waiting)
    assert "every 1s" in text(waiting) and "Refresh" in text(waiting)
    source_jobs.run_due()
    part = {"headers": {"HX-Request": "true"}}
    over = page.get(f"{progress}?was=queued-0", **part)
    assert "every 1s" not in text(over)
    assert '<span id="progress-said" hx-swap-oob="innerHTML">3 of 3 skills done</span>' in text(over)
    assert 'id="progress-said" role="status">Waiting to start</span>' in text(waiting)
    assert "3 of 3 skills done 1 imported, 1 skipped, 1 failed" in shown(over)
    assert "<code>description</code> is missing" in text(over), "the reason of the failure"
    assert "Retry 1 skill" in shown(over)
    assert page.get(f"{progress}?was=done-3", **part).status_code == 204
    assert "Bow twice" in served(project) and "Mine" in served(project, "parting")
    site.skills["broken"] = skill_bundle("broken")
    look(project, source, author)
    again = page.post(f"{progress}retry/").headers["Location"]
    source_jobs.run_due()
    assert "1 of 1 skill done 1 imported" in shown(page.get(again))


def test_all_skills_without_conflicts_can_be_selected_at_once(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    chosen = page.get(at(source, "import/?all=1"))
    assert "Import 1 skill" in shown(chosen) and 'value="parting"' in text(chosen)
    assert page.get(at(source, "import/?all=1&q=greet")).status_code == 302


def test_a_failed_check_can_be_retried(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    site.status = 503
    made = sources.look(project, source.pk, by=author)
    source_jobs.run_due()
    answer = page.get(at(source, f"jobs/{made.pk}/"))
    assert "503" in shown(answer) and "Check again" in shown(answer)
    page.post(at(source, f"jobs/{made.pk}/retry/"))
    assert SourceJob.objects.unfinished().count() == 1
