"""Records of cached skills."""

import json
from pathlib import Path

from registry.core.bundle import SKILL_MD
from registry.remote import cache_cleanup, cache_records
from registry.remote.cache import Cache
from registry.remote.cache_records import Record, Records
from tests.conftest import skill_bundle
from tests.remote.cached import WEB, records_of


def test_cleaning_removes_only_records_of_removed_content(cache: Cache, root: Path) -> None:
    bundle = skill_bundle("a")
    cache.keep("a", "1", bundle, origin=WEB)
    (current,) = records_of(root)
    old = Records(root / "skills" / "a", "1").write(Record(WEB, skill_bundle("a", body="old").digest, "d", 1))
    cache_cleanup.clean(root, clock=lambda: 4e9)
    assert not old.exists()
    assert records_of(root) == [current]
    found = cache.find("a", "1")
    assert found is not None
    assert found.origin == WEB


def test_cleaning_keeps_the_records_of_a_copy_that_was_changed_on_disk(cache: Cache, root: Path) -> None:
    """Without records it would count as placed by hand, and would be served."""
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    (root / "skills" / "a" / "1" / SKILL_MD).write_bytes(skill_bundle("a", body="changed")[SKILL_MD])
    cache_cleanup.clean(root, clock=lambda: 4e9)
    assert cache.find("a", "1") is None


def test_a_record_names_the_size_and_the_owner(root: Path) -> None:
    bundle = skill_bundle("a", {"big.bin": b"x" * 100_000})
    Cache(root, by="7").keep("a", "1", bundle, origin=WEB)
    record = Records(root / "skills" / "a", "1").newest()
    assert record is not None
    assert (record.size, record.by) == (100_000 + len(bundle[SKILL_MD]) + 2 * 4096, "7")


def test_a_cached_skill_with_an_unreadable_record_is_not_served(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    (record,) = records_of(root)
    wrong_type = record.read_bytes().replace(WEB.encode(), b"5").replace(b'"5"', b"5")
    assert json.loads(wrong_type)["origin"] == 5
    for nonsense in (b"", b"{", b"[]", b"{}", b'{"origin": 1}', b"[" * 100_000, b'{"a":' * 100_000, wrong_type):
        record.write_bytes(nonsense)
        assert cache.find("a", "1") is None


def test_a_cached_skill_with_a_record_of_other_bytes_is_not_served(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    (record,) = records_of(root)
    said = record.read_text().replace("sha256:", "sha256:0")
    record.write_text(said)
    assert cache.find("a", "1") is None
    assert cache_records.RECORDS in str(record)
