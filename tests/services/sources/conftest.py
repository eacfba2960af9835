"""A site with one skill, and a source that was checked."""

from collections.abc import Iterator
from typing import Any

import pytest

from registry.core.bundle import Bundle
from registry.core.sources.import_request import ImportRequest
from registry.models import Project, Source
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.sources import install, source_jobs, sources
from tests.conftest import skill_bundle
from tests.services.other_site import Elsewhere, checked_source, elsewhere
from tests.services.sources.importing import BODY, Change, Import


@pytest.fixture
def site(settings: Any) -> Iterator[Elsewhere]:
    with elsewhere() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.receiver.host]
        made.skills["greeting"] = skill_bundle(body=BODY, files={"a.txt": b"a"})
        yield made


@pytest.fixture
def source(project: Project, site: Elsewhere, author: Actor) -> Source:
    return checked_source(project, site, author)


@pytest.fixture
def import_greeting(project: Project, source: Source, author: Actor) -> Import:
    return lambda name="greeting", **choices: install.import_skill(
        project, source.pk, ImportRequest(name, **choices), by=author
    )


@pytest.fixture
def changed(project: Project, source: Source, site: Elsewhere, author: Actor) -> Change:
    """Return a function that changes greeting on the site and checks the source."""

    def change(body: str, **more: Any) -> Bundle:
        site.skills["greeting"] = skill_bundle(body=body, **more)
        sources.look(project, source.pk, by=author)
        source_jobs.run_due()
        return site.skills["greeting"]

    return change


@pytest.fixture
def protected(project: Project, operator: Actor) -> None:
    projects.set_protected(project, True, by=operator)
