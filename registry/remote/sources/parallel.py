"""Parallel fetching with results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from registry.remote.sources.types import FetchedBundle, ListingEntry

AT_ONCE = 8


def at_once(
    work: Callable[[ListingEntry], FetchedBundle], entries: Iterable[ListingEntry]
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    """Yield each entry with its result or its exception. Holds at most eight results in memory."""
    waiting: deque[tuple[ListingEntry, Future[FetchedBundle]]] = deque()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for entry in entries:
                waiting.append((entry, pool.submit(work, entry)))
                if len(waiting) == AT_ONCE:
                    yield _result(*waiting.popleft())
            while waiting:
                yield _result(*waiting.popleft())
        finally:
            for _, future in waiting:
                future.cancel()


def _result(entry: ListingEntry, future: Future[FetchedBundle]) -> tuple[ListingEntry, FetchedBundle | Exception]:
    try:
        return entry, future.result()
    except Exception as error:
        return entry, error
