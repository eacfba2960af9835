"""Skills and an encoder for tests of routing."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from registry.core.routing import analysis, skill_text
from registry.core.routing.analysis import Analysed
from registry.core.routing.vectors import Encoder, Vectors, normalised


class Hashed:
    """An encoder whose vectors follow from the words of a text."""

    name, version = "hashed", "1"

    def __init__(self, dim: int = 16) -> None:
        self.dim = dim

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = [sum(map(self._vector, text.lower().split()), np.zeros(self.dim)) for text in texts]
        return normalised(np.array(rows, np.float32))

    def _vector(self, word: str) -> NDArray[np.float64]:
        return np.frombuffer(hashlib.shake_256(word.encode()).digest(self.dim), np.int8).astype(np.float64)


def skill(name: str, words: Sequence[str], encoder: Encoder | None = None) -> Analysed:
    third = max(1, len(words) // 3)
    description, body = " ".join(words[:third]), " ".join(words[third:])
    text = skill_text.of_parts(name, "", description, f"# {name}\n\n{body}", triggers=words[-1:])
    return analysis.analyse(text, encoder)
