"""Answers of the site kept on this machine under their ETag, for the next question and for when there is no network."""

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path

from registry.lib import files

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kept:
    etag: str
    body: bytes


class Answers:
    """One file for each question. A caller with another token asks other questions, so that none sees another's."""

    def __init__(self, root: Path, *, origin: str, token: str) -> None:
        self._root = root / "answers"
        self._caller = f"{origin}\n{hashlib.sha256(token.encode()).hexdigest()}"

    def get(self, question: str) -> Kept | None:
        """None where there is no answer, or where the file does not hold what was written to it."""
        try:
            head, _, body = self._path(question).read_bytes().partition(b"\n")
            said = json.loads(head)
            whole = said["sha256"] == hashlib.sha256(body).hexdigest()
            return Kept(str(said["etag"]), body) if whole else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, question: str, kept: Kept) -> None:
        """A cache that cannot be written costs time, and no answer."""
        head = {"etag": kept.etag, "sha256": hashlib.sha256(kept.body).hexdigest()}
        target = self._path(question)
        try:
            files.make_directories(target.parent)
            content = json.dumps(head).encode() + b"\n" + kept.body
            files.write_atomically(target, content, mode=files.PRIVATE_FILE, durable=False)
        except OSError as error:
            log.warning("The answer cannot be kept in %s: %s", self._root, error.strerror or error)

    def _path(self, question: str) -> Path:
        key = hashlib.sha256(f"{self._caller}\n{question}".encode()).hexdigest()
        return self._root / key[:2] / key[2:]
