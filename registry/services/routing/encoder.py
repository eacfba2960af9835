"""The encoder of this process. It is loaded when a question is first routed, and kept."""

import importlib
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from registry.core.routing.vectors import TEXT_CHARS, Encoder, Vectors, normalised

SWITCHED_OFF = "Embeddings are switched off by ROUTING_EMBEDDINGS."
NOT_INSTALLED = "The package wordllama is not installed."

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_loaded: tuple[Encoder | None, str] | None = None


def current() -> Encoder | None:
    """Return the encoder, or None if it is switched off, missing or damaged. `unavailable` has the reason."""
    return _state()[0]


def unavailable() -> str:
    """Return in a sentence why there is no encoder; empty if there is one."""
    return _state()[1]


def forget() -> None:
    """Load the encoder anew when it is next needed."""
    global _loaded
    with _lock:
        _loaded = None


def _state() -> tuple[Encoder | None, str]:
    global _loaded
    if not settings.ROUTING_EMBEDDINGS:
        return None, SWITCHED_OFF
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def _load() -> tuple[Encoder | None, str]:
    try:
        return _WordLlama(), ""
    except ImportError:
        return None, NOT_INSTALLED
    except Exception as error:
        _log.warning("The encoder cannot be loaded: %s", error)
        return None, "The data of the encoder cannot be read. Install it again."


class _WordLlama:
    """The encoder of the package wordllama. Its data is in the package; nothing is downloaded."""

    name = "wordllama"

    def __init__(self) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        package = importlib.import_module("wordllama")
        directory = Path(str(package.__file__)).parent
        self._model: Any = package.WordLlama.load(cache_dir=directory, disable_download=True)
        self.version = f"{package.__version__}/256"
        self.dim = 256

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows: Vectors = self._model.embed([text[:TEXT_CHARS] for text in texts], norm=False)
        return normalised(rows)
