"""Sites whose database is migrated already, and how often a fault is tried."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import effort
from tests.faults.crew import Crew, crew_of
from tests.faults.sites import Site, new_site, template_of


@pytest.fixture(scope="session")
def rounds() -> int:
    return effort.rounds(3)


@pytest.fixture(scope="session")
def restarts() -> int:
    """The same where each round starts a server."""
    return effort.rounds(2)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A migrated database without a project, to be copied."""
    with new_site(tmp_path_factory.mktemp("template")) as site:
        site.manage("migrate", "--verbosity=0")
        yield template_of(site)


@pytest.fixture
def site(tmp_path: Path, template: str) -> Iterator[Site]:
    with new_site(tmp_path / "site", template=template) as site:
        yield site


@pytest.fixture(scope="session")
def crew(tmp_path_factory: pytest.TempPathFactory, template: str) -> Iterator[Crew]:
    """Eight processes on one site; each test works in a project of its own."""
    with new_site(tmp_path_factory.mktemp("crew"), template=template) as site, crew_of(site, 8) as crew:
        yield crew


@pytest.fixture
def clerk(site: Site) -> Iterator[Crew]:
    """One process that prepares the site of a test and looks at what became of it."""
    with crew_of(site, 1) as crew:
        yield crew
