"""Many skills fetched at once: eight in flight, answers in the order asked, and no failure that costs the others."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from registry.remote.sources.types import FetchedBundle, ListingEntry

AT_ONCE = 8


def at_once(
    work: Callable[[ListingEntry], FetchedBundle], entries: Iterable[ListingEntry]
) -> Iterator[tuple[ListingEntry, FetchedBundle | Exception]]:
    """No more than eight answers are held at a time, so that a thousand skills never lie in memory together."""
    waiting: deque[tuple[ListingEntry, Future[FetchedBundle]]] = deque()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for one in entries:
                waiting.append((one, pool.submit(work, one)))
                if len(waiting) == AT_ONCE:
                    yield _answered(*waiting.popleft())
            while waiting:
                yield _answered(*waiting.popleft())
        finally:
            for _, future in waiting:
                future.cancel()


def _answered(entry: ListingEntry, future: Future[FetchedBundle]) -> tuple[ListingEntry, FetchedBundle | Exception]:
    try:
        return entry, future.result()
    except Exception as error:
        return entry, error
