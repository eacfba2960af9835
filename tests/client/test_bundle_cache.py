"""The client's cache of whole skills: one layout and one record format with the resolver, and no copy is replaced."""

import json
from pathlib import Path

import pytest

from registry.client.bundle_cache import BundleCache
from registry.core.bundle import SKILL_MD, Bundle
from registry.remote import resolver
from registry.remote.cache import Cache
from registry.remote.quota import Quota
from tests.conftest import skill_bundle, skill_text
from tests.directories import read_files

SITE, OTHER = "https://skills.example.org/projects/demo", "https://other.example.org/projects/demo"


@pytest.fixture
def cache(tmp_path: Path) -> BundleCache:
    return BundleCache(tmp_path, origin=SITE)


def test_a_copy_is_stored_with_the_record_of_the_resolver(cache: BundleCache, tmp_path: Path) -> None:
    bundle = skill_bundle("a", {"x.bin": bytes(range(256))})
    assert cache.put("a", "1", bundle) == tmp_path / "skills" / "a" / "1"
    assert cache.get("a", "1", bundle.digest) == bundle
    (record,) = (tmp_path / "skills" / "a" / ".records" / "1").iterdir()
    fields = json.loads(record.read_text())
    assert (fields["origin"], fields["digest"]) == (SITE, bundle.digest)
    found = Cache(tmp_path).find("a", "1")
    assert found is not None
    assert (found.origin, found.digest) == (SITE, bundle.digest)


def test_a_copy_of_another_origin_is_neither_used_nor_replaced(cache: BundleCache, tmp_path: Path) -> None:
    theirs, mine = skill_bundle("a", body="theirs"), skill_bundle("a", body="mine")
    other = BundleCache(tmp_path, origin=OTHER)
    other.put("a", "1", theirs)
    assert cache.get("a", "1", theirs.digest) is None
    directory = cache.put("a", "1", mine)
    assert read_files(directory) == dict(mine)
    assert directory == cache.directory("a", "1", mine.digest) != tmp_path / "skills" / "a" / "1"
    assert cache.get("a", "1", mine.digest) == mine
    assert other.get("a", "1", theirs.digest) == theirs
    assert read_files(tmp_path / "skills" / "a" / "1") == dict(theirs)


def test_a_copy_of_the_resolver_is_neither_used_nor_replaced(cache: BundleCache, tmp_path: Path) -> None:
    text = skill_text("a", body="from the web")
    resolved = Cache(tmp_path).keep("a", "1", Bundle({SKILL_MD: text.encode()}), origin="https://example.org/a.md")
    mine = skill_bundle("a", body="mine")
    assert read_files(cache.put("a", "1", mine)) == dict(mine)
    assert read_files(resolved.directory) == {SKILL_MD: text.encode()}
    definition = {"name": "a", "version": "1", "url": "https://example.org/a.md"}
    (found,) = resolver.resolve([definition], root=tmp_path, online=False)
    assert (found.status, found.digest) == ("cached", resolved.digest)


def test_the_resolver_does_not_use_a_copy_of_the_client(cache: BundleCache, tmp_path: Path) -> None:
    cache.put("a", "1", skill_bundle("a"))
    (found,) = resolver.resolve([{"name": "a", "version": "1", "url": "https://example.org/a.md"}], root=tmp_path)
    assert found.status == "skipped"
    assert f"already cached from {SITE}" in found.reason


def test_new_content_of_one_version_does_not_replace_the_old(cache: BundleCache, tmp_path: Path) -> None:
    """A site that was set up again may reuse a version."""
    one, two = skill_bundle("a", body="one"), skill_bundle("a", body="two")
    first, second = cache.put("a", "1", one), cache.put("a", "1", two)
    assert (read_files(first), read_files(second)) == (dict(one), dict(two))
    assert cache.get("a", "1", one.digest) == one
    assert cache.get("a", "1", two.digest) == two


def test_a_copy_placed_by_hand_is_used_if_its_digest_matches(cache: BundleCache, tmp_path: Path) -> None:
    bundle = skill_bundle("a")
    directory = tmp_path / "skills" / "a" / "1"
    directory.mkdir(parents=True)
    (directory / SKILL_MD).write_bytes(bundle[SKILL_MD])
    assert cache.get("a", "1", bundle.digest) == bundle
    assert cache.get("a", "1", skill_bundle("a", body="other").digest) is None


def test_a_skill_that_this_client_cannot_parse_is_stored_too(cache: BundleCache) -> None:
    odd = Bundle({SKILL_MD: b"no header"})
    cache.put("a", "1", odd)
    assert cache.get("a", "1", odd.digest) == odd


def test_copies_of_clients_do_not_count_against_a_token(cache: BundleCache, tmp_path: Path) -> None:
    cache.put("a", "1", skill_bundle("a"))
    Quota(tmp_path, "7", most=10**9, each=1).check()
