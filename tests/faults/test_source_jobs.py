"""Imports from another instance of the site, while workers race for the job and are killed."""

from collections.abc import Iterator

import pytest

from tests.faults.process_pool import ProcessPool, process_pool
from tests.faults.sites import Site, new_site, wait_for

pytestmark = pytest.mark.races

MANY = 40


@pytest.fixture(scope="module")
def second_instance(tmp_path_factory: pytest.TempPathFactory, template: str) -> Iterator[str]:
    """Another site with a public project, in its own process. The value is the URL of the project."""
    with (
        new_site(tmp_path_factory.mktemp("second"), template=template) as site,
        process_pool(site, 1, RATE_LIMIT_READ="0", RATE_LIMIT_PUBLIC="0") as process,
    ):
        process.do("publish", "offered", MANY)
        process.do("serve_http", site.port)
        yield site.url("/projects/offered")


def test_racing_workers_import_each_skill_once(pool: ProcessPool, second_instance: str) -> None:
    assert pool.do("add_source", "eager", second_instance) == MANY
    pool.do("import_all", "eager")
    pool.at_once("run_jobs", [()] * 8)
    found = pool.do("import_results", "eager")
    assert (found["jobs"], found["outcomes"], found["broken"]) == (["done"], ["imported"], [])
    assert [name for name, _ in found["versions"]] == [f"skill-{each:03}" for each in range(MANY)]
    assert found["events"] == MANY


def test_the_next_worker_finishes_the_job_of_a_killed_one(site: Site, second_instance: str, rounds: int) -> None:
    kills = min(rounds, 5)
    with process_pool(site, 1 + kills, SKILLS_FETCH_ALLOW_HOSTS="127.0.0.1") as pool:
        assert pool.do("add_source", "patient", second_instance) == MANY
        pool.do("import_all", "patient")
        for turn, worker in enumerate(pool.children[1:], start=1):
            with worker.killed_during("manage", "worker"):
                enough = turn * MANY // 8
                wait_for(lambda enough=enough: pool.do("settled", "patient") >= enough)  # type: ignore[misc]
            pool.do("end_leases")
        pool.do("run_jobs")
        found = pool.do("import_results", "patient")
    assert (found["jobs"], found["outcomes"], found["broken"]) == (["done"], ["imported"], [])
    assert sorted(name for name, _ in found["versions"]) == [f"skill-{each:03}" for each in range(MANY)]
    assert found["events"] == MANY
