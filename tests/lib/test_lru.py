"""LRU caches: order of eviction, bounds, and `clear_all`."""

from concurrent.futures import ThreadPoolExecutor

from registry.lib import lru
from registry.lib.lru import ByteCache, LruCache


def test_an_unknown_key_has_no_value() -> None:
    assert LruCache[str, int](2).get("a") is None


def test_the_least_recently_used_value_is_dropped_first() -> None:
    cache = LruCache[str, int](2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]


def test_values_are_dropped_until_the_sizes_fit() -> None:
    cache = LruCache[str, str](10)
    for key in "abcd":
        cache.put(key, key, 3)
    assert [cache.get(key) for key in "abcd"] == [None, "b", "c", "d"]
    cache.put("e", "e", 10)
    assert [cache.get(key) for key in "bcde"] == [None, None, None, "e"]


def test_a_value_over_the_largest_size_is_not_kept_and_drops_nothing() -> None:
    cache = LruCache[str, str](10, largest=4)
    cache.put("a", "a", 4)
    cache.put("b", "b", 5)
    assert [cache.get(key) for key in "ab"] == ["a", None]


def test_a_value_over_the_whole_capacity_is_not_kept() -> None:
    cache = LruCache[str, str](10)
    cache.put("a", "a", 4)
    cache.put("b", "b", 11)
    assert [cache.get(key) for key in "ab"] == ["a", None]


def test_a_replaced_value_counts_once() -> None:
    cache = LruCache[str, str](10)
    cache.put("a", "a", 4)
    for size in (6, 2, 6):
        cache.put("b", f"b{size}", size)
    assert [cache.get(key) for key in "ab"] == ["a", "b6"]


def test_keys_and_bookkeeping_count_in_a_cache_of_bytes() -> None:
    cache = ByteCache[str](10 * lru.ENTRY_BYTES)
    for number in range(100):
        cache.put(f"{number:0100}", "", 0)
    kept = [number for number in range(100) if cache.get(f"{number:0100}") is not None]
    assert kept == list(range(91, 100))


def test_a_cleared_cache_has_its_whole_capacity_again() -> None:
    cache = LruCache[str, str](10)
    cache.put("a", "a", 10)
    cache.clear()
    cache.put("b", "b", 5)
    cache.put("c", "c", 5)
    assert [cache.get(key) for key in "abc"] == [None, "b", "c"]


def test_clear_all_empties_every_cache() -> None:
    caches = [LruCache[str, int](2), LruCache[str, int](2)]
    for cache in caches:
        cache.put("a", 1)
    lru.clear_all()
    assert [cache.get("a") for cache in caches] == [None, None]


def test_threads_never_exceed_the_capacity() -> None:
    cache = LruCache[int, int](50)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: (cache.put(n, n, n % 7 + 1), cache.get(n - 1)), range(5_000)))
    kept = [n for n in range(5_000) if cache.get(n) is not None]
    assert 0 < sum(n % 7 + 1 for n in kept) <= 50
