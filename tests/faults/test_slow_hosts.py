"""Requests that wait for slow hosts, against a running site: they never stall those that do not."""

import json
import statistics
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.conftest import skill_text
from tests.faults.process_pool import process_pool
from tests.faults.sites import PATIENCE, Site, new_site, serving, wait_for
from tests.remote.web import Web
from tests.services.receivers import dripping, receiving

pytestmark = [pytest.mark.races, pytest.mark.one_database]

READS = 40
# A read that waits for a download takes half a minute, thousands of times as long as usual. A busy machine slows both
# measurements down.
MOST_TIMES = 10


@dataclass
class Agent:
    """A caller with a token. `answers` are the statuses, headers and bodies of its requests."""

    site: Site
    token: str
    answers: list[tuple[int, Any, Any]] = field(default_factory=list)

    def send(self, path: str, body: object = None) -> tuple[int, Any, Any]:
        request = urllib.request.Request(
            self.site.url(f"/api/v1/projects/demo{path}"),
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.headers, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, error.headers, json.loads(error.read())

    def resolve(self, *definitions: dict[str, str]) -> None:
        self.answers.append(self.send("/resolve", {"skills": list(definitions)}))

    def read_seconds(self) -> float:
        """Return the median time to read the catalog."""
        taken = []
        for _ in range(READS):
            started = time.monotonic()
            assert self.send("/catalog")[0] == 200
            taken.append(time.monotonic() - started)
        return statistics.median(taken)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, template: str) -> Iterator[tuple[Site, Web, list[str]]]:
    """A site, a host that it may fetch from, and the tokens of a person and of two agents."""
    with new_site(tmp_path_factory.mktemp("slow-hosts") / "site", template=template) as site, receiving() as receiver:
        person = ("--user", "owner", "--scope", "read", "--scope", "write")
        with process_pool(site, 1) as helper:
            helper.do("manage", "load_demo")
            tokens = [helper.do("manage", "create_token", "--project", "demo", *person).split()[-1]]
            tokens += [str(helper.do("make_token", "demo", "read")) for _ in range(2)]
        with serving(site, "--no-prepare", "--no-worker", SKILLS_FETCH_ALLOW_HOSTS=receiver.host):
            yield site, Web(receiver), tokens


@pytest.fixture
def web(served: tuple[Site, Web, list[str]]) -> Web:
    """The host, which has not been asked yet and drips until a test releases it."""
    web = served[1]
    web.receiver.released.clear()
    web.receiver.got.clear()
    return web


@pytest.fixture
def agents(served: tuple[Site, Web, list[str]]) -> list[Agent]:
    return [Agent(served[0], token) for token in served[2][1:]]


@pytest.fixture
def author(served: tuple[Site, Web, list[str]]) -> Agent:
    return Agent(served[0], served[2][0])


def test_reads_are_as_fast_as_ever_while_searches_of_sources_drip(author: Agent, web: Web) -> None:
    """Everybody can have a project, and with it a source that answers slowly."""
    url = web.behave("/slow.zip", dripping(web.receiver))
    status, _, source = author.send("/sources", {"kind": "url", "address": url})
    assert status == 201, source
    before = author.read_seconds()
    search = f"/sources/{source['id']}/search"
    threads = [
        threading.Thread(target=lambda: author.answers.append(author.send(search, {"q": "slow"}))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(web.asked) + len(author.answers) >= len(threads))
    waiting = [thread for thread in threads if thread.is_alive()]
    assert waiting
    during = author.read_seconds()
    assert all(thread.is_alive() for thread in waiting), "the searches did not end before the measurement"
    assert during < MOST_TIMES * before, f"{during / before:.1f} times as long"
    refused = [body for status, _, body in author.answers if status == 503]
    assert refused
    assert {body["code"] for body in refused} == {"busy"}
    web.receiver.released.set()
    for thread in threads:
        thread.join(PATIENCE)


def test_reads_are_as_fast_as_ever_while_resolves_drip(agents: list[Agent], web: Web) -> None:
    """Two tokens with two requests each, as many as the site once had threads."""
    url = web.behave("/slow.md", dripping(web.receiver))
    cached = {"name": "text", "version": "1", "content": skill_text("text")}
    before = agents[0].read_seconds()
    threads = [
        threading.Thread(target=agent.resolve, args=({"name": f"slow-{number}", "version": "1", "url": url},))
        for number, agent in enumerate([*agents, *agents])
    ]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(web.asked) + sum(len(agent.answers) for agent in agents) == len(threads))
    dripping_now = [thread for thread in threads if thread.is_alive()]
    assert dripping_now

    during = agents[0].read_seconds()
    status, _, body = agents[1].send("/resolve", {"skills": [cached]})
    assert (status, body["skills"][0]["status"]) == (200, "loaded")
    assert all(thread.is_alive() for thread in dripping_now), "the downloads did not end before the measurement"
    assert during < MOST_TIMES * before, f"{during / before:.1f} times as long"

    web.receiver.released.set()
    for thread in threads:
        thread.join(PATIENCE)
    for status, headers, body in (answer for agent in agents for answer in agent.answers):
        assert status in (200, 429, 503), body
        if status != 200:
            assert body["code"] == ("rate-limited" if status == 429 else "busy")
            assert headers["Retry-After"] == str(body["retry_after"])
