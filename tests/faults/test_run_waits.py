"""Agents that wait for runs, against a running site: they never stall other requests, and learn of the end at once."""

import json
import statistics
import threading
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from registry.services.workflows.run_watch import PER_TOKEN
from tests.conftest import on_disk
from tests.faults.process_pool import process_pool
from tests.faults.sites import PATIENCE, Server, Site, new_site, serving, wait_for

pytestmark = [pytest.mark.races, pytest.mark.one_database]

READS = 20
MOST_TIMES = 10  # a read behind all waits would take thousands of times as long
AGENTS = 3
REFUSED = "in 5 seconds"
FLOW = b"id: flow\nversion: 1.0.0\nsteps:\n  - id: echo\n    uses: data.echo\n    input: {value: 1}\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, template: str) -> Iterator[tuple[Site, list[str]]]:
    """A site with a workflow, and the tokens of some agents."""
    with new_site(tmp_path_factory.mktemp("run-waits") / "site", template=template) as site:
        on_disk(site.directory / "library", "flow", {"workflow.yaml": FLOW})
        with process_pool(site, 1) as helper:
            helper.do("manage", "load_demo")
            scopes = ("--scope", "read", "--scope", "run")
            create = ("manage", "create_token", "--project", "demo")
            tokens = [helper.do(*create, "--agent", f"agent-{n}", *scopes).split()[-1] for n in range(AGENTS)]
        yield site, tokens


@pytest.fixture
def server(prepared: tuple[Site, list[str]]) -> Iterator[Server]:
    """The web server of the site. Without a worker, runs stay queued."""
    with serving(prepared[0], "--no-prepare", "--no-worker") as server:
        yield server


def call(site: Site, token: str, tool: str, **arguments: Any) -> Any:
    """Call a tool as a client of an older revision does: without headers about the message."""
    params = {"name": tool, "arguments": arguments}
    request = urllib.request.Request(
        site.url("/mcp"),
        data=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())["result"]["structuredContent"]


def read_seconds(site: Site, token: str) -> float:
    """Return the median time to list the runs."""
    taken = []
    for _ in range(READS):
        started = time.monotonic()
        assert call(site, token, "list_runs")["ok"]
        taken.append(time.monotonic() - started)
    return statistics.median(taken)


def test_reads_are_as_fast_as_ever_while_agents_wait(prepared: tuple[Site, list[str]], server: Server) -> None:
    site, tokens = prepared
    runs = {token: call(site, token, "start_run", skill="flow")["id"] for token in tokens}
    before = read_seconds(site, tokens[0])
    answers: list[Any] = []

    def wait(token: str) -> None:
        answer = {"state": "queued", "next": ""}
        while answer["state"] == "queued" and REFUSED not in answer["next"]:
            answer = call(site, token, "wait_for_run", id=runs[token])
        answers.append(answer)

    asking = [threading.Thread(target=wait, args=(token,)) for token in tokens * (PER_TOKEN + 1)]
    for thread in asking:
        thread.start()
    places = AGENTS * PER_TOKEN  # many times as many as the site has threads
    wait_for(lambda: len(answers) == len(asking) - places)
    assert all(REFUSED in answer["next"] for answer in answers), "the others are answered at once"

    during = read_seconds(site, tokens[0])
    assert len(answers) == len(asking) - places, "the waits did not end before the measurement"
    assert during < MOST_TIMES * before, f"{during / before:.1f} times as long"

    worker = site.popen("manage.py", "worker")
    try:
        for thread in asking:
            thread.join(PATIENCE)
    finally:
        worker.terminate()
        worker.communicate(timeout=PATIENCE)
    assert [answer["state"] for answer in answers[-places:]] == ["completed"] * places


def test_a_server_that_ends_answers_those_who_wait(prepared: tuple[Site, list[str]], server: Server) -> None:
    site, tokens = prepared
    run = call(site, tokens[0], "start_run", skill="flow")["id"]
    answers: list[Any] = []

    def wait() -> None:
        answers.append(call(site, tokens[0], "wait_for_run", id=run))

    threads = [threading.Thread(target=wait) for _ in range(PER_TOKEN + 1)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(answers) == 1)  # the one that has no place
    assert REFUSED in answers[0]["next"]
    assert server.stop() == 0
    for thread in threads:
        thread.join(PATIENCE)
    assert [answer["state"] for answer in answers] == ["queued"] * (PER_TOKEN + 1)
    assert "refused to gracefully stop" not in server.output
