"""Records of cached skills."""

import os
from pathlib import Path

from registry.remote import cache_cleanup, cache_records
from registry.remote.cache import INLINE, Cache
from tests.conftest import skill_bundle
from tests.remote.cached import WEB, records_of


def test_records_of_replaced_texts_expire(cache: Cache, root: Path) -> None:
    cache.rewrite("a", "1", skill_bundle("a", body="one"))
    (old,) = records_of(root)
    cache.rewrite("a", "1", skill_bundle("a", body="two"))
    assert len(records_of(root)) == 2
    os.utime(old, (0, 0))
    cache.rewrite("a", "1", skill_bundle("a", body="two"))
    (new,) = records_of(root)
    assert new != old


def test_cleaning_removes_only_records_of_removed_content(cache: Cache, root: Path) -> None:
    cache.rewrite("a", "1", skill_bundle("a", body="one"))
    cache.rewrite("a", "1", skill_bundle("a", body="two"))
    assert len(records_of(root)) == 2
    cache_cleanup.clean(root, clock=lambda: 4e9)
    assert len(records_of(root)) == 1
    found = cache.find("a", "1")
    assert found is not None
    assert found.origin == INLINE


def test_a_cached_skill_with_an_unreadable_record_is_not_served(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    (record,) = records_of(root)
    for nonsense in (b"", b"{", b"[]", b"{}", b'{"origin": 1}'):
        record.write_bytes(nonsense)
        assert cache.find("a", "1") is None


def test_a_cached_skill_with_a_record_of_other_bytes_is_not_served(cache: Cache, root: Path) -> None:
    cache.keep("a", "1", skill_bundle("a"), origin=WEB)
    (record,) = records_of(root)
    said = record.read_text().replace("sha256:", "sha256:0")
    record.write_text(said)
    assert cache.find("a", "1") is None
    assert cache_records.RECORDS in str(record)
