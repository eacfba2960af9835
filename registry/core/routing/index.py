"""The index of a project: the arrays of its skills, in memory.

An Index is never changed. `updated` returns another one that shares the arrays of unchanged skills, in a time that
depends on the number of changes. It gives exactly the scores that an index built anew would give.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.core.routing import segment as segments
from registry.core.routing.analysis import ANCHOR, Analysed, Hashes
from registry.core.routing.segment import Entry, Segment

ANCHOR_WEIGHT = 1.0  # of a term in what one other skill says about this one
_MOST_ANCHORS = 3  # other skills that count
SKETCH = 64  # dimensions of a vector that estimate its product with another one: a quarter of the memory to read
_SMALL = 64  # rows; a segment is merged with the next one that is at most twice as large, or small


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The rows that contain some terms.

    `terms` has the position of each hit’s term, `summary`, `text` and `fields` are the columns of `Segment.terms`, and
    `counts` is the number of rows in use with each term. Rows that are not in use can be among the hits, because to
    leave them out costs more than to add them up.
    """

    terms: NDArray[np.intp]
    rows: NDArray[np.intp]
    summary: NDArray[np.float32]
    text: NDArray[np.float32]
    fields: NDArray[np.uint8]
    counts: NDArray[np.intp]

    def within(self, rows: NDArray[np.intp]) -> "Hits":
        """Return the hits in some rows, which rise. Their rows are positions in `rows`; `counts` stay as they are."""
        last = max(int(self.rows.max(initial=-1)), int(rows[-1]) if len(rows) else -1)
        position = np.full(last + 1, -1, np.intp)
        position[rows] = np.arange(len(rows))
        at = position[self.rows]
        kept = np.flatnonzero(at >= 0)
        columns = (self.summary[kept], self.text[kept], self.fields[kept])
        return Hits(self.terms[kept], at[kept], *columns, self.counts)


class Index:
    """Skills by row. Rows of skills that were replaced or removed stay unused until segments are merged.

    `names[row]` is the name of a skill, `row_of[name]` its row, `rows` are the rows in use, in rising order.
    """

    def __init__(self, parts: Sequence[Segment], alive: Sequence[NDArray[np.bool_]], dim: int) -> None:
        self.dim = dim
        self._parts = tuple(parts)
        self._alive = tuple(alive)
        self._starts = np.cumsum([0, *map(len, parts)])
        self._full = tuple(bool(kept.all()) for kept in alive)
        self.alive: NDArray[np.bool_] = np.concatenate([np.empty(0, bool), *alive])
        self.rows: NDArray[np.intp] = np.flatnonzero(self.alive)
        self.entries: tuple[Entry, ...] = tuple(entry for part in parts for entry in part.entries)
        self.names: tuple[str, ...] = tuple(entry.name for entry in self.entries)
        self.row_of: dict[str, int] = {self.names[row]: int(row) for row in self.rows}
        self._targets = tuple(
            np.array([self.row_of.get(name, -1) for name in part.mentioned], np.int32) for part in self._parts
        )

    @classmethod
    def of(cls, skills: Iterable[Analysed]) -> "Index":
        """Build an index. If several skills have one name, the last one counts."""
        by_name = {skill.name: skill for skill in skills}
        ordered = [by_name[name] for name in sorted(by_name)]
        dim = max((len(skill.vector) for skill in ordered), default=0)
        return cls([segments.build(ordered, dim)], [np.ones(len(ordered), bool)], dim)

    def updated(self, changed: Iterable[Analysed], removed: Iterable[str] = ()) -> "Index":
        """Return an index with some skills added or replaced, and others removed. Unknown names are ignored."""
        by_name = {skill.name: skill for skill in changed}
        added = [by_name[name] for name in sorted(by_name)]
        dim = self.dim or max((len(skill.vector) for skill in added), default=0)
        if dim != self.dim:
            return self._with_vectors(added, removed, dim)
        gone = [row for name in {*by_name, *removed} if (row := self.row_of.get(name)) is not None]
        alive = self.alive.copy()
        alive[gone] = False
        parts = list(self._parts)
        kept = [alive[start : start + len(part)] for start, part in zip(self._starts[:-1], parts, strict=True)]
        if added:
            parts.append(segments.build(added, dim))
            kept.append(np.ones(len(added), bool))
        return Index(*_merged(parts, kept), dim)

    def _with_vectors(self, added: Sequence[Analysed], removed: Iterable[str], dim: int) -> "Index":
        """Return an updated index whose first skills with vectors were added now."""
        parts = [
            replace(
                part,
                vectors=np.zeros((len(part), dim), np.int8),
                lengths=np.zeros(len(part), np.float32),
                phrase_vectors=np.empty((0, dim), np.int8),
                phrase_lengths=np.empty(0, np.float32),
                phrase_starts=np.zeros(len(part) + 1, np.int64),
            )
            for part in self._parts
        ]
        return Index(parts, self._alive, dim).updated(added, removed)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The approximate memory of the index, with the sketches that it makes for questions."""
        return sum(part.nbytes + 4 * SKETCH * len(part) for part in self._parts)

    @cached_property
    def name_order(self) -> NDArray[np.int64]:
        """The position of each row in the order of names, to order skills with equal scores."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        positions = np.empty(len(order), np.int64)
        positions[order] = np.arange(len(order))
        return positions

    def contains(self, term: int) -> bool:
        """Tell whether a skill contains a term. It may have been replaced or removed."""
        return any(part.terms.find(np.array([term], np.uint64)) for part in self._parts)

    def spells(self, term: str) -> bool:
        """Tell whether a term is in the name, description or headings of a skill."""
        return any(next(_from(part.vocabulary, term), "") == term for part in self._parts)

    def completions(self, start: str, most: int) -> list[str]:
        """Return terms of names, descriptions and headings that start with a text, the shortest first."""
        found = {
            term
            for part in self._parts
            for term in takewhile(lambda t: t.startswith(start), _from(part.vocabulary, start))
        }
        return sorted(found, key=lambda term: (len(term), term))[:most]

    @cached_property
    def name_lengths(self) -> NDArray[np.float64]:
        """The number of distinct terms in each name, at least 1."""
        return np.array([entry.name_length for entry in self.entries], np.float64)

    @cached_property
    def inverse_lengths(self) -> NDArray[np.float64]:
        """1 / the length of each vector. 0 for a skill without a vector."""
        lengths = _joined([np.empty(0, np.float32), *(part.lengths for part in self._parts)])
        inverse: NDArray[np.float64] = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        return inverse

    @cached_property
    def sketches(self) -> NDArray[np.float32]:
        """The first dimensions of each vector."""
        parts = (part.vectors[:, :SKETCH] for part in self._parts)
        return np.concatenate([np.empty((0, min(self.dim, SKETCH)), np.int8), *parts]).astype(np.float32)

    def vectors_of(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the vectors of some skills. `rows` rise."""
        found = [part.vectors[local] for part, local in self._by_part(rows)]
        return np.concatenate([np.empty((0, self.dim), np.int8), *found]).astype(np.float32)

    def hits(self, terms: Hashes) -> Hits:
        """Return the rows that contain some terms, or that another skill describes with them."""
        anchors, weights = self._anchors(terms)
        found = [self._part_hits(at, terms, anchors, weights) for at in range(len(self._parts))]
        at, rows, summary, text, fields = map(_joined, zip(*found, strict=True))
        return Hits(at, rows, summary, text, fields, self._counts(at, rows, len(terms)))

    def anchors(self, terms: Hashes) -> dict[tuple[int, str], float]:
        """Return how much the words of other skills count, by the position of a term and the described skill."""
        keys, weights = self._anchors(terms)
        rows = ((key // self._size, self.names[key % self._size]) for key in keys.tolist())
        return dict(zip(rows, weights.tolist(), strict=True))

    def pair_rows(self, pairs: Hashes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows that contain pairs or phrases, and for each the position of its hash in `pairs`.

        As in `Hits`, rows that are not in use can be among them.
        """
        found, positions = [], []
        for start, part in zip(self._starts[:-1], self._parts, strict=True):
            spans = part.pairs.find(pairs)
            found.append(spans.of(part.pairs.rows).astype(np.intp) + start)
            positions.append(spans.positions)
        return _joined(found), _joined(positions)

    def phrases_of(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.intp]]:
        """Return the vectors of the phrases of some skills, their lengths, and the number of each skill’s phrases.

        `rows` rise.
        """
        found: list[NDArray[np.int8]] = [np.empty((0, self.dim), np.int8)]
        lengths, counts = [np.empty(0, np.float32)], [np.empty(0, np.intp)]
        for part, local in self._by_part(rows):
            starts = part.phrase_starts[local]
            number = part.phrase_starts[local + 1] - starts
            before = np.cumsum(number) - number
            places = np.repeat(starts - before, number) + np.arange(number.sum())
            found.append(part.phrase_vectors[places])
            lengths.append(part.phrase_lengths[places])
            counts.append(number.astype(np.intp))
        return np.concatenate(found).astype(np.float32), np.concatenate(lengths), np.concatenate(counts)

    def _by_part(self, rows: NDArray[np.intp]) -> Iterator[tuple[Segment, NDArray[np.intp]]]:
        """Yield the segments of some rows, which rise, with their rows inside the segment."""
        bounds = np.searchsorted(rows, self._starts)
        for at, part in enumerate(self._parts):
            if bounds[at] < bounds[at + 1]:
                yield part, rows[bounds[at] : bounds[at + 1]] - self._starts[at]

    def _part_hits(
        self, number: int, terms: Hashes, anchors: NDArray[np.int64], weights: NDArray[np.float32]
    ) -> tuple[NDArray[Any], ...]:
        """Return the hits in one segment as columns. Anchors are keys of a term and a row, see `_anchors`."""
        part, start = self._parts[number], int(self._starts[number])
        spans = part.terms.find(terms)
        rows = spans.of(part.terms.rows).astype(np.intp) + start
        hits = spans.positions, rows, *(spans.of(column) for column in part.terms.columns)
        if not len(anchors):
            return hits
        target = anchors % self._size
        here = (target >= start) & (target < start + len(part))
        return _with_anchors(hits, anchors[here], weights[here], self._size) if here.any() else hits

    def _anchors(self, terms: Hashes) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return a key for each term and row that other skills describe with it, and how much it counts.

        A key is the number of the term * size + row. Keys rise.
        """
        found = []
        for part, kept, targets in zip(self._parts, self._alive, self._targets, strict=True):
            if spans := part.mentions.find(terms):
                rows = targets[spans.of(part.mentions.columns[0])]
                valid = kept[spans.of(part.mentions.rows)] & (rows >= 0)
                found.append(spans.positions[valid] * self._size + rows[valid])
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        anchors, counts = np.unique(_joined(found), return_counts=True)
        return anchors, np.minimum(counts, _MOST_ANCHORS) * np.float32(ANCHOR_WEIGHT)

    def _counts(self, at: NDArray[np.intp], rows: NDArray[np.intp], terms: int) -> NDArray[np.intp]:
        """Return the number of rows in use for each term, from the positions of terms and the rows of all hits."""
        counts = np.bincount(at, minlength=terms)
        if not all(self._full):
            counts -= np.bincount(at[np.flatnonzero(~self.alive[rows])], minlength=terms)
        return counts

    @property
    def _size(self) -> int:
        return max(1, len(self.names))


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _from(vocabulary: Sequence[str], start: str) -> Iterator[str]:
    """Yield the terms of a sorted vocabulary that are equal to a text or behind it."""
    return (vocabulary[at] for at in range(bisect_left(vocabulary, start), len(vocabulary)))


def _with_anchors(
    hits: tuple[NDArray[Any], ...], anchors: NDArray[np.int64], weights: NDArray[np.float32], size: int
) -> tuple[NDArray[Any], ...]:
    """Add the weights of anchors to the hits of a segment, and hits for rows that have the term only there."""
    at, rows, summary, text, fields = hits
    keys = at * size + rows
    places = np.searchsorted(keys, anchors)
    known = places < len(keys)
    known[known] = keys[places[known]] == anchors[known]
    found, new = places[known], anchors[~known]
    in_summary, elsewhere = segments.unsaturated(summary[found], text[found])
    summary[found], text[found] = segments.saturated(in_summary + weights[known], elsewhere)
    fields[found] |= ANCHOR
    new_summary, new_text = segments.saturated(weights[~known], np.zeros(len(new), np.float32))
    return (
        np.concatenate([at, new // size]),
        np.concatenate([rows, new % size]),
        np.concatenate([summary, new_summary]),
        np.concatenate([text, new_text]),
        np.concatenate([fields, np.full(len(new), ANCHOR, np.uint8)]),
    )


def _merged(parts: list[Segment], alive: list[NDArray[np.bool_]]) -> tuple[list[Segment], list[NDArray[np.bool_]]]:
    """Merge the last segments while they are small, so that there are few, and each change costs little.

    A segment is also made anew if most of its rows are not in use, as after many skills were removed.
    """
    while len(parts) > 1 and (len(parts[-2]) <= max(_SMALL, 2 * len(parts[-1])) or not alive[-1].any()):
        joined = segments.merge(parts[-2:], alive[-2:])
        parts[-2:] = [joined]
        alive[-2:] = [np.ones(len(joined), bool)]
    for at, kept in enumerate(alive):
        if 2 * int(kept.sum()) < len(kept):
            parts[at] = segments.merge([parts[at]], [kept])
            alive[at] = np.ones(len(parts[at]), bool)
    return parts, alive
