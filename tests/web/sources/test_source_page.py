"""The page of one source: its state, its skills, search and pagination."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from registry.core.sources.import_request import ImportRequest
from registry.models import Project, Source, SourceEntry
from registry.services.permissions import Actor
from registry.services.sources import source_jobs, sources
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.services.other_site import Elsewhere
from tests.web.sources.pages import HOSTILE, SOURCES, at, import_one, look, shown, text


@pytest.mark.slow
def test_hostile_names_descriptions_and_addresses_are_escaped(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    name = f"a{HOSTILE}"
    Source.objects.filter(pk=source.pk).update(
        label=HOSTILE, address=f"https://example.org/{HOSTILE}?token=secret", problems=[HOSTILE], problem=HOSTILE
    )
    entry = SourceEntry.objects.create(source=source, name=name, description=f"{HOSTILE}\u202e", version=HOSTILE)
    made = sources.start(project, source.pk, [ImportRequest(name)], by=author)
    source_jobs.run_due()
    for state in ("ready", "unreachable", "unusable", "empty", "new"):
        Source.objects.filter(pk=source.pk).update(state=state)
        answers = [page.get(path) for path in (SOURCES, at(source), at(source, "import/?all=1"))]
        answers.append(page.get(reverse("source-entry", args=["demo", source.pk, entry.name])))
        answers.append(page.get(at(source, f"jobs/{made.pk}/")))
        for answer in answers:
            assert answer.status_code == 200
            assert "<img" not in text(answer)
            assert "\u202e" not in text(answer)
            assert "token=secret" not in text(answer)


def test_unreachable_empty_and_unusable_sources_look_different(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    site.status = 503
    look(project, source, author)
    there = shown(page.get(at(source)))
    assert "status 503" in there and "The list below is from" in there
    assert "greeting" in there
    assert "Unreachable" in shown(page.get(SOURCES))
    site.status = 200
    site.skills.clear()
    look(project, source, author)
    there = shown(page.get(at(source)))
    assert "No skills found" in there and "503" not in there
    site.status = 404
    look(project, source, author)
    there = shown(page.get(at(source)))
    assert "This address is not a website with a skill index." in there and "No skills found" not in there


def test_a_running_job_is_polled_until_it_ends(project: Project, source: Source, author: Actor, page: Client) -> None:
    made = sources.look(project, source.pk, by=author)
    part = {"headers": {"HX-Request": "true"}}
    address = at(source, "?part=working")
    first = page.get(address, **part)
    assert "Checking the source…" in shown(first)
    assert page.get(f"{address}&was={made.pk}-queued", **part).status_code == 204
    source_jobs.run_due()
    over = page.get(f"{address}&was={made.pk}-queued", **part)
    assert "?part=page" in text(over) and "every 1s" not in text(over)
    assert "<h1>" in text(page.get(at(source, "?part=page"), **part))
    ticking = page.get(f"{address}&was={made.pk}-queued&list=1", **part)
    assert "?part=page" not in text(ticking) and "Reload to see what changed" in shown(ticking)


def test_search_ignores_a_single_letter(source: Source, page: Client) -> None:
    part = {"headers": {"HX-Request": "true"}}

    def found(q: str) -> list[str]:
        return re.findall(r'name="skill" value="([^"]+)"', text(page.get(at(source), {"q": q}, **part)))

    assert found("part") == ["parting"]
    one = text(page.get(at(source), {"q": "part"}, **part))
    assert '<p class="vh" id="match-count" role="status" hx-swap-oob="innerHTML">1 skill matches</p>' in one
    assert found("WHAT does greet") == ["greeting"]
    assert found("z") == ["greeting", "parting"]
    assert found("zz") == []
    nothing = page.get(at(source), {"q": HOSTILE}, **part)
    assert "No skills match" in shown(nothing) and "<img" not in text(nothing)
    assert nothing.headers["HX-Push-Url"].startswith(f"{at(source)}?q=")
    assert 'hx-sync="this:replace"' in text(page.get(at(source)))


def test_states_are_by_source_and_name(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    twin = sources.add(project, "well-known", f"{site.address}/", label="Twin", by=author)
    source_jobs.run_due()
    create_skill(project, skill_bundle("parting"), by=author)
    import_one(project, source, author)
    here, there = shown(page.get(at(source))), shown(page.get(at(twin)))
    assert "Installed" in here.split("greeting", 2)[2].split("parting")[0]
    assert "Conflicts with your parting" in here
    assert "Conflicts with your greeting" in there
    assert "Conflicts with your parting" in there


def test_skills_that_left_the_source_can_be_uninstalled(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    del site.skills["greeting"]
    look(project, source, author)
    answer = page.get(at(source))
    assert "No longer in this source" in shown(answer)
    assert at(source, "skills/greeting/uninstall/") in text(answer)


def test_a_long_list_is_paginated(source: Source, page: Client) -> None:
    SourceEntry.objects.bulk_create(SourceEntry(source=source, name=f"skill-{number:03}") for number in range(120))
    assert text(page.get(at(source))).count('name="skill"') == 50
    assert "101 to 122 of 122" in shown(page.get(at(source, "?page=3")))
