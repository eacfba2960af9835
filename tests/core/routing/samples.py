"""Skills and an encoder for tests of routing."""

import hashlib
from collections.abc import Sequence

import numpy as np

from registry.core.routing import analysis, skill_text
from registry.core.routing.analysis import Analysed
from registry.core.routing.vectors import Encoder, Vectors, normalised


class Hashed:
    """An encoder whose vectors follow from the words of a text."""

    name, version, dim = "hashed", "1", 16

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = [sum((_vector(word) for word in text.lower().split()), np.zeros(self.dim)) for text in texts]
        return normalised(np.array(rows, np.float32))


def _vector(word: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.frombuffer(hashlib.sha256(word.encode()).digest()[:16], np.int8).astype(np.float64)


def skill(name: str, words: Sequence[str], encoder: Encoder | None = None) -> Analysed:
    third = max(1, len(words) // 3)
    description, body = " ".join(words[:third]), " ".join(words[third:])
    text = skill_text.of_parts(name, "", description, f"# {name}\n\n{body}", triggers=words[-1:])
    return analysis.analyse(text, encoder)
