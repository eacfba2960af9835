"""Free memory goes back to the system where the C library can do so."""

from registry.lib import heap


def test_releasing_memory_never_fails() -> None:
    blocks = [bytes(10_000) for _ in range(1_000)]
    del blocks
    heap.release()
    heap.release()
