"""A table of word vectors as an encoder: the vector of a text is the sum of the rows of its words.

The rows contain the weight of a word, so that a frequent word counts less. A word that is not in the table is split
into pieces that are, the longest first.
"""

import hashlib
import json
import re
import unicodedata
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from registry.core.routing.vectors import TEXT_CHARS, Vectors, normalised

MAGIC = b"skillsite-vectors-1\n"
WORD_CHARS = 40  # longer words are skipped: they are keys, hashes and encoded files
PIECE_CHARS = 2  # on average; shorter pieces spell a word that the table knows nothing about
WORDS = 600  # of one text
CONTINUED = "##"  # before a piece that does not start a word
MOST_BYTES = 16 * 1024 * 1024
_DIGEST = 32
_LEVELS = 7  # codes are from -7 to 7, two in a byte

# A Chinese or Japanese character is a word of its own.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_ASCII_WORD = re.compile("[a-z0-9]+")


class Damaged(ValueError):
    """The file of a table is not complete, or not of this version. The message says what is wrong."""


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents."""
    plain = text[:TEXT_CHARS].lower()
    if plain.isascii():
        found = _ASCII_WORD.findall(plain)
    else:
        parts = unicodedata.normalize("NFKD", plain)
        found = _WORD.findall("".join(character for character in parts if not unicodedata.combining(character)))
    return [word for word in found[:WORDS] if len(word) <= WORD_CHARS]


def pieces(word: str, known: Mapping[str, int]) -> list[int]:
    """Return the rows of a word: its own, or those of its pieces. A word with an unknown piece has none."""
    row = known.get(word)
    if row is not None:
        return [row]
    rows: list[int] = []
    start = 0
    while start < len(word):
        if len(rows) == len(word) // PIECE_CHARS:
            return []
        before = CONTINUED if start else ""
        for end in range(len(word), start, -1):
            row = known.get(before + word[start:end])
            if row is not None:
                break
        else:
            return []
        rows.append(row)
        start = end
    return rows


@dataclass(frozen=True)
class StaticTable:
    """An Encoder. `codes` × `scales` are the vectors of `terms`, one row each."""

    name: str
    version: str
    terms: tuple[str, ...]
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]

    @property
    def dim(self) -> int:
        return int(self.codes.shape[1])

    @cached_property
    def known(self) -> Mapping[str, int]:
        return {term: row for row, term in enumerate(self.terms)}

    @cached_property
    def _rows(self) -> Callable[[str], list[int]]:
        """Return the rows of a word. Words return often, and a rare one is searched for piece by piece."""
        return lru_cache(maxsize=20_000)(lambda word: pieces(word, self.known))

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for number, text in enumerate(texts):
            rows = [row for word in words(text) for row in self._rows(word)]
            if rows:
                # einsum adds in this thread; a matrix product could start others.
                vectors[number] = np.einsum("i,ij->j", self.scales[rows], self.codes[rows], dtype=np.float32)
        return normalised(vectors)


def to_bytes(table: StaticTable) -> bytes:
    """Return the file of a table. The number of dimensions must be even."""
    header = {"name": table.name, "version": table.version, "dim": table.dim, "rows": len(table.terms)}
    terms = zlib.compress("\n".join(table.terms).encode(), 9)
    low, high = table.codes[:, ::2] + _LEVELS, table.codes[:, 1::2] + _LEVELS
    packed = (low | high << 4).astype(np.uint8).tobytes()
    head = json.dumps({**header, "terms": len(terms)}, sort_keys=True).encode() + b"\n"
    body = MAGIC + head + terms + table.scales.astype("<f4").tobytes() + packed
    return body + hashlib.sha256(body).digest()


def from_bytes(data: bytes) -> StaticTable:
    """Return the table of a file, or raise Damaged."""
    if not data.startswith(MAGIC) or len(data) > MOST_BYTES:
        raise Damaged("It is not a table of this version.")
    body = data[:-_DIGEST]
    if hashlib.sha256(body).digest() != data[-_DIGEST:]:
        raise Damaged("Its checksum is wrong.")
    head, _, rest = body[len(MAGIC) :].partition(b"\n")
    try:
        header = json.loads(head)
        rows, dim, size = (int(header[key]) for key in ("rows", "dim", "terms"))
        terms = _terms(rest[:size])
        name, version = str(header["name"]), str(header["version"])
    except (ValueError, TypeError, KeyError, zlib.error) as error:
        raise Damaged("Its header cannot be read.") from error
    if dim < 2 or dim % 2 or len(terms) != rows or len(rest) != size + 4 * rows + rows * dim // 2:
        raise Damaged("Its parts do not fit together.")
    scales = np.frombuffer(rest, "<f4", rows, size).astype(np.float32)
    packed = np.frombuffer(rest, np.uint8, offset=size + 4 * rows).reshape(rows, dim // 2)
    codes = np.empty((rows, dim), np.int8)
    codes[:, ::2] = (packed & 15).astype(np.int8) - _LEVELS
    codes[:, 1::2] = (packed >> 4).astype(np.int8) - _LEVELS
    return StaticTable(name, version, terms, codes, scales)


def _terms(compressed: bytes) -> tuple[str, ...]:
    reader = zlib.decompressobj()
    text = reader.decompress(compressed, MOST_BYTES)
    if not reader.eof:
        raise ValueError("The terms are not complete, or too long.")
    return tuple(text.decode().split("\n"))
