"""Geometry of seals and sparklines."""

import re
from collections.abc import Sequence

_HEX = re.compile("[0-9a-f]{12,}")


def seal_cells(digest: str) -> list[tuple[int, int]]:
    """Return the filled cells of a seal as (column, row): fifteen bits in three columns, mirrored."""
    digits = digest.removeprefix("sha256:")
    if not _HEX.fullmatch(digits):
        raise ValueError(f"A digest is 12 or more hex digits, not {digest!r}.")
    bits = int(digits[:4], 16) >> 1
    left = [(i // 5, i % 5) for i in range(15) if bits >> (14 - i) & 1]
    return sorted({*left, *((4 - column, row) for column, row in left)}, key=lambda cell: (cell[1], cell[0]))


def bar_heights(values: Sequence[int], tallest: int = 17) -> list[int]:
    """Scale values so that the largest is `tallest`; values above zero are at least 1."""
    top = max(values, default=0)
    return [0 if value <= 0 else max(1, round(value * tallest / top)) for value in values]


def trend(values: Sequence[int]) -> str:
    """Compare the last third with the first: rising, falling or steady; empty for too few values."""
    third = len(values) // 3
    if not third or sum(values) < 10:
        return ""
    first, last = sum(values[:third]), sum(values[-third:])
    if last > 1.5 * first:
        return "rising"
    return "falling" if first > 1.5 * last else "steady"
