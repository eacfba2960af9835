"""The cost of hot reads: exact numbers of queries, and no disk access once the caches are warm."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.lib import lru
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows.run_worker import RunWorker
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill, disable_skill
from tests.services.workflows.conftest import finish

HOT = [
    "/catalog",
    "/catalog?format=text",
    "/catalog?budget=500",
    "/effective",
    "/diagnostics",
    "/skills/own",
    "/skills/bundled",
    "/skills/off-again",
    "/skills/own/files/a.txt",
    "/skills/bundled/files/a.txt",
    "/skills/own/bundle.zip",
]


@pytest.fixture
def bot(project: Project, library: Path, operator: Actor, api: Callable[..., Api]) -> Api:
    on_disk(library, "bundled", {"a.txt": b"a"})
    on_disk(library, "off-again")
    create_skill(project, skill_bundle("own", {"a.txt": b"a"}), by=operator)
    disable_skill(project, "off-again", by=operator)
    skills.enable(project, "off-again", by=operator)
    return api("read")


@contextmanager
def queries(exactly: int) -> Iterator[None]:
    with CaptureQueriesContext(connection) as captured:
        yield
    body = "\n".join(query["sql"] for query in captured)
    assert len(captured) == exactly, body


@pytest.mark.parametrize("path", HOT)
def test_a_cold_read_costs_two_queries_and_a_warm_one_costs_one(bot: Api, path: str) -> None:
    lru.clear_all()
    with queries(2):
        etag = bot.get(path)["ETag"]
    with queries(1):
        assert bot.get(path).status_code == 200
    with queries(1):
        assert bot.get(path, headers={"If-None-Match": etag}).status_code == 304


@pytest.mark.parametrize("path", HOT)
def test_not_modified_costs_two_queries_at_most_in_a_cold_process(bot: Api, path: str) -> None:
    etag = bot.get(path)["ETag"]
    lru.clear_all()
    with queries(2 if path.startswith("/skills") and "/files/" not in path else 1):
        assert bot.get(path, headers={"If-None-Match": etag}).status_code == 304


def test_several_reads_share_one_catalog_query(bot: Api) -> None:
    lru.clear_all()
    bot.get("/catalog")
    bot.get("/catalog?q=other")  # reads the skills that the routing index does not know yet
    for path in ("/effective", "/diagnostics", "/catalog?q=own", "/catalog?format=xml"):
        with queries(1):
            assert bot.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/catalog?q=own", "/catalog?for=own"])
def test_a_search_is_cached_like_the_catalog(bot: Api, path: str) -> None:
    bot.get(path)
    with queries(1):
        assert bot.get(path).status_code == 200


def test_a_warm_question_costs_two_queries(bot: Api) -> None:
    body = {"query": "own", "threshold": 0}
    first = bot.send("POST", "/route", body).json()["matches"]
    with queries(2):
        assert bot.send("POST", "/route", body).json()["matches"] == first


WORKFLOW = b"""
id: own
version: 1.0.0
steps: [{id: a, uses: data.echo, input: {value: 1}}, {id: b, uses: text.trim, input: {text: x}}]
"""


@pytest.fixture
def run(bot: Api, project: Project, operator: Actor, api: Callable[..., Api]) -> str:
    """Return the path of a run of the agent that has ended."""
    create_skill(project, skill_bundle("flow", {"workflow.yaml": WORKFLOW}), by=operator)
    started = api("read", "run").send("POST", "/runs", {"skill": "flow"}).json()
    finish(RunWorker(poll_seconds=0))
    return f"/runs/{started['id']}"


def test_a_run_costs_six_queries_and_an_unchanged_one_two(bot: Api, run: str) -> None:
    with queries(6):
        etag = bot.get(run)["ETag"]
    with queries(2):
        assert bot.get(run, headers={"If-None-Match": etag}).status_code == 304


def test_the_start_of_a_run_costs_fifteen_queries(api: Callable[..., Api], run: str) -> None:
    starter = api("read", "run")
    for _ in range(2):
        with queries(15):
            assert starter.send("POST", "/runs", {"skill": "flow"}).status_code == 202


@pytest.mark.parametrize("path", ["/skills/nothing", "/skills/own/files/missing.txt", "/skills/own?version=9"])
def test_a_404_costs_at_most_three_queries(bot: Api, path: str) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert bot.get(path).status_code == 404
    assert len(captured) <= 3


def test_a_refused_caller_costs_at_most_one_query(bot: Api, project: Project) -> None:
    with queries(0):
        Api(project, "").get("/catalog")
    with queries(1):
        Api(project, "sks_unknown").get("/catalog")


@pytest.mark.slow
def test_queries_do_not_grow_with_the_number_of_skills(
    project: Project, library: Path, operator: Actor, api: Callable[..., Api]
) -> None:
    bot = api("read", "write")

    def cost() -> list[int]:
        lru.clear_all()
        counts = []
        for path in ("/catalog", "/effective", "/diagnostics", "/skills/skill-00", "/skills/skill-00/versions"):
            with CaptureQueriesContext(connection) as captured:
                assert bot.get(path).status_code == 200
            counts.append(len(captured))
        return counts

    for number in range(5):
        create_skill(project, skill_bundle(f"skill-{number:02}"), by=operator)
    before = cost()
    for number in range(5, 20):
        create_skill(project, skill_bundle(f"skill-{number:02}"), by=operator)
    assert cost() == before
    assert len(bot.get("/catalog").json()["skills"]) == 20


def test_a_warm_load_reads_no_disk_and_no_storage(bot: Api, library: Path, blob_directory: Path) -> None:
    paths = ["/skills/own", "/skills/bundled", "/skills/own/files/a.txt", "/skills/bundled/files/a.txt", "/catalog"]
    before = [bot.get(path).content for path in paths]
    shutil.rmtree(library)
    shutil.rmtree(blob_directory)
    assert [bot.get(path).content for path in paths] == before


def test_a_built_in_skill_is_loaded_from_memory_the_first_time_too(bot: Api, library: Path) -> None:
    bot.get("/catalog")
    shutil.rmtree(library)
    assert bot.get("/skills/bundled").status_code == 200
