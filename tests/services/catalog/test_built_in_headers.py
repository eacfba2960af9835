"""Headers of built-in skills are stored by content, so a new process need not parse them, and a change is seen."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.core.limits import DEFAULT
from registry.lib.derived_store import DerivedStore
from registry.services.catalog import built_in_headers
from tests.conftest import on_disk, skill_text
from tests.services.catalog.indexes import look

pytestmark = pytest.mark.one_database


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Any) -> Path:
    settings.SKILLSITE_DATA, settings.DATABASE_URL = tmp_path / "data", ""
    return tmp_path / "data" / "built_in" / "headers.sqlite3"


def stored_rows(data: Path) -> int:
    with closing(sqlite3.connect(data)) as database:
        return int(database.execute("SELECT count(*) FROM derived").fetchone()[0])


def test_a_stored_header_gives_the_same_skill(library: Path, data: Path) -> None:
    on_disk(library, "walrus-care", tags=["sea", "food"], triggers=["feed a walrus"], kind="knowledge")
    first = look(library)
    assert stored_rows(data) == 1
    second = look(library)
    assert second.candidates == first.candidates
    assert second.fingerprint == first.fingerprint
    assert stored_rows(data) == 1


def read(content: bytes) -> built_in_headers.Header:
    return built_in_headers.read_each({1: ("walrus-care", content)}, DEFAULT, refused=_never)[1]


def test_a_stored_header_is_used_instead_of_the_content(data: Path) -> None:
    content = skill_text("walrus-care").encode()
    made = read(content)
    store = DerivedStore(data, most_bytes=1 << 20)
    with closing(sqlite3.connect(data)) as database:
        ((key, value),) = database.execute("SELECT key, value FROM derived")
    store.put({key: json.dumps({**json.loads(value), "tokens": 77}).encode()})
    assert read(content) == replace(made, tokens=77)


@pytest.mark.parametrize("value", [b"", b"[]", b"{}", b'{"tags": 1}', b"\xff"])
def test_a_stored_value_that_is_no_header_is_replaced(data: Path, value: bytes) -> None:
    content = skill_text("walrus-care").encode()
    made = read(content)
    with closing(sqlite3.connect(data)) as database:
        ((key,),) = database.execute("SELECT key FROM derived")
    DerivedStore(data, most_bytes=1 << 20).put({key: value})
    assert read(content) == made


def test_equal_files_in_folders_of_other_names_are_different_skills(library: Path) -> None:
    text = "---\ndescription: Takes care of a walrus.\n---\nFeed it.\n"
    for name in ("first", "second"):
        (library / name).mkdir()
        (library / name / "SKILL.md").write_text(text)
    assert sorted(look(library).skills) == sorted(look(library).skills) == ["first", "second"]


def test_a_header_that_cannot_be_read_is_reported_each_time(library: Path, data: Path) -> None:
    (library / "broken").mkdir()
    (library / "broken" / "SKILL.md").write_text("no header")
    on_disk(library, "walrus-care")
    for _ in range(2):
        found = look(library)
        assert sorted(found.skills) == ["walrus-care"]
        assert [problem.name for problem in found.diagnostics] == ["broken"]
    assert stored_rows(data) == 1


def test_without_a_place_to_store_headers_skills_are_read(library: Path, data: Path) -> None:
    data.parent.parent.mkdir()
    data.parent.write_bytes(b"")
    on_disk(library, "walrus-care")
    assert sorted(look(library).skills) == ["walrus-care"]


def _never(where: int, error: Exception) -> None:
    raise AssertionError(error)
