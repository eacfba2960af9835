"""Permissions of the pages of sources."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.core.sources.import_request import ImportRequest
from registry.models import Project, Source, SourceJob, User
from registry.services.people import members
from registry.services.permissions import Actor
from registry.services.sources import source_jobs, sources
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere
from tests.web.conftest import Browser, signed_in
from tests.web.sources.pages import SOURCES, at, import_one, text


def paths(source: Source, job: SourceJob) -> list[str]:
    entry = "skills/greeting/"
    return [
        SOURCES,
        *(at(source, path) for path in ("", "import/?all=1", entry, f"{entry}uninstall/", f"jobs/{job.pk}/")),
    ]


def posts(source: Source, job: SourceJob) -> list[tuple[str, dict[str, str]]]:
    return [
        (SOURCES, {"address": "https://1.1.1.1/a.zip", "kind": "url"}),
        (at(source, "look/"), {}),
        (at(source, "remove/"), {}),
        (at(source, "import/"), {"skill": "parting"}),
        (at(source, "skills/parting/"), {"do": "import"}),
        (at(source, "skills/parting/"), {"do": "again"}),
        (at(source, "skills/greeting/uninstall/"), {}),
        (at(source, f"jobs/{job.pk}/retry/"), {}),
    ]


@pytest.fixture
def job(project: Project, source: Source, author: Actor) -> SourceJob:
    """An import that failed."""
    import_one(project, source, author)
    made = sources.start(project, source.pk, [ImportRequest("missing")], by=author)
    source_jobs.run_due()
    made.refresh_from_db()
    return made


def test_a_viewer_can_neither_see_nor_change_sources(source: Source, job: SourceJob, browser_client: Browser) -> None:
    viewer = signed_in(browser_client(roles.VIEWER))
    with nothing_left_behind():
        assert [viewer.get(path).status_code for path in paths(source, job)] == [403] * 6
        assert [viewer.post(path, form).status_code for path, form in posts(source, job)] == [403] * 8
    assert 'href="/projects/demo/sources/"' not in text(viewer.get("/projects/demo/skills/"))
    assert 'href="/projects/demo/sources/"' not in text(viewer.get("/projects/demo/upload/"))


def test_a_person_of_another_project_gets_404(source: Source, job: SourceJob, django_user_model: Any) -> None:
    stranger = Client()
    stranger.force_login(django_user_model.objects.create(username="stranger"))
    signed_in(stranger)
    with nothing_left_behind():
        assert [stranger.get(path).status_code for path in paths(source, job)] == [404] * 6
        assert [stranger.post(path, form).status_code for path, form in posts(source, job)] == [404] * 8


def test_sources_and_jobs_of_another_project_are_not_found(
    source: Source, job: SourceJob, other_project: Project, person: Callable[[str], User], operator: Actor
) -> None:
    """The person is an author in both projects."""
    both = person(roles.AUTHOR)
    members.set_role(other_project, both, roles.AUTHOR, by=operator)
    client = Client()
    client.force_login(both)
    signed_in(client)
    with nothing_left_behind():
        for path in paths(source, job)[1:]:
            assert client.get(path.replace("/demo/", "/other/")).status_code == 404, path
        for path, form in posts(source, job)[1:]:
            assert client.post(path.replace("/demo/", "/other/"), form).status_code == 404, path


def test_a_job_of_another_source_is_not_found(
    project: Project, job: SourceJob, site: Elsewhere, author: Actor, page: Client
) -> None:
    other = sources.add(project, "well-known", f"{site.address}/other", by=author)
    with nothing_left_behind():
        assert page.get(at(other, f"jobs/{job.pk}/")).status_code == 404
        assert page.post(at(other, f"jobs/{job.pk}/retry/")).status_code == 404


def test_every_change_needs_a_csrf_token(source: Source, job: SourceJob, browser_client: Browser) -> None:
    strict = signed_in(browser_client(roles.AUTHOR, strict=True))
    with nothing_left_behind():
        assert [strict.post(path, form).status_code for path, form in posts(source, job)] == [403] * 8


def test_get_requests_change_nothing(source: Source, job: SourceJob, page: Client) -> None:
    page.get(at(source, "skills/greeting/?inside=1"))
    with nothing_left_behind():
        for path in paths(source, job):
            assert page.get(path).status_code == 200, path
        for path, _ in posts(source, job)[1:3]:
            assert page.get(path).status_code == 405, path
