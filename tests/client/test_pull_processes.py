"""Pulls that are killed, and concurrent pulls, with real processes and threads."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from registry.client import pull_plan
from registry.client.atomic_swap import exchange, put_in_place
from registry.client.lock import NAME as LOCK
from registry.client.pull import check, pull
from registry.services.catalog import built_in
from tests import effort
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.conftest import on_disk

pytestmark = pytest.mark.processes

COUNT = 24


@pytest.fixture
def write_library(library: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Save every skill of the site with this text, some of them with many files."""

    def write(text: str) -> None:
        for number in range(COUNT):
            more = {f"references/{part}.md": text.encode() * 50 for part in range(number % 7)}
            on_disk(library, f"skill-{number:02}", more, body=text)
        built_in.index().refresh()

    return write


def start(site: Between, token: str, cache: Path, target: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "registry.client", "pull", str(target)],
        env={
            "PATH": os.environ["PATH"],
            "SKILLSITE_URL": site.url,
            "SKILLSITE_PROJECT": "demo",
            "SKILLSITE_TOKEN": token,
            "SKILLSITE_CACHE": str(cache),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("after", [1, 9, 20])
def test_a_killed_pull_leaves_every_skill_intact(
    connect: Connect,
    site: Between,
    token: str,
    tmp_path: Path,
    target: Path,
    write_library: Callable[[str], None],
    after: int,
) -> None:
    write_library("first")
    client = connect()
    pull(client, target)
    old = {one.name: one.digest for one in client.effective().skills}
    write_library("second")
    new = {one.name: one.digest for one in client.effective().skills}
    assert not set(old.values()) & set(new.values())
    site.requests.clear()
    reached, killed = threading.Event(), threading.Event()

    def watch(between: Between, path: str, forward: Any) -> Reply | None:
        if len(between.transferred()) >= after:
            reached.set()
            killed.wait(effort.PATIENCE)  # So that the process cannot finish first.
        return None

    site.fault = watch
    process = start(site, token, tmp_path / "cache-of-the-killed", target)
    assert reached.wait(effort.PATIENCE)
    process.send_signal(signal.SIGKILL)
    assert process.wait(effort.PATIENCE) == -signal.SIGKILL
    killed.set()

    assert sorted(path.name for path in target.iterdir() if path.name[0] != ".") == sorted([*old, LOCK])
    for name in old:
        found = pull_plan.digests(target / name)
        assert found and found <= {old[name], new[name]}
    report = pull(client, target)
    assert report.complete and not check(client, target)
    assert sorted(path.name for path in target.iterdir()) == sorted([*new, LOCK])


def test_concurrent_pulls_run_one_after_the_other(
    connect: Connect, site: Between, token: str, cache: Path, target: Path, write_library: Callable[[str], None]
) -> None:
    write_library("first")
    told = threading.Event()

    def until_another_waits(between: Between, path: str, forward: Any) -> Reply | None:
        if "bundle.zip" in path:
            told.wait(effort.PATIENCE)
        return None

    site.fault = until_another_waits
    other = start(site, token, cache, target)
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda _: pull(connect(), target, waiting=told.set), range(4)))
    assert other.wait(effort.PATIENCE) == 0
    assert all(report.complete for report in reports)
    assert sum(len(report.done) for report in reports) in (0, COUNT)
    assert told.is_set()
    assert not check(connect(), target)
    assert not (target / ".skillsite").exists()


def test_a_swap_is_atomic(tmp_path: Path) -> None:
    target, fresh = tmp_path / "target", tmp_path / "fresh"
    for place in (target, fresh):
        place.mkdir()
        (place / "SKILL.md").write_text(place.name)
    stop, missing = threading.Event(), []

    def look() -> None:
        while not stop.is_set():
            try:
                (target / "SKILL.md").read_text()
            except FileNotFoundError:
                missing.append(1)

    looker = threading.Thread(target=look)
    looker.start()
    for _ in range(500):
        assert exchange(fresh, target)
    stop.set()
    looker.join()
    assert not missing


def test_a_system_without_a_swap_uses_two_renames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.client.atomic_swap._system_call", lambda: None)
    target, fresh = tmp_path / "target", tmp_path / "fresh"
    for place in (target, fresh):
        place.mkdir()
        (place / "SKILL.md").write_text(place.name)
    put_in_place(fresh, target)
    assert (target / "SKILL.md").read_text() == "fresh"
    assert (fresh / "SKILL.md").read_text() == "target"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "target"]
