"""Skills come from another instance of this site, while workers race for the job and are killed at it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.crew import Crew, crew_of
from tests.faults.sites import Site, new_site, serving, wait_for

pytestmark = pytest.mark.races

MANY = 40


@pytest.fixture(scope="module")
def second_instance(tmp_path_factory: pytest.TempPathFactory, template: str) -> Iterator[str]:
    """Another site in processes of its own, with a public project; the address of that project's index."""
    with new_site(tmp_path_factory.mktemp("second"), template=template) as site, crew_of(site, 1) as clerk:
        clerk.do("publish", "offered", MANY)
        with serving(site, "--no-prepare", "--no-worker", RATE_LIMIT_READ="0"):
            yield site.url("/projects/offered")


def test_workers_at_once_bring_each_skill_of_a_second_instance_once(crew: Crew, second_instance: str) -> None:
    assert crew.do("add_source", "eager", second_instance) == MANY
    crew.do("ask_for_all", "eager")
    crew.at_once("work_once", [()] * 8)
    found = crew.do("brought", "eager")
    assert (found["jobs"], found["outcomes"], found["broken"]) == (["done"], ["imported"], [])
    assert [name for name, _ in found["versions"]] == [f"skill-{each:03}" for each in range(MANY)]
    assert found["events"] == MANY


def test_killed_workers_leave_a_job_that_the_next_one_finishes(
    site: Site, clerk: Crew, second_instance: str, rounds: int, tmp_path: Path
) -> None:
    assert clerk.do("add_source", "patient", second_instance) == MANY
    clerk.do("ask_for_all", "patient")
    allowed = {"SKILLS_FETCH_ALLOW_HOSTS": "127.0.0.1"}
    for turn in range(1, min(rounds, 5) + 1):
        worker = site.popen("manage.py", "worker", **allowed)
        enough = turn * MANY // 8
        wait_for(lambda enough=enough: clerk.do("settled", "patient") >= enough)  # type: ignore[misc]
        os.kill(worker.pid, signal.SIGKILL)
        worker.communicate()
        clerk.do("let_leases_end")
    clerk.do("work_once")
    found = clerk.do("brought", "patient")
    assert (found["jobs"], found["outcomes"], found["broken"]) == (["done"], ["imported"], [])
    assert sorted(name for name, _ in found["versions"]) == [f"skill-{each:03}" for each in range(MANY)]
    assert found["events"] == MANY
