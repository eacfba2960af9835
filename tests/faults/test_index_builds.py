"""Processes that build the index of one project on one store at the same time, or are killed while they do."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import on_disk
from tests.faults.process_pool import process_pool
from tests.faults.sites import Site, wait_for

pytestmark = pytest.mark.processes

SKILLS = 150
QUESTION = "feed walrus77x now"


@pytest.fixture
def filled(site: Site) -> Site:
    """A site with so many built-in skills that a build stores several batches."""
    for number in range(SKILLS):
        write(site, number, "now")
    return site


def write(site: Site, number: int, when: str) -> None:
    text = f"Feed walrus{number}x {when}. " + "Then wait for the tide and look after its friends. " * 20
    on_disk(site.directory / "library", f"skill-{number:03}", description=f"Does task {number}.", body=text)


def stored(site: Site) -> int:
    """Return the number of stored analyses, or 0 while there is no table."""
    for file in (site.data / "routing").glob("index*.sqlite3"):
        return _rows(file)
    return 0


def _rows(file: Path) -> int:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM derived").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def complete(answer: dict[str, Any]) -> bool:
    return (answer["missing"], answer["skills"]) == (0, SKILLS) and answer["ranking"][0][0] == "skill-077"


def test_two_processes_build_and_update_one_store(filled: Site, rounds: int) -> None:
    with process_pool(filled, 2) as pool:
        pool.do("make_project", "demo")
        first, second = pool.at_once("build_index", [("demo", QUESTION)] * 2)
        assert complete(first)
        assert first == second
        assert stored(filled) == SKILLS
        for number in range(rounds):
            write(filled, number, "later")
            first, second = pool.at_once("build_index", [("demo", QUESTION)] * 2)
            assert complete(first)
            assert first == second
            assert stored(filled) == SKILLS + number + 1


def test_a_process_that_is_killed_during_a_build_leaves_a_store_that_works(filled: Site) -> None:
    with process_pool(filled, 3) as pool:
        killed, survivor, other = pool.children
        killed.do("make_project", "demo")
        with killed.killed_during("build_index", "demo", QUESTION):
            wait_for(lambda: stored(filled) > 0)
        before = stored(filled)
        assert 0 < before < SKILLS, "the build was interrupted"
        answer = survivor.do("build_index", "demo", QUESTION)
        assert complete(answer)
        assert stored(filled) == SKILLS
        assert other.do("build_index", "demo", QUESTION) == answer
