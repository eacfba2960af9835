"""The index of a project: the arrays of its skills, in memory.

An Index is never changed. `updated` returns another one that shares the arrays of unchanged skills, in a time that
depends on the number of changes. It gives exactly the scores that an index built anew would give.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from registry.core.routing import segment as segments
from registry.core.routing.analysis import ANCHOR, Analysed
from registry.core.routing.segment import Entry, Segment

ANCHOR_WEIGHT = 1.0  # of a term in what one other skill says about this one
_MOST_ANCHORS = 3  # other skills that count
_SMALL = 64  # rows; a segment is merged with the next one that is at most twice as large, or small


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The rows that contain a term, in rising order, with its weights and field bits there."""

    rows: NDArray[np.int32]
    summary: NDArray[np.float32]
    full: NDArray[np.float32]
    fields: NDArray[np.uint8]


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
        """Build an index. Of several skills with one name the last counts."""
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
                vectors=np.zeros((len(part), dim), np.float32),
                phrase_vectors=np.empty((0, dim), np.int8),
                phrase_starts=np.zeros(len(part) + 1, np.int64),
            )
            for part in self._parts
        ]
        return Index(parts, self._alive, dim).updated(added, removed)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The approximate memory of the index, with the vectors that it joins for questions."""
        return sum(part.nbytes + part.vectors.nbytes for part in self._parts)

    @cached_property
    def name_order(self) -> NDArray[np.int64]:
        """The position of each row in the order of names, to order skills with equal scores."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        positions = np.empty(len(order), np.int64)
        positions[order] = np.arange(len(order))
        return positions

    def contains(self, term: int) -> bool:
        """Tell whether a skill contains a term. It may have been replaced or removed."""
        return any(part.terms.slice(term) != slice(0, 0) for part in self._parts)

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
    def vector_lengths(self) -> NDArray[np.float64]:
        lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", self.vectors, self.vectors)).astype(np.float64)
        return lengths

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        if len(self._parts) == 1:
            return self._parts[0].vectors
        return np.concatenate([np.empty((0, self.dim), np.float32), *(part.vectors for part in self._parts)])

    def hits(self, term: int) -> Hits:
        """Return the rows in use that contain a term, or that another skill describes with it."""
        found = [self._part_hits(at, term) for at in range(len(self._parts))]
        rows, summary, full, fields = (np.concatenate(columns) for columns in zip(*found, strict=True))
        targets = self._anchored(term)
        if len(targets):
            rows, summary, full, fields = _with_anchors(rows, summary, full, fields, targets)
        return Hits(rows, summary.astype(np.float32), full.astype(np.float32), fields)

    def pair_rows(self, pair: int) -> NDArray[np.int32]:
        """Return the rows in use that contain two terms beside each other."""
        found = []
        for part, kept, start in zip(self._parts, self._alive, self._starts, strict=False):
            rows = part.pairs.rows[part.pairs.slice(pair)]
            found.append(rows[kept[rows]] + np.int32(start))
        return np.concatenate([np.empty(0, np.int32), *found])

    def any_pair_rows(self, hashes: NDArray[np.uint64]) -> Iterator[tuple[NDArray[np.int32], int]]:
        """Yield the rows in use for each of many hashes of pairs or phrases that any skill has."""
        for part, kept, start in zip(self._parts, self._alive, self._starts, strict=False):
            for found in hashes[part.pairs.contains(hashes)]:
                rows = part.pairs.rows[part.pairs.slice(int(found))]
                yield rows[kept[rows]] + np.int32(start), int(found)

    def phrases_of(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """Return the vectors of the phrases of some skills, and the number of each one’s phrases. `rows` rise."""
        found: list[NDArray[np.int8]] = [np.empty((0, self.dim), np.int8)]
        counts = [np.empty(0, np.intp)]
        places = np.searchsorted(rows, self._starts)
        for at, part in enumerate(self._parts):
            local = rows[places[at] : places[at + 1]] - self._starts[at]
            if len(local):
                starts, number = part.phrase_starts[local], np.diff(part.phrase_starts)[local]
                before = np.cumsum(number) - number
                found.append(part.phrase_vectors[np.repeat(starts - before, number) + np.arange(number.sum())])
                counts.append(number.astype(np.intp))
        return np.concatenate(found).astype(np.float32), np.concatenate(counts)

    def _part_hits(self, at: int, term: int) -> tuple[NDArray[np.int32], ...]:
        part = self._parts[at]
        where = part.terms.slice(term)
        columns = (part.terms.rows[where], *(column[where] for column in part.terms.columns))
        if not self._full[at]:
            kept = self._alive[at][columns[0]]
            columns = tuple(column[kept] for column in columns)
        return (columns[0] + np.int32(self._starts[at]), *columns[1:])

    def _anchored(self, term: int) -> NDArray[np.int32]:
        """Return the rows that other skills describe with a term, once for each of these."""
        found = []
        for part, kept, targets in zip(self._parts, self._alive, self._targets, strict=True):
            where = part.mentions.slice(term)
            if where.start != where.stop:
                rows = targets[part.mentions.columns[0][where]]
                found.append(rows[kept[part.mentions.rows[where]] & (rows >= 0)])
        return np.concatenate(found) if found else np.empty(0, np.int32)


def _from(vocabulary: Sequence[str], start: str) -> Iterator[str]:
    """Yield the terms of a sorted vocabulary that are equal to a text or behind it."""
    return (vocabulary[at] for at in range(bisect_left(vocabulary, start), len(vocabulary)))


def _with_anchors(
    rows: NDArray[np.int32],
    summary: NDArray[np.float32],
    full: NDArray[np.float32],
    fields: NDArray[np.uint8],
    targets: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32], NDArray[np.uint8]]:
    anchored, counts = np.unique(targets, return_counts=True)
    every = np.union1d(rows, anchored).astype(np.int32)
    own = np.searchsorted(every, rows)
    more = np.searchsorted(every, anchored)
    weights = np.zeros(len(every), np.float32)
    weights[own] = summary
    weights[more] += np.minimum(counts, _MOST_ANCHORS) * np.float32(ANCHOR_WEIGHT)
    others = np.zeros(len(every), np.float32)
    others[own] = full
    bits = np.zeros(len(every), np.uint8)
    bits[own] = fields
    bits[more] |= ANCHOR
    return every, weights, others, bits


def _merged(parts: list[Segment], alive: list[NDArray[np.bool_]]) -> tuple[list[Segment], list[NDArray[np.bool_]]]:
    """Merge the last segments while they are small, so that there are few, and each change costs little."""
    while len(parts) > 1 and (len(parts[-2]) <= max(_SMALL, 2 * len(parts[-1])) or not alive[-1].any()):
        joined = segments.merge(parts[-2:], alive[-2:])
        parts[-2:] = [joined]
        alive[-2:] = [np.ones(len(joined), bool)]
    return parts, alive
