"""A cache of HTTP responses with their ETags, for conditional requests and for offline use."""

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path

from registry.lib import files

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CachedResponse:
    etag: str
    body: bytes


class HttpCache:
    """One file per request. The key includes the token, so that callers with different tokens share nothing."""

    def __init__(self, root: Path, *, origin: str, token: str) -> None:
        self._root = root / "answers"
        self._caller = f"{origin}\n{hashlib.sha256(token.encode()).hexdigest()}"

    def get(self, request: str) -> CachedResponse | None:
        """Return the cached response, or None if there is none or the file is damaged."""
        try:
            head, _, body = self._path(request).read_bytes().partition(b"\n")
            metadata = json.loads(head)
            intact = metadata["sha256"] == hashlib.sha256(body).hexdigest()
            return CachedResponse(str(metadata["etag"]), body) if intact else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, request: str, response: CachedResponse) -> None:
        """Store a response. A cache that cannot be written is logged and otherwise ignored."""
        head = {"etag": response.etag, "sha256": hashlib.sha256(response.body).hexdigest()}
        target = self._path(request)
        try:
            files.make_directories(target.parent)
            content = json.dumps(head).encode() + b"\n" + response.body
            files.write_atomically(target, content, mode=files.PRIVATE_FILE, durable=False)
        except OSError as error:
            log.warning("Could not cache a response in %s: %s", self._root, error.strerror or error)

    def _path(self, request: str) -> Path:
        key = hashlib.sha256(f"{self._caller}\n{request}".encode()).hexdigest()
        return self._root / key[:2] / key[2:]
