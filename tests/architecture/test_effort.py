"""The daily examples of Hypothesis are the same in every run."""

import importlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

_CONSTANT = 7_919_104_729


def _examples() -> list[int]:
    drawn: list[int] = []

    @settings(max_examples=200, derandomize=True, database=None)
    @given(st.integers())
    def draw(number: int) -> None:
        drawn.append(number)

    draw()
    return drawn


def test_examples_do_not_depend_on_the_imported_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _examples()
    (tmp_path / "imported_meanwhile.py").write_text(f"NUMBERS = {[_CONSTANT + step for step in range(50)]}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("imported_meanwhile")
    assert _examples() == before
