"""The list of sources: add, check and remove them."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.core.sources.import_request import ImportRequest
from registry.models import Project, Source, SourceEntry, SourceJob
from registry.models.sources import DONE
from registry.services.permissions import Actor
from registry.services.sources import source_jobs, sources
from registry.web.sources import source_words
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere
from tests.web.sources.pages import SOURCES, at, change, import_one, look, served, shown, text


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({}, "Enter the address"),
        ({"address": "example.org"}, "whole address"),
        ({"address": "javascript:alert(1)"}, "address"),
        ({"address": "https://user:secret@example.org/x.git"}, "password"),
        ({"address": "https://1.1.1.1/a.zip?X-Amz-Signature=abc"}, "Upload the file instead"),
        ({"address": "https://169.254.169.254/latest"}, "private network"),
        ({"address": "https://1.1.1.1/a.git", "ref": "--upload-pack=x"}, "cannot be the name"),
        ({"address": "https://1.1.1.1/a.zip", "kind": "ftp"}, "Choose a kind from the list"),
        ({"address": "https://1.1.1.1/a.zip", "label": "a" * 101}, "100 characters"),
    ],
)
def test_an_unusable_source_is_refused_and_the_form_keeps_its_values(
    page: Client, form: dict[str, str], said: str
) -> None:
    with nothing_left_behind():
        answer = page.post(SOURCES, {"kind": "guess", **form})
    assert answer.status_code == 422
    assert said in shown(answer)
    assert 'aria-invalid="true"' in text(answer)
    if "secret" not in form.get("address", ""):
        assert form.get("address", "") in text(answer)


def test_an_error_is_shown_at_its_field(page: Client) -> None:
    answer = page.post(SOURCES, {"kind": "git", "address": "https://1.1.1.1/a.git", "ref": "--upload-pack=x"})
    assert list(answer.context["form"].errors) == ["ref"]
    answer = page.post(SOURCES, {"kind": "git", "address": "https://10.0.0.1/branch, tag or commit"})
    assert list(answer.context["form"].errors) == ["address"]


def test_a_full_project_is_an_error_of_the_whole_form(project: Project, page: Client) -> None:
    Source.objects.bulk_create(
        Source(project=project, kind="url", address=f"https://1.1.1.1/{number}") for number in range(sources.MOST)
    )
    answer = page.post(SOURCES, {"kind": "url", "address": "https://1.1.1.1/a.zip"})
    assert list(answer.context["form"].errors) == ["__all__"]
    assert "50 are allowed" in shown(answer)


def test_the_same_source_twice_is_refused(source: Source, page: Client) -> None:
    with nothing_left_behind():
        answer = page.post(SOURCES, {"kind": "well-known", "address": source.address})
    assert answer.status_code == 422
    assert "already" in shown(answer)


def test_a_source_is_added_with_the_detected_kind(page: Client, site: Elsewhere) -> None:
    answer = page.post(SOURCES, {"kind": "guess", "address": site.address, "label": "  Their   site "})
    made = Source.objects.get()
    assert (made.kind, made.label) == ("well-known", "Their site")
    assert answer.headers["Location"] == at(made)
    waiting = page.get(at(made))
    assert "Checking" in shown(waiting)
    assert 'hx-trigger="every 1s"' in text(waiting)
    source_jobs.run_due()
    assert "What greeting does." in text(page.get(at(made)))
    assert "every 1s" not in text(page.get(at(made)))


def test_the_empty_page_lists_the_kinds_of_sources(page: Client) -> None:
    said = shown(page.get(SOURCES))
    assert "No sources yet" in said
    for kind in source_words.KINDS.values():
        assert kind.label in said


def test_the_list_counts_skills_installed_skills_and_updates(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    said = shown(page.get(SOURCES))
    assert "2 skills 1 installed" in said and "update" not in said
    change(site, "Smile", "Grin")
    look(project, source, author)
    assert "1 update" in shown(page.get(SOURCES))
    assert "Update available" in shown(page.get(at(source, "?show=update")))
    assert "parting" not in shown(page.get(at(source, "?show=update")))


def test_removing_a_source_keeps_its_skills(project: Project, source: Source, author: Actor, page: Client) -> None:
    import_one(project, source, author)
    assert "1 imported skill stays in the project" in shown(page.get(at(source)))
    page.post(at(source, "remove/"))
    assert page.get(at(source)).status_code == 404
    assert "Bow twice" in served(project)
    skill = page.get("/projects/demo/skills/greeting/versions/")
    assert "Elsewhere, imported" in shown(skill)
    assert at(source) not in text(skill)


@pytest.mark.slow
def test_pages_need_a_fixed_number_of_queries(
    project: Project, source: Source, author: Actor, page: Client, django_assert_max_num_queries: Any
) -> None:
    import_one(project, source, author)
    for number in range(30):
        Source.objects.create(
            project=project, kind="url", address=f"https://example.org/{number}", state="ready", seen_at=timezone.now()
        )
    SourceEntry.objects.bulk_create(
        SourceEntry(source=source, name=f"skill-{number:03}", digest=f"sha256:{number}") for number in range(300)
    )
    made = sources.start(project, source.pk, [ImportRequest(f"skill-{number:03}") for number in range(200)], by=author)
    SourceJob.objects.filter(pk=made.pk).update(state=DONE)
    for path, most in (
        (SOURCES, 11),
        (at(source), 17),
        (at(source, "import/?all=1"), 14),
        (at(source, f"jobs/{made.pk}/"), 12),
        ("/projects/demo/skills/greeting/versions/", 20),
    ):
        with django_assert_max_num_queries(most):
            assert page.get(path).status_code == 200
