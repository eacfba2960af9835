"""The encoder of a process: loaded once, and its absence explained."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from registry.services.routing import encoder

Corrupt = Callable[[bytes], bytes]


def test_switched_off(settings: Any) -> None:
    settings.ROUTING_EMBEDDINGS = False
    assert encoder.current() is None
    assert encoder.unavailable() == encoder.SWITCHED_OFF


def test_it_is_loaded_once() -> None:
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(lambda _: encoder.current(), range(8)))
    assert loaded[0] is not None
    assert all(one is loaded[0] for one in loaded)
    assert encoder.unavailable() == ""


def test_the_table_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "TABLE", tmp_path / "words.bin")
    assert encoder.current() is None
    assert encoder.unavailable() == encoder.MISSING


@pytest.mark.parametrize(
    "corrupt",
    [
        lambda table: table[: len(table) // 2],
        lambda table: table[:-1] + b"x",
        lambda table: b"",
        lambda table: b"PK" + table,
    ],
)
def test_the_table_is_damaged(
    corrupt: Corrupt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = tmp_path / "words.bin"
    damaged.write_bytes(corrupt(encoder.TABLE.read_bytes()))
    monkeypatch.setattr(encoder, "TABLE", damaged)
    with caplog.at_level(logging.WARNING):
        assert encoder.current() is None
    assert encoder.unavailable() == encoder.DAMAGED
    assert len(caplog.records) == 1


def test_a_table_that_is_a_directory_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "TABLE", tmp_path)
    assert encoder.unavailable() == encoder.DAMAGED


def test_threads_get_the_same_vectors() -> None:
    table = encoder.current()
    assert table is not None
    texts = ["reply to an angry customer", "my pod keeps restarting", "", "質問"]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: table.encode(texts), range(20)))
    assert all(np.array_equal(one, results[0]) for one in results)


def test_like_meanings_are_near() -> None:
    table = encoder.current()
    assert table is not None
    vectors = table.encode(
        ["answer an unhappy client", "reply to an angry customer", "the container crashes", "my pod keeps restarting"]
    )
    alike = vectors @ vectors.T
    assert alike[0, 1] > alike[0, 3] + 0.2
    assert alike[2, 3] > alike[2, 1] + 0.1
