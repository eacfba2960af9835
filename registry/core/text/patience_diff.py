"""Patience diff: matches the items of two sequences. Line, word and three-way diffs are built on it.

Items that occur exactly once on each side anchor the match. Gaps between anchors go to difflib, which needs quadratic
time, but only while they are small. A larger gap counts as replaced. An Effort bounds the time of all matches of one
request together; after it is used up, all gaps count as replaced.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

PAIRS_IN_A_GAP = 40_000
STEPS_IN_ALL = 1_000_000
_ROUNDS = 4  # times that the search for anchors may read all items, on top of the effort

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Effort:
    """Steps that the matches of one request may take together. A step is about a microsecond."""

    def __init__(self, steps: int = STEPS_IN_ALL) -> None:
        self.steps = steps

    def spend(self, steps: int) -> bool:
        """Return False, and spend nothing, if fewer steps are left."""
        if steps > self.steps:
            return False
        self.steps -= steps
        return True


class Run(NamedTuple):
    """`size` equal items, from index `before` and from index `after`."""

    before: int
    after: int
    size: int


class Change(NamedTuple):
    before: int
    before_end: int
    after: int
    after_end: int
    same: bool


@dataclass(frozen=True, slots=True)
class Matching:
    runs: tuple[Run, ...]
    coarse: bool  # a gap was too large to compare

    def changes(self, before: int, after: int) -> Iterator[Change]:
        """Yield equal and changed ranges in order, for sequences of these lengths."""
        i = j = 0
        for run in (*self.runs, Run(before, after, 0)):
            if i < run.before or j < run.after:
                yield Change(i, run.before, j, run.after, same=False)
            i, j = run.before + run.size, run.after + run.size
            if run.size:
                yield Change(run.before, i, run.after, j, same=True)


def split_lines(text: str) -> list[str]:
    """Split at LF only. A CR before it stays in the line, so that joining the lines restores the text."""
    return _LINE.findall(text)


def match(before: Sequence[str], after: Sequence[str], effort: Effort | None = None) -> Matching:
    search = _Search(before, after, effort or Effort())
    gaps = [(0, len(before), 0, len(after))]
    while gaps:
        gaps += search.narrow(*gaps.pop())
    return Matching(tuple(_merge_runs(sorted(search.runs))), search.coarse)


class _Search:
    def __init__(self, before: Sequence[str], after: Sequence[str], effort: Effort) -> None:
        self.before, self.after, self.effort = before, after, effort
        self.runs: list[Run] = []
        self.coarse = False
        self.reads = _ROUNDS * (len(before) + len(after))

    def narrow(self, i: int, i_end: int, j: int, j_end: int) -> list[tuple[int, int, int, int]]:
        """Match both ends, then the anchors, and return the gaps that remain."""
        size = self.common(i, i_end, j, j_end)
        self.add_run(i, j, size)
        i, j = i + size, j + size
        size = self.common_end(i, i_end, j, j_end)
        i_end, j_end = i_end - size, j_end - size
        self.add_run(i_end, j_end, size)
        if i == i_end or j == j_end:
            return []
        anchors = self.anchors(i, i_end, j, j_end) if self.may_read(i_end - i + j_end - j) else []
        if not anchors:
            self.compare(i, i_end, j, j_end)
            return []
        starts = [(i, j), *((a + 1, b + 1) for a, b in anchors)]
        ends = [*anchors, (i_end, j_end)]
        for a, b in anchors:
            self.add_run(a, b, 1)
        return [(a, a_end, b, b_end) for (a, b), (a_end, b_end) in zip(starts, ends, strict=True)]

    def may_read(self, items: int) -> bool:
        """Check that anchors divide the gaps well. One anchor in each round would need quadratic time."""
        self.reads -= items
        return self.reads >= 0 or self.effort.spend(items)

    def add_run(self, i: int, j: int, size: int) -> None:
        if size:
            self.runs.append(Run(i, j, size))

    def common(self, i: int, i_end: int, j: int, j_end: int) -> int:
        size, most = 0, min(i_end - i, j_end - j)
        while size < most and self.before[i + size] == self.after[j + size]:
            size += 1
        return size

    def common_end(self, i: int, i_end: int, j: int, j_end: int) -> int:
        size, most = 0, min(i_end - i, j_end - j)
        while size < most and self.before[i_end - size - 1] == self.after[j_end - size - 1]:
            size += 1
        return size

    def anchors(self, i: int, i_end: int, j: int, j_end: int) -> list[tuple[int, int]]:
        """Return the items that occur once on each side, as the longest sequence that keeps their order."""
        counts, others = Counter(self.before[i:i_end]), Counter(self.after[j:j_end])
        place = {item: b for b, item in enumerate(self.after[j:j_end], j) if others[item] == 1}
        pairs = [
            (a, place[item]) for a, item in enumerate(self.before[i:i_end], i) if counts[item] == 1 and item in place
        ]
        return _longest_increasing(pairs)

    def compare(self, i: int, i_end: int, j: int, j_end: int) -> None:
        cost = (i_end - i) * (j_end - j)
        if cost > PAIRS_IN_A_GAP or not self.effort.spend(cost):
            self.coarse = True
            return
        matcher = SequenceMatcher(None, self.before[i:i_end], self.after[j:j_end], autojunk=False)
        for a, b, size in matcher.get_matching_blocks():
            self.add_run(i + a, j + b, size)


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Longest increasing subsequence by the second number. `pairs` is sorted by the first."""
    tails: list[int] = []  # by length: the smallest last number of an increasing subsequence
    tops: list[int] = []  # by length: the index of that pair
    previous: list[int] = []
    for index, (_, b) in enumerate(pairs):
        length = bisect_left(tails, b)
        tails[length : length + 1] = [b]
        tops[length : length + 1] = [index]
        previous.append(tops[length - 1] if length else -1)
    chosen: list[tuple[int, int]] = []
    at = tops[-1] if tops else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = previous[at]
    return chosen[::-1]


def _merge_runs(runs: Sequence[Run]) -> Iterator[Run]:
    current: Run | None = None
    for run in runs:
        if current and current.before + current.size == run.before and current.after + current.size == run.after:
            current = Run(current.before, current.after, current.size + run.size)
        else:
            if current:
                yield current
            current = run
    if current:
        yield current
