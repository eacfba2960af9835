"""A cache of HTTP responses with their ETags, for conditional requests and for offline use."""

import hashlib
import hmac
import json
import logging
from dataclasses import dataclass
from pathlib import Path

from registry.client import strict_json
from registry.lib import files

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CachedResponse:
    etag: str
    body: bytes


class HttpCache:
    """One file per request. The key includes the token, so that callers with different tokens share nothing.

    Each file is authenticated with the token. The directory may be shared, and others must not be able to change what
    this caller reads.
    """

    def __init__(self, root: Path, *, origin: str, token: str) -> None:
        self._root = root / "answers"
        self._secret = token.encode()
        self._caller = f"{origin}\n{hashlib.sha256(token.encode()).hexdigest()}"

    def get(self, request: str) -> CachedResponse | None:
        """Return the cached response, or None if there is none or the file is damaged."""
        try:
            head, _, body = self._path(request).read_bytes().partition(b"\n")
            metadata = strict_json.parse(head)
            response = CachedResponse(metadata["etag"], body)
            return response if hmac.compare_digest(metadata["hmac"], self._sign(request, response)) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, request: str, response: CachedResponse) -> None:
        """Store a response. A cache that cannot be written is logged and otherwise ignored."""
        head = {"etag": response.etag, "hmac": self._sign(request, response)}
        target = self._path(request)
        try:
            files.make_directories(target.parent)
            content = json.dumps(head).encode() + b"\n" + response.body
            files.write_atomically(target, content, mode=files.PRIVATE_FILE, durable=False)
        except OSError as error:
            log.warning("Could not cache a response in %s: %s", self._root, error.strerror or error)

    def _sign(self, request: str, response: CachedResponse) -> str:
        message = f"{self._caller}\n{request}\n{response.etag}\n".encode() + response.body
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()

    def _path(self, request: str) -> Path:
        key = hashlib.sha256(f"{self._caller}\n{request}".encode()).hexdigest()
        return self._root / key[:2] / key[2:]
