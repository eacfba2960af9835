"""Sites with a migrated database, pools of processes, and numbers of repetitions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import effort
from tests.faults.process_pool import ProcessPool, process_pool
from tests.faults.sites import Site, new_site, shared_template


@pytest.fixture(scope="session")
def rounds() -> int:
    return effort.rounds(3)


@pytest.fixture(scope="session")
def restarts() -> int:
    """Return the number of rounds of tests that start a server in each round."""
    return effort.rounds(1)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A migrated database without projects, to be copied."""
    return shared_template(tmp_path_factory.getbasetemp())


@pytest.fixture
def site(tmp_path: Path, template: str) -> Iterator[Site]:
    with new_site(tmp_path / "site", template=template) as site:
        yield site


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory, template: str) -> Iterator[ProcessPool]:
    """Eight processes on one site. Each test uses its own project."""
    with new_site(tmp_path_factory.mktemp("pool"), template=template) as site, process_pool(site, 8) as pool:
        yield pool


@pytest.fixture
def helper(site: Site) -> Iterator[ProcessPool]:
    """One process that prepares the site of a test and returns its state."""
    with process_pool(site, 1) as pool:
        yield pool
