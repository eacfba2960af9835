"""The table of word vectors: its tokenizer, its file, and the vectors of texts."""

import hashlib
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.routing import static_table
from registry.core.routing.static_table import CONTINUED, MAGIC, WORD_CHARS, WORDS, Damaged, StaticTable
from registry.core.routing.vectors import TEXT_CHARS, normalised

TERMS = ("pod", "restart", "angry", "a", f"{CONTINUED}ing", f"{CONTINUED}a", f"{CONTINUED}pod")
CODES = np.array(
    [[7, 0, 0, 0], [0, 7, 0, 0], [0, 0, 7, -7], [0, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 7, 0]], np.int8
)
TABLE = StaticTable("test", "3", TERMS, CODES, np.linspace(0.1, 0.7, 7, dtype=np.float32))


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def test_words_are_lower_case_and_without_accents() -> None:
    assert list(static_table.words("Größe: RÉSUMÉ_v2, naïve—test's")) == ["große", "resume", "v2", "naive", "test", "s"]


def test_a_chinese_character_is_a_word() -> None:
    assert list(static_table.words("pod 重启 now")) == ["pod", "重", "启", "now"]


def test_words_are_bounded() -> None:
    assert list(static_table.words("x" * (WORD_CHARS + 1) + " pod")) == ["pod"]
    assert len(list(static_table.words("a " * TEXT_CHARS))) == WORDS
    assert list(static_table.words(" " * TEXT_CHARS + "pod")) == []


@pytest.mark.parametrize(
    ("word", "rows"),
    [
        ("pod", [0]),
        ("restarting", [1, 4]),
        ("angrypod", [2, 6]),
        ("podpod", [0, 6]),
        ("poda", [0, 5]),
        ("apoda", []),  # pieces of less than two characters on average
        ("aa", []),
        ("a" * WORD_CHARS, []),
        ("podx", []),  # the rest is unknown
        ("xpod", []),
        ("ing", []),  # does not start a word
        ("", []),
    ],
)
def test_a_word_is_split_into_known_pieces(word: str, rows: list[int]) -> None:
    assert static_table.pieces(word, TABLE.known) == rows


def test_texts_without_known_words_have_a_zero_row() -> None:
    vectors = TABLE.encode(["", "unknown words", "\0", "🙂", "pod"])
    assert vectors.shape == (5, 4)
    assert vectors.dtype == np.float32
    assert not vectors[:4].any()
    assert vectors[4].tolist() == [1, 0, 0, 0]


def test_no_text_is_no_row() -> None:
    assert TABLE.encode([]).shape == (0, 4)


@given(st.lists(st.text(alphabet="pod restart angry ing\0🙂\u202eé", max_size=60), max_size=6))
def test_rows_have_length_one_and_do_not_depend_on_other_texts(texts: list[str]) -> None:
    vectors = TABLE.encode(texts)
    lengths = np.linalg.norm(vectors, axis=1)
    assert all(abs(length - 1) < 1e-5 or length == 0 for length in lengths)
    assert all(np.array_equal(TABLE.encode([text])[0], row) for text, row in zip(texts, vectors, strict=True))


@given(st.text(max_size=200))
def test_every_text_has_a_finite_vector(text: str) -> None:
    assert np.isfinite(TABLE.encode([text])).all()


def test_a_long_text_is_read_to_its_limit() -> None:
    assert np.array_equal(TABLE.encode(["pod " * 10_000 + "angry"]), TABLE.encode(["pod"]))


def test_normalised_rows_replace_what_is_not_a_number() -> None:
    rows = np.array([[np.nan, 3, 4], [np.inf, 0, 0], [0, 0, 0], [0, 3e30, 4e30]], np.float32)
    expected = np.array([[0, 0.6, 0.8], [0, 0, 0], [0, 0, 0], [0, 0.6, 0.8]])
    assert np.allclose(normalised(rows), expected)


def test_a_table_survives_its_file() -> None:
    read = static_table.from_bytes(static_table.to_bytes(TABLE))
    assert (read.name, read.version, read.terms, read.dim) == ("test", "3", TERMS, 4)
    assert np.array_equal(read.codes, CODES)
    assert np.array_equal(read.scales, TABLE.scales)


@given(st.data())
def test_a_changed_byte_is_noticed(data: st.DataObject) -> None:
    content = bytearray(static_table.to_bytes(TABLE))
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Damaged):
        static_table.from_bytes(bytes(content))


def header(**changes: object) -> bytes:
    values = {"name": "n", "version": "1", "dim": 2, "rows": 1, "terms": len(zlib.compress(b"pod"))}
    return json.dumps({**values, **changes}).encode() + b"\n"


GOOD = zlib.compress(b"pod") + np.float32(1).tobytes() + b"\x77"


def test_the_smallest_table() -> None:
    assert static_table.from_bytes(sealed(MAGIC + header() + GOOD)).terms == ("pod",)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        MAGIC,
        MAGIC + b"\n",
        MAGIC + b"[]\n" + GOOD,
        MAGIC + b"{}\n" + GOOD,
        MAGIC + header(rows=2) + GOOD,
        MAGIC + header(rows=-1) + GOOD,
        MAGIC + header(dim=4) + GOOD,
        MAGIC + header(dim=3) + GOOD,
        MAGIC + header(dim=0) + GOOD,
        MAGIC + header(terms=2) + GOOD,
        MAGIC + header(terms="x") + GOOD,
        MAGIC + header() + GOOD + b"x",
        MAGIC + header() + b"x" * len(GOOD),
        MAGIC.replace(b"1", b"2") + header() + GOOD,
    ],
)
def test_a_file_with_other_parts_is_damaged(body: bytes) -> None:
    with pytest.raises(Damaged):
        static_table.from_bytes(sealed(body))


def test_terms_that_expand_too_far_are_damaged() -> None:
    terms = zlib.compress(b"a" * 17_000_000)
    with pytest.raises(Damaged):
        static_table.from_bytes(sealed(MAGIC + header(terms=len(terms)) + terms + GOOD[-5:]))
