"""Admission of requests that download: none of them can stall the site, and cached skills are always answered."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from registry.core.errors import Busy, RateLimited
from registry.models import Project
from registry.services.permissions import Actor
from registry.services.resolve import gate, resolver
from registry.services.resolve.gate import SiteGate
from skillsite import settings as settings_module
from tests import effort
from tests.conftest import skill_text
from tests.faults.sites import wait_for
from tests.remote.conftest import PATIENT
from tests.remote.web import Web
from tests.services.receivers import answering, hanging
from tests.services.resolving import volume, web

__all__ = ["volume", "web"]


@pytest.fixture(autouse=True)
def threads(settings: Any) -> Iterator[None]:
    settings.RESOLVE_DOWNLOADS = 3
    gate.use_own_threads(6)
    yield
    gate.use_own_threads(0)
    assert (gate._blocked, dict(gate._fetching)) == (0, {})


def test_some_threads_never_wait_and_fewer_download(settings: Any) -> None:
    assert (gate.most_blocked(), gate.most_fetching()) == (4, 3)
    gate.use_own_threads(2)
    assert (gate.most_blocked(), gate.most_fetching()) == (1, 1)


def test_at_most_half_of_shared_threads_wait(settings: Any) -> None:
    gate.use_own_threads(0)
    settings.WEB_THREADS = 8
    assert gate.most_blocked() == 4
    settings.WEB_THREADS = 1
    assert gate.most_blocked() == 1


def test_at_most_half_of_the_shared_threads_wait_for_sources(settings: Any, tmp_path: Path) -> None:
    settings.WEB_THREADS = 4
    with gate.shared_thread(), gate.shared_thread():
        with pytest.raises(Busy, match="Nothing was saved") as refused, gate.shared_thread():
            pass
        assert refused.value.data["retry_after"] == 5
        with SiteGate(tmp_path, 1).fetching():
            pass
        gate.use_own_threads(0)
        with pytest.raises(Busy), SiteGate(tmp_path, 1).fetching():
            pass
    with gate.shared_thread():
        pass


def test_more_downloads_than_places_are_refused_at_once(tmp_path: Path) -> None:
    with ExitStack() as stack:
        for token in (1, 2, 3):
            stack.enter_context(SiteGate(tmp_path, token).fetching())
        with pytest.raises(Busy, match="Try again in 5 seconds") as refused, SiteGate(tmp_path, 4).fetching():
            pass
        assert refused.value.data["retry_after"] == 5
        with SiteGate(tmp_path, 4).waiting(), pytest.raises(Busy), SiteGate(tmp_path, 5).waiting():
            pass
    with SiteGate(tmp_path, 4).fetching():
        pass


def test_one_token_never_takes_every_place(tmp_path: Path) -> None:
    with SiteGate(tmp_path, 1).fetching(), SiteGate(tmp_path, 1).fetching():
        with pytest.raises(RateLimited, match="This token already has downloads"), SiteGate(tmp_path, 1).fetching():
            pass
        with SiteGate(tmp_path, 2).fetching():
            pass
    with SiteGate(tmp_path, 1).fetching():
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_token_leaves_a_place_free_also_if_there_are_only_two(tmp_path: Path, settings: Any) -> None:
    settings.RESOLVE_DOWNLOADS = 2
    with SiteGate(tmp_path, 1).fetching():
        with pytest.raises(RateLimited), SiteGate(tmp_path, 1).fetching():
            pass
        with SiteGate(tmp_path, 2).fetching():
            pass


def test_downloads_of_a_token_are_counted_across_processes(tmp_path: Path) -> None:
    """Files on the shared volume stand for the downloads of other processes."""
    for number in range(gate.PER_TOKEN):
        (tmp_path / f"1-{number}").touch()
    with pytest.raises(RateLimited), SiteGate(tmp_path, 1).fetching():
        pass
    with SiteGate(tmp_path, 2).fetching():
        pass


def test_a_slow_host_occupies_a_place_while_it_is_asked(
    web: Web, volume: Path, project: Project, operator: Actor
) -> None:
    slow = {"name": "slow", "version": "1", "url": web.behave("/slow.md", hanging(web.receiver))}
    inside: list[str] = []

    def work() -> None:
        found = resolver.resolve(project, [slow], token_id=7, bounds=PATIENT, by=operator)
        inside.extend(one.reason for one in found)

    worker = threading.Thread(target=work)
    worker.start()
    assert web.receiver.arrived.wait(effort.PATIENCE)
    turns = resolver.root("demo") / ".turns"
    assert [path.name for path in turns.iterdir()] == ["7-0"]
    web.receiver.released.set()  # The server closes the connection without an answer.
    worker.join()
    assert "connection" in inside[0]
    assert list(turns.iterdir()) == []


@pytest.fixture
def full(tmp_path: Path) -> Iterator[None]:
    """No place is free, for any token."""
    with ExitStack() as stack:
        for token in (101, 102, 103):
            stack.enter_context(SiteGate(tmp_path / "slots", token).fetching())
        stack.enter_context(SiteGate(tmp_path / "slots", 104).waiting())
        yield


def test_cached_skills_and_texts_are_resolved_while_no_place_is_free(
    web: Web, volume: Path, project: Project, operator: Actor, request: pytest.FixtureRequest
) -> None:
    definition = {"name": "a", "version": "1", "url": web.put("/a.md", skill_text("a"))}
    text = {"name": "b", "version": "1", "content": skill_text("b")}

    def resolve(*entries: dict[str, str]) -> list[str]:
        return [one.status for one in resolver.resolve(project, entries, token_id=7, by=operator)]

    assert resolve(definition) == ["loaded"]
    request.getfixturevalue("full")
    for _ in range(40):
        assert resolve(definition, text) == ["cached", "loaded"]
    with pytest.raises(Busy):
        resolve(definition, {**definition, "version": "2"})


def test_forty_requests_for_cached_skills_at_the_same_moment_are_all_answered(
    web: Web, volume: Path, project: Project, operator: Actor
) -> None:
    definition = {"name": "a", "version": "1", "url": web.put("/a.md", skill_text("a"))}
    resolver.resolve(project, [definition], token_id=7, by=operator)
    together = threading.Barrier(8)
    statuses: list[str] = []

    def work() -> None:
        together.wait(effort.PATIENCE)
        for _ in range(5):
            statuses.extend(one.status for one in resolver.resolve(project, [definition], token_id=7, by=operator))

    _in_threads(work, 8)
    assert statuses == ["cached"] * 40


def test_pods_that_start_together_share_one_download(web: Web, volume: Path, project: Project, operator: Actor) -> None:
    """Four requests with one token for the same skill: one downloads, three wait for it, none is refused."""
    definition = {"name": "a", "version": "1", "url": web.behave("/a.md", hanging(web.receiver))}
    results: list[Any] = []

    def work() -> None:
        results.extend(resolver.resolve(project, [definition], token_id=7, bounds=PATIENT, by=operator))

    first = threading.Thread(target=work)
    first.start()
    assert web.receiver.arrived.wait(effort.PATIENCE)
    others = [threading.Thread(target=work) for _ in range(3)]
    for thread in others:
        thread.start()
    wait_for(lambda: gate._blocked == 4)
    web.receiver.released.set()
    for thread in (first, *others):
        thread.join(effort.PATIENCE)
    assert len(results) == 4
    assert len(web.asked) == 1


def test_pods_that_ask_for_a_new_skill_at_the_same_moment_are_all_answered(
    web: Web, volume: Path, project: Project, operator: Actor
) -> None:
    """Eight requests with one token, none of which finds the download of another one when it looks at the cache."""
    gate.use_own_threads(settings_module.RESOLVE_THREADS)
    all_wait = threading.Event()

    def answer(handler: Any) -> None:
        assert all_wait.wait(effort.PATIENCE)
        answering(200, skill_text("a").encode())(handler)

    definition = {"name": "a", "version": "1", "url": web.behave("/a.md", answer)}
    together = threading.Barrier(8)
    results: list[str] = []
    refused: list[Exception] = []

    def work() -> None:
        together.wait(effort.PATIENCE)
        try:
            found = resolver.resolve(project, [definition], token_id=7, bounds=PATIENT, by=operator)
            results.extend(one.status for one in found)
        except (Busy, RateLimited) as error:
            refused.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    wait_for(lambda: gate._blocked + len(refused) == 8)
    all_wait.set()
    for thread in threads:
        thread.join(effort.PATIENCE)
    assert refused == []
    assert sorted(results) == ["cached"] * 7 + ["loaded"]
    assert len(web.asked) == 1


def _in_threads(work: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(effort.PATIENCE)
