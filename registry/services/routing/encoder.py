"""The encoder of this process. It is loaded when a question is first routed, and kept."""

import logging
import threading
from pathlib import Path

from django.conf import settings

from registry.core.routing import static_table
from registry.core.routing.vectors import Encoder

TABLE = Path(settings.BASE_DIR) / "registry" / "vectors" / "words.bin"
SWITCHED_OFF = "Embeddings are switched off by ROUTING_EMBEDDINGS."
MISSING = "The table of word vectors is missing. Install the site again."
DAMAGED = "The table of word vectors is damaged. Install the site again."

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_loaded: dict[Path, tuple[Encoder | None, str]] = {}


def current() -> Encoder | None:
    """Return the encoder, or None if it is switched off, missing or damaged. `unavailable` has the reason."""
    return _state()[0]


def unavailable() -> str:
    """Return in a sentence why there is no encoder; empty if there is one."""
    return _state()[1]


def _state() -> tuple[Encoder | None, str]:
    if not settings.ROUTING_EMBEDDINGS:
        return None, SWITCHED_OFF
    found = _loaded.get(TABLE)
    if found is None:
        with _lock:
            found = _loaded.get(TABLE) or _load(TABLE)
            _loaded[TABLE] = found
    return found


def _load(path: Path) -> tuple[Encoder | None, str]:
    try:
        return static_table.from_bytes(path.read_bytes()), ""
    except FileNotFoundError:
        reason = MISSING
    except (OSError, static_table.Damaged) as error:
        reason = DAMAGED
        _log.warning("%s cannot be read: %s", path, error)
    return None, reason
