"""The byte budget of a request: what its downloads may transfer, write and hold in memory."""

import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.limits import MIB
from registry.remote import budget, download
from registry.remote.budget import Budget, Exceeded
from tests import effort
from tests.conftest import skill_text
from tests.remote.conftest import PATIENT, Buckets, Resolve, storage
from tests.remote.entries import entry
from tests.remote.web import Web, zipped
from tests.services.receivers import endless


def written(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def large(web: Web, size: int, count: int) -> list[dict[str, Any]]:
    """Return definitions of different skills that are all the same zip, with `size` bytes of files."""
    url = web.put("/a.zip", zipped({SKILL_MD: skill_text("a"), "data.bin": bytes(range(256)) * (size // 256)}))
    return [entry(url, version=str(number)) for number in range(count)]


def test_a_small_request_cannot_fill_the_disk(resolve: Resolve, web: Web, root: Path) -> None:
    """The skills that fit are stored. The others are skipped with the number and the fix."""
    results = resolve(*large(web, 2 * MIB, 20), bounds=replace(PATIENT, bytes=7 * MIB, at_once=1))
    loaded = [one for one in results if one.status == "loaded"]
    assert len(loaded) == 3
    assert written(root) < 7 * MIB
    reasons = {one.reason for one in results if one.status == "skipped"}
    assert len(reasons) == 1
    assert "more than 7,340,032 bytes in sum" in reasons.pop()


def test_a_request_holds_one_large_bundle_at_a_time(
    resolve: Resolve, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server sends from this process, so its copies of the body count too."""
    monkeypatch.setattr(budget, "SMALL_BYTES", 64 * 1024)
    definitions = large(web, 8 * MIB, 8)
    tracemalloc.start()
    try:
        results = resolve(*definitions, bounds=replace(PATIENT, bytes=200 * MIB))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [one.status for one in results] == ["loaded"] * 8
    assert peak < 5 * 8 * MIB, f"{peak / MIB:.0f} MiB for eight bundles of 8 MiB"


def test_a_small_archive_is_unpacked_only_in_its_turn(web: Web) -> None:
    """A small zip may unpack to the largest allowed bundle."""
    url, shared = web.put("/a.zip", zipped({SKILL_MD: skill_text("a")})), Budget(MIB)
    with shared.download() as metered:
        download.fetch(url, seconds=PATIENT.each, allowed=web.allowed, metered=metered)
        assert shared._large.locked()
    assert not shared._large.locked()


def test_endless_bodies_end_at_the_budget(resolve: Resolve, web: Web, root: Path) -> None:
    url = web.behave("/a.zip", endless(web.receiver))
    results = resolve(*(entry(url, version=str(n)) for n in range(4)), bounds=replace(PATIENT, bytes=1 * MIB))
    assert {one.status for one in results} == {"skipped"}
    assert all("1,048,576 bytes in sum" in one.reason for one in results)
    assert written(root) == 0


def test_files_in_s3_count_as_they_arrive(resolve: Resolve, buckets: Buckets, root: Path) -> None:
    files = {"skills/a/SKILL.md": skill_text("a").encode(), "skills/a/data.bin": b"x" * MIB}
    buckets.put("b-1", files)
    definition = entry(s3_path="s3://b-1/skills/a")
    (found,) = resolve(definition, storage=storage(buckets), bounds=replace(PATIENT, bytes=MIB // 2))
    assert "524,288 bytes in sum" in found.reason
    assert written(root) == 0


def test_large_downloads_take_turns_and_small_ones_do_not_wait() -> None:
    shared = Budget(100 * MIB)
    inside, second_waits = threading.Event(), threading.Event()
    order = []

    def second() -> None:
        with shared.download() as metered:
            metered.count(1_000)
            second_waits.set()
            metered.count(budget.SMALL_BYTES)
            order.append("second")

    with shared.download() as first:
        first.count(budget.SMALL_BYTES + 1)
        thread = threading.Thread(target=second)
        thread.start()
        assert second_waits.wait(effort.PATIENCE)
        order.append("first")
        inside.set()
    thread.join(effort.PATIENCE)
    assert order == ["first", "second"]


def test_arrived_and_unpacked_bytes_have_the_same_limit() -> None:
    shared = Budget(10)
    with shared.download() as metered:
        metered.count(10)
        with pytest.raises(Exceeded):
            metered.count(1)
    shared.unpacked(10)
    with pytest.raises(Exceeded, match="10 bytes in sum"):
        shared.unpacked(1)
