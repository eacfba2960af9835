"""A part of an index: the arrays of some skills, sorted by term. A segment is never changed.

Rows are numbers of skills inside the segment. The postings of a term are its rows, with its weights in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.core.routing.analysis import Analysed, Hashes

Ints = NDArray[np.int32]
SATURATION = 2.5  # k1 of BM25
_ENTRY_BYTES = 2_000  # of an Entry with its texts, measured


@dataclass(frozen=True, slots=True)
class Entry:
    """Facts of one skill that are read only for the few that are shown."""

    name: str
    title: str
    name_length: int  # distinct terms, at least 1
    texts: tuple[str, str]  # lists joined by LF: one string needs far less memory than many

    @property
    def triggers(self) -> tuple[str, ...]:
        return _lines(self.texts[0])

    @property
    def phrases(self) -> tuple[str, ...]:
        return _lines(self.texts[1])


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Rows by hash: the rows of `hashes[i]` are `rows[starts[i]:starts[i + 1]]`, in rising order."""

    hashes: Hashes
    starts: NDArray[np.int64]
    rows: Ints
    columns: tuple[NDArray[Any], ...] = ()

    @classmethod
    def of(cls, hashes: Hashes, rows: Ints, columns: Sequence[NDArray[Any]] = ()) -> "Postings":
        """Sort by hash. `rows` rise for equal hashes, because skills are appended in their order."""
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        first = np.ones(len(ordered), bool)
        first[1:] = ordered[1:] != ordered[:-1]
        starts = np.append(np.flatnonzero(first), len(ordered)).astype(np.int64)
        return cls(ordered[first], starts, rows[order], tuple(column[order] for column in columns))

    def find(self, hashes: Hashes) -> "Spans":
        """Return where the rows of several hashes are."""
        if not len(self.hashes):
            return Spans(np.empty(0, np.intp), self.starts[:0], self.starts[:0])
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        known = np.flatnonzero(self.hashes[at] == hashes)
        return Spans(known, self.starts[at[known]], self.starts[at[known] + 1])

    def expanded(self) -> Hashes:
        """Return the hash of each row, so that postings can be merged with others."""
        return np.repeat(self.hashes, np.diff(self.starts))


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Parts of the columns of postings: of each hash that was found, its number and the bounds of its rows."""

    numbers: NDArray[np.intp]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __bool__(self) -> bool:
        return len(self.numbers) > 0

    @property
    def positions(self) -> NDArray[np.intp]:
        """The number of the hash of each row."""
        return np.repeat(self.numbers, self.ends - self.starts)

    def of(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the values of a column. To copy slices is several times faster than to pick values one by one."""
        bounds = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return np.concatenate([column[:0], *(column[start:end] for start, end in bounds)])


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The arrays of some skills.

    `terms` has three columns: BM25F of the term in the summary, what the other fields add to it, and field bits. Both
    numbers are without the weight of the term, which depends on the question. `mentions` has rows that mention another
    skill, and as its column the position of that skill's name in `mentioned`. `vectors` are whole numbers, so their
    products are exact; the phrases of a skill are `phrase_starts[row]:phrase_starts[row + 1]`. `vocabulary` has the
    terms in names, descriptions and headings, sorted; after a merge also some that no skill has any more.
    """

    entries: tuple[Entry, ...]
    terms: Postings
    pairs: Postings
    mentions: Postings
    mentioned: tuple[str, ...]
    vectors: NDArray[np.int8]
    lengths: NDArray[np.float32]  # of the vectors
    phrase_vectors: NDArray[np.int8]
    phrase_lengths: NDArray[np.float32]
    phrase_starts: NDArray[np.int64]
    mentioned_at: dict[str, int] = field(default_factory=dict)
    vocabulary: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def nbytes(self) -> int:
        """The approximate memory of the segment."""
        arrays: list[NDArray[Any]] = [self.vectors, self.lengths]
        arrays += [self.phrase_vectors, self.phrase_lengths, self.phrase_starts]
        for postings in (self.terms, self.pairs, self.mentions):
            arrays += [postings.hashes, postings.starts, postings.rows, *postings.columns]
        return sum(array.nbytes for array in arrays) + _ENTRY_BYTES * len(self.entries) + 80 * len(self.vocabulary)


def build(skills: Sequence[Analysed], dim: int) -> Segment:
    """Return the segment of some skills. Vectors of another dimension than `dim` are left out."""
    numbers = np.arange(len(skills), dtype=np.int32)
    rows = np.repeat(numbers, [len(skill.hashes) for skill in skills])
    pair_rows = np.repeat(numbers, [len(skill.pairs) for skill in skills])
    mention_rows = np.repeat(numbers, [len(skill.mention_hashes) for skill in skills])
    mentioned_at: dict[str, int] = {}
    targets = [mentioned_at.setdefault(name, len(mentioned_at)) for skill in skills for name in skill.mentions]
    phrases = [skill.phrase_vectors if _fits(skill, dim) else np.empty((0, dim), np.int8) for skill in skills]
    phrase_vectors = np.concatenate([np.empty((0, dim), np.int8), *phrases])
    rows_of_vectors = [skill.vector if _fits(skill, dim) else np.zeros(dim, np.int8) for skill in skills]
    vectors = np.array(rows_of_vectors, np.int8).reshape(len(skills), dim)
    return Segment(
        entries=tuple(_entry(skill) for skill in skills),
        terms=Postings.of(
            _joined([skill.hashes for skill in skills], np.uint64),
            rows,
            (
                *saturated(
                    _joined([skill.summary for skill in skills], np.float32),
                    _joined([skill.full for skill in skills], np.float32),
                ),
                _joined([skill.fields for skill in skills], np.uint8),
            ),
        ),
        pairs=Postings.of(_joined([skill.pairs for skill in skills], np.uint64), pair_rows),
        mentions=Postings.of(
            _joined([skill.mention_hashes for skill in skills], np.uint64),
            mention_rows,
            (np.array(targets, np.int32),),
        ),
        mentioned=tuple(mentioned_at),
        vectors=vectors,
        lengths=_lengths(vectors),
        phrase_vectors=phrase_vectors,
        phrase_lengths=_lengths(phrase_vectors),
        phrase_starts=np.cumsum([0, *map(len, phrases)], dtype=np.int64),
        mentioned_at=mentioned_at,
        vocabulary=tuple(sorted({term for skill in skills for term in skill.spellings.split()})),
    )


def saturated(
    summary: NDArray[np.float32], full: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return BM25F of the weights of terms in the summary, and what their weights elsewhere add to it."""
    in_summary = summary / (SATURATION + summary)
    both = summary + full
    return in_summary, both / (SATURATION + both) - in_summary


def unsaturated(
    summary: NDArray[np.float32], text: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the weights that `saturated` was given."""
    both = summary + text
    in_summary = SATURATION * summary / (1 - summary)
    return in_summary, SATURATION * both / (1 - both) - in_summary


def merge(segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]]) -> Segment:
    """Return one segment with the rows of several that are alive, in their order."""
    new_rows: list[Ints] = []
    count = 0
    for kept in alive:
        numbers = np.where(kept, np.cumsum(kept) - 1 + count, -1).astype(np.int32)
        new_rows.append(numbers)
        count += int(kept.sum())
    mentioned_at: dict[str, int] = {}
    slots = [
        np.array([mentioned_at.setdefault(name, len(mentioned_at)) for name in segment.mentioned], np.int32)
        for segment in segments
    ]
    moved = [
        Postings(part.mentions.hashes, part.mentions.starts, part.mentions.rows, (slot[part.mentions.columns[0]],))
        for part, slot in zip(segments, slots, strict=True)
    ]
    phrase_kept = [np.repeat(kept, np.diff(part.phrase_starts)) for part, kept in zip(segments, alive, strict=True)]
    counts = [np.diff(part.phrase_starts)[kept] for part, kept in zip(segments, alive, strict=True)]
    return Segment(
        entries=tuple(
            entry
            for part, kept in zip(segments, alive, strict=True)
            for entry, keep in zip(part.entries, kept, strict=True)
            if keep
        ),
        terms=_merged([part.terms for part in segments], new_rows),
        pairs=_merged([part.pairs for part in segments], new_rows),
        mentions=_merged(moved, new_rows),
        mentioned=tuple(mentioned_at),
        vectors=np.concatenate([part.vectors[kept] for part, kept in zip(segments, alive, strict=True)]),
        lengths=np.concatenate([part.lengths[kept] for part, kept in zip(segments, alive, strict=True)]),
        phrase_vectors=np.concatenate(
            [part.phrase_vectors[kept] for part, kept in zip(segments, phrase_kept, strict=True)]
        ),
        phrase_lengths=np.concatenate(
            [part.phrase_lengths[kept] for part, kept in zip(segments, phrase_kept, strict=True)]
        ),
        phrase_starts=np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
        mentioned_at=mentioned_at,
        vocabulary=tuple(sorted({term for part in segments for term in part.vocabulary})),
    )


def _merged(parts: Sequence[Postings], new_rows: Sequence[Ints]) -> Postings:
    rows = [numbers[part.rows] for part, numbers in zip(parts, new_rows, strict=True)]
    kept = [numbers >= 0 for numbers in rows]
    columns = [
        np.concatenate([part.columns[at][keep] for part, keep in zip(parts, kept, strict=True)])
        for at in range(len(parts[0].columns))
    ]
    hashes = np.concatenate([part.expanded()[keep] for part, keep in zip(parts, kept, strict=True)])
    return Postings.of(hashes, np.concatenate([row[keep] for row, keep in zip(rows, kept, strict=True)]), columns)


def _lengths(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the lengths of vectors of whole numbers, a few at a time, because float32 needs four times the memory."""
    parts = (vectors[at : at + 10_000].astype(np.float32) for at in range(0, len(vectors), 10_000))
    return _joined([np.sqrt(np.einsum("ij,ij->i", part, part)) for part in parts], np.float32)


def _fits(skill: Analysed, dim: int) -> bool:
    return dim > 0 and skill.vector.shape == (dim,) and skill.phrase_vectors.shape[1:] == (dim,)


def _entry(skill: Analysed) -> Entry:
    triggers, phrases = (
        "\n".join(part.replace("\n", " ") for part in each) for each in (skill.triggers, skill.phrases)
    )
    return Entry(skill.name, skill.title, max(1, len(np.unique(skill.name_terms))), (triggers, phrases))


def _lines(joined: str) -> tuple[str, ...]:
    return tuple(joined.split("\n")) if joined else ()


def _joined(arrays: Sequence[NDArray[Any]], kind: type[Any]) -> NDArray[Any]:
    return np.concatenate(arrays).astype(kind, copy=False) if arrays else np.empty(0, kind)
