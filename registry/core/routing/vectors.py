"""Vectors of texts: what an encoder is, and what every encoder keeps to."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

TEXT_CHARS = 4_000  # of a text that an encoder reads; the rest changes the direction of a mean very little


class Encoder(Protocol):
    """Turns texts into vectors, so that texts of like meaning have vectors of like direction.

    A vector of one `name` and `version` is never compared with one of another. `encode` is safe to call from several
    threads at once, uses one of them for its arithmetic, and reads TEXT_CHARS of each text.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, of length 1. The row of a text without a known word is zero."""
        ...


def normalised(rows: Vectors) -> Vectors:
    """Return rows of length 1. A row that is zero or not finite becomes zero."""
    rows = rows.astype(np.float32)
    if not np.isfinite(rows).all():
        rows = np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    unit: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-12)
    return unit
